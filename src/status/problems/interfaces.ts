import type { ApplianceDocument, ClusterDocument, Problem } from "../schema.ts";
import { groupName } from "../words.ts";

type Interface = NonNullable<ApplianceDocument["interfaces"]>[number];

/** Interfaces that report a state which is neither MASTER nor BACKUP; critical where no other appliance can take over. */
export function interfaceProblems({ name: cluster, appliances }: ClusterDocument): readonly Problem[] {
  const severity = appliances.length === 1 ? "critical" : "warning";
  return appliances.flatMap(({ name: appliance, interfaces = [] }) =>
    [...byGroup(interfaces.filter(isOdd))].map(([group, odd]) => {
      const states = odd.map(({ state, name }) => `${state} on ${name}`).join(", ");
      const [{ vhid, vip, firstSeenAt, lastTransitionAt }] = odd;
      const times = lastTransitionAt === undefined ? firstSeen(firstSeenAt) : { since: lastTransitionAt };
      const summary = `${appliance} reports ${states} for ${group}`;
      return { kind: "odd_state", severity, summary, cluster, appliance, group: { vhid, vip }, ...times };
    }),
  );
}

/** It may have been so before. */
function firstSeen(since: string | undefined): Pick<Problem, "since" | "isSinceAtLeast"> {
  return { since, isSinceAtLeast: since === undefined ? undefined : true };
}

function isOdd({ state }: Interface): boolean {
  return state !== "MASTER" && state !== "BACKUP";
}

function byGroup(
  interfaces: readonly Interface[],
): ReadonlyMap<string, readonly [Interface, ...Interface[]]> {
  const groups = new Map<string, readonly [Interface, ...Interface[]]>();
  for (const one of interfaces) {
    const key = groupName(one);
    const others = groups.get(key);
    groups.set(key, others === undefined ? [one] : [...others, one]);
  }
  return groups;
}
