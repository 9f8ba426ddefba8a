import type { ClusterDocument, GroupDocument, Problem } from "../schema.ts";
import { groupName, listed } from "../words.ts";

/** What is wrong with a cluster's VRRP groups; one thing for each group, and one for all whose master is not known. */
export function groupProblems(cluster: ClusterDocument): readonly Problem[] {
  const pending = new Set(cluster.appliances.filter(isPending).map(({ name }) => name));
  const unknown = cluster.groups.filter(
    (group) => isMasterUnknown(group) && named(group, "unknown").some((name) => !pending.has(name)),
  );
  const told = cluster.groups.flatMap((group) => {
    const found = wrongWith(group);
    if (found === undefined) return [];
    const { vhid, vip, since, isSinceAtLeast } = group;
    return [{ since, isSinceAtLeast, ...found, cluster: cluster.name, group: { vhid, vip } }];
  });
  return [...told, ...mastersUnknown(cluster.name, unknown)];
}

/** Of an appliance that was not polled yet that is told, and nothing that follows from it. */
function isPending({ poll }: ClusterDocument["appliances"][number]): boolean {
  return poll.state === "pending";
}

function isMasterUnknown(group: GroupDocument): boolean {
  return group.state === "unknown" && named(group, "master").length === 0;
}

/** So many groups are named. */
const NAMED = 2;

function mastersUnknown(cluster: string, groups: readonly GroupDocument[]): readonly Problem[] {
  const [first] = groups.toSorted((a, b) => ((a.since ?? "") < (b.since ?? "") ? -1 : 1));
  if (first === undefined) return [];
  const names = groups.slice(0, groups.length > NAMED + 1 ? NAMED : groups.length).map(groupName);
  const others = groups.length - names.length;
  const which = listed(others === 0 ? names : [...names, `${others} other groups`]);
  const who = listed([...new Set(groups.flatMap((group) => named(group, "unknown")))]);
  const { since, isSinceAtLeast } = first;
  const group = groups.length === 1 ? { vhid: first.vhid, vip: first.vip } : undefined;
  const summary = `Nobody is known to be MASTER of ${which}: nothing is known of ${who}`;
  return [{ kind: "master_unknown", severity: "critical", summary, cluster, group, since, isSinceAtLeast }];
}

type Role = GroupDocument["members"][number]["role"];

function named({ members }: GroupDocument, role: Role): readonly string[] {
  return members.filter((member) => member.role === role).map(({ appliance }) => appliance);
}

type Found = Pick<Problem, "kind" | "severity" | "summary" | "since" | "isSinceAtLeast">;

/** `since` where it is another than that of the group's state. */
function wrongWith(group: GroupDocument): Found | undefined {
  const name = groupName(group);
  switch (group.state) {
    case "split_brain": {
      const summary = `Split brain: ${listed(named(group, "master"))} are MASTER of ${name}${asFarAsKnown(group)}`;
      return { kind: "split_brain", severity: "critical", summary };
    }
    case "no_master": {
      const summary = `Nobody is MASTER of ${name}`;
      return { kind: "no_master", severity: "critical", summary };
    }
    case "unknown":
      return isMasterUnknown(group) ? undefined : maybeSplit(group);
    case "one_master":
      return wrongBesideMaster(group, named(group, "master")[0] ?? "");
    case "changing": {
      const summary = `Who is MASTER of ${name} is changing: ${notHeard(group.notHeardSince ?? [])} since`;
      return { kind: "master_changing", severity: "unknown", summary };
    }
    default:
      return group.state satisfies never;
  }
}

function asFarAsKnown({ notHeardSince = [] }: GroupDocument): string {
  return notHeardSince.length === 0
    ? ""
    : `, by the latest answers; ${notHeard(notHeardSince)} since the last change`;
}

function notHeard(members: readonly string[]): string {
  return `${listed(members)} ${members.length > 1 ? "were" : "was"} not heard`;
}

function maybeSplit(group: GroupDocument): Found {
  const [masters, unknown] = [listed(named(group, "master")), listed(named(group, "unknown"))];
  const summary = `Split brain of ${groupName(group)} may go on: ${masters} is MASTER, and nothing is known of ${unknown}`;
  return { kind: "master_unknown", severity: "critical", summary };
}

/** With members that are unknown, their appliances are what is wrong. */
function wrongBesideMaster(group: GroupDocument, master: string): Found | undefined {
  if (named(group, "unknown").length > 0) return undefined;
  if (named(group, "backup").length === 0) {
    const summary = `No redundancy: ${master} is MASTER of ${groupName(group)}, and nobody is BACKUP`;
    const { aloneSince: since, isAloneSinceAtLeast: isSinceAtLeast } = group;
    return { kind: "redundancy_lost", severity: "warning", summary, since, isSinceAtLeast };
  }
  if (group.isPreferredMaster !== false) return undefined;
  const summary = `${master} is MASTER of ${groupName(group)}, and is not the preferred member`;
  return { kind: "preferred_master_lost", severity: "warning", summary };
}
