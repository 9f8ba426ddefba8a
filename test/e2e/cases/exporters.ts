import { EXPORTER_PLANS, EXPORTER_PORT } from "../lab/fleet.ts";
import { failoverTo, OURS, type Case } from "./case.ts";
import { websiteAlert } from "./websites.ts";

const restart: Case = {
  name: "an exporter that restarts in the middle of an outage resolves nothing, repeats nothing, and misses no failover",
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
    await outage.tells(down, unknown);
    await third.stop();
    const failover = await happens("failover while it restarts", async () => {
      await preferred.keepalived.shiftPriority(-100);
      await third.start();
    });
    await failover.tells(failoverTo(cluster, other.name));
    const back = await happens("failover back after the restart", () =>
      preferred.keepalived.shiftPriority(0),
    );
    await back.tells(failoverTo(cluster, preferred.name));
    const end = await happens("outage over after the restart", () =>
      Promise.all([shop.start(), slow.thaw()]),
    );
    await end.resolves(down, unknown);
  },
};

const isolated: Case = {
  name: "one of two exporters, isolated, is a ticket and nothing else",
  owns: ({ alertname = "" }) => alertname.startsWith("ApplianceExporter"),
  play: async ({ happens }, lab) => {
    const twin = lab.exporter("twin");
    const plan = EXPORTER_PLANS.find(({ name }) => name === "twin");
    const alert = {
      alertname: "ApplianceExporterIsolated",
      ...OURS,
      severity: "warning",
      job: "appliance-exporter",
      instance: `${plan?.scrapeAddress}:${EXPORTER_PORT}`,
    };
    const cut = await happens("one of two exporters isolated", twin.fleetLink.unplug);
    await cut.tells(alert);
    const connected = await happens("that exporter connected again", twin.fleetLink.plug);
    await connected.resolves(alert);
  },
};

export const EXPORTER_CASES: readonly Case[] = [restart, isolated];
