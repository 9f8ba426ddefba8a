import { membersIn, type GroupSnapshot } from "../../fleet/snapshot.ts";

export const GROUP_STATES = [
  "one_master",
  "backup_unknown",
  "no_backup",
  "split_brain",
  "no_master",
  "unknown",
  "changing",
] as const;
export type GroupState = (typeof GROUP_STATES)[number];

export interface GroupContext {
  /** Whether an appliance of the cluster is disabled: it may be master or backup of any group. */
  readonly hasDisabled: boolean;
  /** Monotonic. */
  readonly nowMs: number;
}

/** A master that falls silent during a split brain may still be MASTER; for this long it counts so. */
const SPLIT_LASTS_MS = 120_000;

/**
 * The state of a VRRP group; `undefined` where a disabled appliance may be its master.
 *
 * - `split_brain`: two members were MASTER at the same time.
 * - `no_master`: all members are known and none is MASTER.
 * - `changing`: two masters or none, but a member was polled before the latest change was known.
 * - `unknown`: no known master and an unknown member, or one of the masters of a split brain is silent for less than two
 *   minutes.
 * - `no_backup`: one master, all others known, none BACKUP.
 * - `backup_unknown`: one master, no known BACKUP, an unknown member.
 * - `one_master`: any other group with one known master.
 */
export function judgeGroup(
  group: GroupSnapshot,
  { hasDisabled, nowMs }: GroupContext,
): GroupState | undefined {
  const masters = membersIn(group, "master");
  const hasUnknown = membersIn(group, "unknown").length > 0;
  const atOnce = masters.filter((name) => group.mastersAtOnce.includes(name));
  if (masters.length > 1) return atOnce.length > 1 ? "split_brain" : "changing";
  if (masters.length === 1) {
    if (atOnce.length === 1 && isSplitPartnerSilent(group, nowMs)) return "unknown";
    if (hasDisabled || membersIn(group, "backup").length > 0) return "one_master";
    return hasUnknown ? "backup_unknown" : "no_backup";
  }
  if (hasDisabled) return undefined;
  if (hasUnknown) return "unknown";
  return group.notPolledSince.length === 0 ? "no_master" : "changing";
}

function isSplitPartnerSilent({ members, mastersAtOnce }: GroupSnapshot, nowMs: number): boolean {
  return members.some(
    ({ role, appliance, silentSinceMs = nowMs }) =>
      role === "unknown" && mastersAtOnce.includes(appliance) && nowMs - silentSinceMs < SPLIT_LASTS_MS,
  );
}

/** The one known master of a group in that state; `undefined` where there is none, or it may not be the only one. */
export function masterIn(group: GroupSnapshot, state: GroupState | undefined): string | undefined {
  const [master, ...others] = membersIn(group, "master");
  return others.length > 0 || state === "unknown" ? undefined : master;
}
