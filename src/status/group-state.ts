import { membersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import type { GroupDocument } from "./schema.ts";

export type GroupState = GroupDocument["state"];

/**
 * The state of a group; `splitBetween`: who were MASTER when that was last known, if they were several. Two masters, or
 * none, are reported only once the members' answers fit together: between the answers of two members a clean failover
 * looks like either. A split brain is not over because one of its masters cannot be seen any more.
 */
export function groupState(group: GroupSnapshot, splitBetween: readonly string[]): GroupState {
  const masters = membersIn(group, "master");
  const unknown = membersIn(group, "unknown");
  if (masters.length === 1) {
    return unknown.some((name) => splitBetween.includes(name)) ? "unknown" : "one_master";
  }
  if (masters.length === 0 && unknown.length > 0) return "unknown";
  if (!group.isSettled) return "changing";
  return masters.length === 0 ? "no_master" : "split_brain";
}
