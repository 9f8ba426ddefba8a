import type { ApplianceConfig } from "../../src/config/config.ts";
import { createFleet, type Fleet } from "../../src/fleet/fleet.ts";
import type { MemberRole } from "../../src/fleet/course.ts";
import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type GroupSnapshot,
} from "../../src/fleet/snapshot.ts";
import type { Observation } from "../../src/polling/observation.ts";
import { applianceOf, configOf } from "../support/observations.ts";

/** The cluster `ams` of two appliances, `a` and `b`. */
export const MEMBER_A = applianceOf({ name: "a", cluster: "ams" });
export const MEMBER_B = applianceOf({ name: "b", cluster: "ams" });
export const MEMBER_C = applianceOf({ name: "c", cluster: "ams" });

/** A fleet of these appliances that has recorded the observations, all at the monotonic instant 0. */
export function fleetOf(
  appliances: readonly ApplianceConfig[],
  observations: readonly Observation[] = [],
): Fleet {
  const fleet = createFleet();
  fleet.configure(configOf(...appliances), 0);
  for (const observation of observations) fleet.record(observation, 0);
  return fleet;
}

/** All clusters at the monotonic instant `nowMs`. */
export function clustersOf(fleet: Fleet, nowMs = 0): readonly ClusterSnapshot[] {
  return fleet.clusters().flatMap((name) => fleet.cluster(name, nowMs) ?? []);
}

/** All appliances at the monotonic instant `nowMs`. */
export function appliancesOf(fleet: Fleet, nowMs = 0): readonly ApplianceSnapshot[] {
  return clustersOf(fleet, nowMs).flatMap(({ appliances }) => appliances);
}

/** The groups of the first cluster, each in one line. */
export function groupLines(fleet: Fleet, nowMs = 0): readonly string[] {
  return (clustersOf(fleet, nowMs)[0]?.groups ?? []).map(groupLine);
}

function groupLine(group: GroupSnapshot): string {
  const { vhid, vip, isPreferredMaster } = group;
  const preferred = isPreferredMaster === undefined ? "-" : String(isPreferredMaster);
  const named = (role: MemberRole): string => names(membersIn(group, role));
  const members = `masters ${named("master")}, backups ${named("backup")}, unknown ${named("unknown")}`;
  return `${vhid} ${vip}: ${members}, preferred ${preferred}`;
}

function names(members: readonly string[]): string {
  return members.length === 0 ? "-" : members.join("+");
}
