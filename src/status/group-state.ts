import { membersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import type { GroupDocument } from "./schema.ts";

export type GroupState = GroupDocument["state"];

/**
 * What is the matter with a group. Two masters, or none, are told only once the members' answers fit together, or have
 * had the time to: between the answers of two members a clean failover looks like either.
 */
export function groupState(group: GroupSnapshot): GroupState {
  const masters = membersIn(group, "master").length;
  if (masters === 1) return "one_master";
  if (masters === 0 && membersIn(group, "unknown").length > 0) return "unknown";
  if (!group.isSettled) return "changing";
  return masters === 0 ? "no_master" : "split_brain";
}
