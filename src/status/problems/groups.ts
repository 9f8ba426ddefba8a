import type { ClusterDocument, GroupDocument, Problem } from "../schema.ts";
import { groupName, listed } from "../words.ts";

/** What is wrong with a cluster's VRRP groups; one thing for each group. */
export function groupProblems(cluster: ClusterDocument): readonly Problem[] {
  return cluster.groups.flatMap((group) => {
    const found = wrongWith(group);
    if (found === undefined) return [];
    const { vhid, vip, since, isSinceAtLeast } = group;
    return [{ ...found, cluster: cluster.name, group: { vhid, vip }, since, isSinceAtLeast }];
  });
}

function wrongWith(group: GroupDocument): Pick<Problem, "kind" | "severity" | "summary"> | undefined {
  const named = (role: GroupDocument["members"][number]["role"]): readonly string[] =>
    group.members.filter((member) => member.role === role).map(({ appliance }) => appliance);
  const name = groupName(group);
  switch (group.state) {
    case "split_brain": {
      const summary = `Split brain: ${listed(named("master"))} are MASTER of ${name}${asFarAsKnown(group)}`;
      return { kind: "split_brain", severity: "critical", summary };
    }
    case "no_master": {
      const summary = `Nobody is MASTER of ${name}${asFarAsKnown(group)}`;
      return { kind: "no_master", severity: "critical", summary };
    }
    case "unknown": {
      const summary = `Nobody is known to be MASTER of ${name}: nothing is known of ${listed(named("unknown"))}`;
      return { kind: "master_unknown", severity: "critical", summary };
    }
    case "one_master":
      return wrongBesideMaster(group, named("master")[0] ?? "", named);
    case "changing": {
      const summary = `Who is MASTER of ${name} is changing: ${listed(group.notHeardSince ?? [])} was not heard since`;
      return { kind: "master_changing", severity: "unknown", summary };
    }
    default:
      return group.state satisfies never;
  }
}

function asFarAsKnown({ notHeardSince = [] }: GroupDocument): string {
  return notHeardSince.length === 0
    ? ""
    : `, by the latest answers; ${listed(notHeardSince)} was not heard since the last change`;
}

/** With members that are unknown, their appliances are what is wrong. */
function wrongBesideMaster(
  group: GroupDocument,
  master: string,
  named: (role: "backup" | "unknown") => readonly string[],
): ReturnType<typeof wrongWith> {
  if (named("unknown").length > 0) return undefined;
  if (named("backup").length === 0) {
    const summary = `No redundancy: ${master} is MASTER of ${groupName(group)}, and nobody is BACKUP`;
    return { kind: "redundancy_lost", severity: "warning", summary };
  }
  if (group.isPreferredMaster !== false) return undefined;
  const summary = `${master} is MASTER of ${groupName(group)}, and is not the preferred member`;
  return { kind: "preferred_master_lost", severity: "warning", summary };
}
