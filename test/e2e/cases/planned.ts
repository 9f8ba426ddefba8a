import { setTimeout as delay } from "node:timers/promises";
import { RECIPES, TROUBLES, type ExporterName } from "../lab/fleet.ts";
import type { Lab } from "../lab/lab.ts";
import type { Cluster, Node } from "../lab/node.ts";
import type { Scene } from "../scene.ts";
import { ownsCluster, vrrpAlert, type Case } from "./case.ts";
import { websiteAlert } from "./websites.ts";

/** Longer than every alert about a reboot waits. */
const REBOOT_MS = 260_000;

function startWork(lab: Lab, { name }: Node, ...exporters: readonly ExporterName[]): Promise<unknown> {
  const start = { id: idOf(name), appliances: [name], for: "30m", comment: "firmware" };
  return Promise.all(exporters.map((each) => lab.exporter(each).plan({ start })));
}

function idOf(appliance: string): string {
  return `${appliance.replaceAll("-", "")}0`;
}

function isMaster({ name }: Cluster, appliance: Node): string {
  const group = `ha_cluster="${name}"`;
  return `vrrp_group_master{${group},appliance="${appliance.name}"} and on () vrrp_group_state{${group},state="one_master"} == 1`;
}

/** Both are MASTER for a while. */
async function split({ happens, holds }: Scene, cluster: Cluster, master: Node) {
  const links = [cluster.preferred.vrrpLink, cluster.other.vrrpLink];
  const isolate = (isolated: boolean) => Promise.all(links.map((link) => link.isolate(isolated)));
  const alert = vrrpAlert("VrrpSplitBrain", cluster);
  const parted = await happens("split brain during planned work", () => isolate(true));
  await parted.fires(alert);
  const healed = await happens("split brain during planned work healed", () => isolate(false));
  await holds(isMaster(cluster, master));
  return () => healed.resolves(alert);
}

/** Short, as all tests of alerts play it. */
export const plannedSplit: Case = {
  name: "a planned failover and the way back are no page, a split brain meanwhile is one",
  owns: ownsCluster("planned"),
  play: async (scene, lab) => {
    const cluster = lab.cluster("planned");
    const { preferred, other } = cluster;
    await startWork(lab, preferred, "main", "twin");
    await preferred.keepalived.shiftPriority(-100);
    await scene.holds(isMaster(cluster, other));
    const end = await split(scene, cluster, other);
    await preferred.keepalived.shiftPriority(0);
    await scene.holds(isMaster(cluster, preferred));
    await end();
  },
};

/** The members that a recipe reboots, one after the other. */
const REBOOTED: Readonly<Record<(typeof RECIPES)[number], (cluster: Cluster) => readonly Node[]>> = {
  spare: ({ other }) => [other],
  main: ({ preferred }) => [preferred],
  both: ({ other, preferred }) => [other, preferred],
};

/** Each recipe, with each trouble while the first member is worked on. */
export const PLANNED_CASES: readonly Case[] = RECIPES.flatMap((recipe) =>
  TROUBLES.map((trouble): Case => {
    const name = `${recipe}-${trouble}` as const;
    return {
      name: `reboot ${recipe}: ${trouble}`,
      owns: ownsCluster(name),
      play: async (scene, lab) => {
        const cluster = lab.cluster(name);
        const { preferred, other } = cluster;
        const ends: (() => Promise<void>)[] = [];
        for (const [nth, node] of REBOOTED[recipe](cluster).entries()) {
          const peer = node === preferred ? other : preferred;
          const happens = (each: typeof trouble) => nth === 0 && each === trouble;
          await startWork(lab, node, "work");
          if (node === preferred) await node.keepalived.shiftPriority(-100);
          await scene.holds(isMaster(cluster, peer));
          if (happens("split")) ends.push(await split(scene, cluster, peer));
          await node.crash();
          if (happens("site")) await loseWebsite(scene, lab, recipe);
          if (happens("death")) await losePeer(scene, cluster, peer);
          await delay(REBOOT_MS);
          await node.start();
          await scene.holds(isMaster(cluster, preferred));
          await lab.exporter("work").plan({ end: { id: idOf(node.name) } });
        }
        await Promise.all(ends.map((end) => end()));
      },
    };
  }),
);

async function loseWebsite({ happens }: Scene, lab: Lab, name: (typeof RECIPES)[number]): Promise<void> {
  const { stop, start } = lab.website(name);
  const alert = websiteAlert("WebsiteDown", name);
  const down = await happens("website lost during planned work", stop);
  await down.fires(alert);
  const up = await happens("website found again during planned work", start);
  await up.resolves(alert);
}

async function losePeer({ happens }: Scene, cluster: Cluster, peer: Node): Promise<void> {
  const alert = vrrpAlert("ClusterDark", cluster);
  const dark = await happens("the other member dies during planned work", peer.crash);
  await dark.fires(alert);
  const back = await happens("the other member is back during planned work", peer.start);
  await back.resolves(alert);
}
