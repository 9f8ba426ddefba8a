import { failoverTo, ownsCluster, vrrpAlert, type Case } from "./case.ts";
import { websiteAlert } from "./websites.ts";

export const restart: Case = {
  name: "an exporter that restarts during an outage resolves nothing, repeats nothing and misses no failover",
  owns: ({ ha_cluster: cluster }) => cluster === "outage" || cluster === "restart",
  play: async ({ happens }, lab) => {
    const [shop, slow, third] = [lab.website("shop"), lab.website("slow"), lab.exporter("third")];
    const cluster = lab.cluster("restart");
    const { preferred, other } = cluster;
    const down = websiteAlert("WebsiteDown", "shop");
    const unknown = websiteAlert("WebsiteUnknown", "slow");
    const outage = await happens("outage before the exporter restarts", () =>
      Promise.all([shop.stop(), slow.freeze()]),
    );
    await outage.fires(down, unknown);
    await third.stop();
    const failover = await happens("failover while it restarts", async () => {
      await preferred.keepalived.shiftPriority(-100);
      await third.start();
    });
    await failover.fires(failoverTo(cluster, other.name));
    const back = await happens("failover back after the restart", () =>
      preferred.keepalived.shiftPriority(0),
    );
    await back.fires(failoverTo(cluster, preferred.name));
    const end = await happens("outage over after the restart", () =>
      Promise.all([shop.start(), slow.thaw()]),
    );
    await end.resolves(down, unknown);
  },
};

const parted: Case = {
  name: "two exporters: one restarts during a failover; then the network parts, and each sees one master",
  owns: ownsCluster("parted"),
  play: async ({ happens }, lab) => {
    const cluster = lab.cluster("parted");
    const { preferred, other } = cluster;
    const [left, right] = [lab.exporter("left"), lab.exporter("right")];
    await left.stop();
    const failover = await happens("failover while one of two exporters restarts", async () => {
      await preferred.keepalived.shiftPriority(-100);
      await left.start();
    });
    await failover.fires(failoverTo(cluster, other.name));
    const back = await happens("failover back after that restart", () =>
      preferred.keepalived.shiftPriority(0),
    );
    await back.fires(failoverTo(cluster, preferred.name));
    const part = async (isOn: boolean) => {
      const ways = () =>
        Promise.all([left.block(other.fleetAddress, isOn), right.block(preferred.fleetAddress, isOn)]);
      if (isOn) await ways();
      await Promise.all([preferred, other].map(({ vrrpLink }) => vrrpLink.isolate(isOn)));
      if (!isOn) await ways();
    };
    const disputed = vrrpAlert("VrrpMastersDisputed", cluster);
    const split = await happens("network parted: each of two exporters sees one master", () => part(true));
    await split.fires(disputed);
    const joined = await happens("network joined", () => part(false));
    await joined.resolves(disputed);
  },
};

export const EXPORTER_CASES: readonly Case[] = [restart, parted];
