import { failoverTo, ownsCluster, vrrpAlert, type Case } from "./case.ts";

const cleanFailover: Case = {
  name: "a failover of 12 VIPs is one page, and so is the way back",
  owns: ownsCluster("clean"),
  play: async ({ happens }, lab) => {
    const clean = lab.cluster("clean");
    const { preferred, other } = clean;
    const failover = await happens("clean failover of 12 VIPs", () =>
      preferred.keepalived.shiftPriority(-100),
    );
    await failover.fires(failoverTo(clean, other.name));
    const back = await happens("clean failover of 12 VIPs back", () => preferred.keepalived.shiftPriority(0));
    await back.fires(failoverTo(clean, preferred.name));
  },
};

const crash: Case = {
  name: "the crash of the master is a failover and lost redundancy, its return another failover",
  owns: ownsCluster("crash"),
  play: async ({ happens }, lab) => {
    const cluster = lab.cluster("crash");
    const { preferred, other } = cluster;
    const lost = vrrpAlert("VrrpRedundancyLost", cluster);
    const crashed = await happens("crash of the master", preferred.crash);
    await crashed.fires(failoverTo(cluster, other.name), lost);
    const returned = await happens("its return and preemption", preferred.start);
    await returned.fires(failoverTo(cluster, preferred.name));
    await returned.resolves(lost);
  },
};

const splitBrain: Case = {
  name: "a split brain with both links up is one page until it is healed",
  owns: ownsCluster("split"),
  play: async ({ happens }, lab) => {
    const split = lab.cluster("split");
    const links = [split.preferred.vrrpLink, split.other.vrrpLink];
    const isolate = (isolated: boolean) => Promise.all(links.map((link) => link.isolate(isolated)));
    const alert = vrrpAlert("VrrpSplitBrain", split);
    const parted = await happens("split brain", () => isolate(true));
    await parted.fires(alert);
    const healed = await happens("split brain healed", () => isolate(false));
    await healed.resolves(alert);
  },
};

const switchedOff: Case = {
  name: "a split brain that ends because one member is switched off becomes lost redundancy",
  owns: ownsCluster("off"),
  play: async ({ happens }, lab) => {
    const cluster = lab.cluster("off");
    const { preferred, other } = cluster;
    const split = vrrpAlert("VrrpSplitBrain", cluster);
    const parted = await happens("split brain before one member is switched off", () =>
      Promise.all([preferred, other].map(({ vrrpLink }) => vrrpLink.isolate(true))),
    );
    await parted.fires(split);
    const off = await happens("one member is switched off", other.crash);
    await off.fires(vrrpAlert("VrrpRedundancyLost", cluster));
    await off.resolves(split);
  },
};

const noMaster: Case = {
  name: "a group without a master is one page until it has one",
  owns: ownsCluster("nobody"),
  play: async ({ happens }, lab) => {
    const nobody = lab.cluster("nobody");
    const { preferred, other } = nobody;
    const alert = vrrpAlert("VrrpNoMaster", nobody);
    // The backup first, that it takes nothing over; the preferred one first, that it is master alone.
    const gone = await happens("no master: both without carrier", async () => {
      await other.vrrpLink.unplug();
      await preferred.vrrpLink.unplug();
    });
    await gone.fires(alert);
    const back = await happens("carrier for both found again", async () => {
      await preferred.vrrpLink.plug();
      await other.vrrpLink.plug();
    });
    await back.resolves(alert);
  },
};

export const VRRP_CASES: readonly Case[] = [cleanFailover, crash, splitBrain, switchedOff, noMaster];
