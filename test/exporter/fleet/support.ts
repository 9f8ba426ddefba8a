import type { VrrpInterface } from "../../../src/exporter/api/vrrp.ts";
import type { FailureReason } from "../../../src/exporter/api/failure.ts";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import { createFleet, type Fleet } from "../../../src/exporter/fleet/fleet.ts";
import type { MemberRole } from "../../../src/exporter/fleet/answers.ts";
import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type GroupSnapshot,
} from "../../../src/exporter/fleet/snapshot.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import type { End } from "../../../src/exporter/polling/instants.ts";
import {
  applianceOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
} from "../../support/observations.ts";

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

/**
 * Polls in words: `a MASTER 5` began at second 5, and its result was known at once; that of `a MASTER 5 6.5` at second 6.5.
 * `a MASTER@3/90 5`: under VHID 3, with the priority 90, `a MASTER/ 5` with none. `a MASTER+BACKUP 5`: what it says of two groups. `nothing`: it lists no interface;
 * `garbled`: none that is readable; `silent` and `refuses`: it does not answer, or lets nobody in; `unresolved`: its name does not resolve. `a 503 5`: what its website 2
 * answers by https, `a 503#3 5`: its website 3; `untested`: that is not known. `a MASTER! 5`: the schedule of its list rests two seconds after that.
 */
export function pollsOf(words: string): readonly Polled[] {
  const polls = words.split(", ").map(pollOf);
  return polls.map(({ observation, atMs }, nth) => {
    const { appliance, kind } = observation;
    const alike = polls.slice(0, nth).findLast((each) => {
      return each.observation.appliance === appliance && each.observation.kind === kind;
    });
    return { observation: { ...observation, sinceMs: alike?.observation.sentAtMs }, atMs };
  });
}

interface Polled {
  readonly observation: Observation;
  readonly atMs: number;
}

function pollOf(words: string): Polled {
  const [name = "", said = "", sent, at = sent] = words.split(" ");
  const says = said.replace("!", "");
  const completedAtMs = WALL_MS + Number(at) * 1000;
  const given = {
    completedAtMs,
    sentAtMs: Number(sent) * 1000,
    ...(said === says ? LASTING : restingFrom(Number(at) + 2)),
  };
  if (says === "untested")
    return { observation: failed.website(name, 2, "timeout", given), atMs: Number(at) * 1000 };
  const [, status, id = 2] = /^(\d+)(?:#(\d+))?$/.exec(says) ?? [];
  if (status !== undefined) {
    const test = seen.website(name, Number(id), [{ protocol: "https", status: Number(status) }], given);
    return { observation: test, atMs: Number(at) * 1000 };
  }
  const unreadable = says === "garbled" ? ["carp0"] : [];
  const interfaces = unreadable.length > 0 || says === "nothing" ? [] : says.split("+").map(interfaceIn);
  const reason = FAILING[says];
  const observation =
    reason === undefined
      ? seen.vrrp(name, listOf(interfaces, { unreadable }), given)
      : failed.vrrp(name, reason, given);
  return { observation, atMs: Number(at) * 1000 };
}

const FAILING: Readonly<Record<string, FailureReason>> = {
  silent: "timeout",
  refuses: "auth",
  unresolved: "dns",
};
const LASTING = { expiresAtMs: 1e9 };

/** The end of a result whose schedule rests from a second on, until 2023-11-15 06:00 UTC. */
export function restingFrom(second: number): End {
  return { expiresAtMs: second * 1000, rest: { untilMs: Date.parse("2023-11-15T06:00Z"), stalledAtMs: 1e9 } };
}

function interfaceIn(words: string, nth: number): VrrpInterface {
  const [, state = "", vhid = 2, priority = 100] = /^([^@/]+)(?:@(\d+))?(?:\/(\d*))?$/.exec(words) ?? [];
  const place = { name: `carp${nth}`, vip: `192.0.2.${100 + nth}`, vhid: Number(vhid) };
  return interfaceOf({ state, priority: priority === "" ? undefined : Number(priority), ...place });
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
  const { vhid, vip, interface: name, isOneLink, isPreferredMaster } = group;
  const preferred = isPreferredMaster === undefined ? "-" : String(isPreferredMaster);
  const named = (role: MemberRole): string => names(membersIn(group, role));
  const members = `masters ${named("master")}, backups ${named("backup")}, unknown ${named("unknown")}`;
  const link = `${name === "" ? "" : ` ${name}`}${isOneLink ? "" : " of unknown links"}`;
  return `${vhid} ${vip}${link}: ${members}, preferred ${preferred}`;
}

function names(members: readonly string[]): string {
  return members.length === 0 ? "-" : members.join("+");
}
