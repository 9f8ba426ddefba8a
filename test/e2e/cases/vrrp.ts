import { failoverTo, ownsCluster, vrrpAlert, type Case } from "./case.ts";

/** Enough to put the preferred master behind the other. */
const SHIFT = -100;

const cleanFailover: Case = {
  name: "a clean failover wakes somebody, and the way back too",
  owns: ownsCluster("clean"),
  play: async ({ happens }, lab) => {
    const clean = lab.cluster("clean");
    const { preferred, other } = clean;
    const failover = await happens("clean failover", () => preferred.keepalived.shiftPriority(SHIFT));
    await failover.tells(failoverTo(clean, other.name));
    const back = await happens("clean failover back", () => preferred.keepalived.shiftPriority(0));
    await back.tells(failoverTo(clean, preferred.name));
  },
};

const secondFailover: Case = {
  name: "a second failover within two minutes wakes somebody again",
  owns: ownsCluster("again"),
  play: async ({ happens }, lab) => {
    const again = lab.cluster("again");
    const { preferred, other } = again;
    const first = await happens("first failover", () => preferred.keepalived.shiftPriority(SHIFT));
    await first.tells(failoverTo(again, other.name));
    const back = await happens("first failover back", () => preferred.keepalived.shiftPriority(0));
    await back.tells(failoverTo(again, preferred.name));
    const second = await happens("second failover within two minutes", () =>
      preferred.keepalived.shiftPriority(SHIFT),
    );
    await second.tells(failoverTo(again, other.name));
    const end = await happens("second failover back", () => preferred.keepalived.shiftPriority(0));
    await end.tells(failoverTo(again, preferred.name));
  },
};

const crash: Case = {
  name: "the crash of the master wakes somebody, and so does its return",
  owns: ownsCluster("crash"),
  play: async ({ happens, isFiring }, lab) => {
    const cluster = lab.cluster("crash");
    const { preferred, other } = cluster;
    const lost = vrrpAlert("VrrpRedundancyLost", cluster);
    const crashed = await happens("crash of the master", preferred.crash);
    await crashed.tells(failoverTo(cluster, other.name), lost);
    // Silenced: the alert about the lost redundancy names the appliance.
    await isFiring("ApplianceDown", "crash");
    const returned = await happens("its return and preemption", preferred.start);
    await returned.tells(failoverTo(cluster, preferred.name));
    await returned.resolves(lost);
  },
};

const lostCarrier: Case = {
  name: "a lost carrier wakes somebody",
  owns: ownsCluster("carrier"),
  play: async ({ happens }, lab) => {
    const carrier = lab.cluster("carrier");
    const { preferred, other } = carrier;
    const lost = await happens("lost carrier", preferred.vrrpLink.unplug);
    await lost.tells(failoverTo(carrier, other.name));
    const found = await happens("carrier found again", preferred.vrrpLink.plug);
    await found.tells(failoverTo(carrier, preferred.name));
  },
};

const splitBrain: Case = {
  name: "a split brain with both links up wakes somebody, until it is healed",
  owns: ownsCluster("split"),
  play: async ({ happens }, lab) => {
    const split = lab.cluster("split");
    const links = [split.preferred.vrrpLink, split.other.vrrpLink];
    const isolate = (isolated: boolean) => Promise.all(links.map((link) => link.isolate(isolated)));
    const alert = vrrpAlert("VrrpSplitBrain", split);
    const parted = await happens("split brain", () => isolate(true));
    await parted.tells(alert);
    const healed = await happens("split brain healed", () => isolate(false));
    await healed.resolves(alert);
  },
};

const noMaster: Case = {
  name: "a group without a master wakes somebody, until it has one",
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
    await gone.tells(alert);
    const back = await happens("carrier for both found again", async () => {
      await preferred.vrrpLink.plug();
      await other.vrrpLink.plug();
    });
    await back.resolves(alert);
  },
};

export const VRRP_CASES: readonly Case[] = [
  cleanFailover,
  secondFailover,
  crash,
  lostCarrier,
  splitBrain,
  noMaster,
];
