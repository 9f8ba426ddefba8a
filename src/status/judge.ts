import { meaningOf } from "../client/failure.ts";
import { membersIn, type ClusterSnapshot, type GroupSnapshot, type PollHealth } from "../fleet/snapshot.ts";
import { isSame, kept, once } from "../support/kept.ts";
import type { ApplianceState, ClusterState, GroupState } from "./states.ts";
import {
  type ApplianceVerdict,
  type Case,
  type ClusterVerdict,
  type GroupVerdict,
  type Instant,
  sinceOf,
  type Trouble,
} from "./verdict.ts";
import { websiteVerdicts } from "./website-verdicts.ts";

/** What the facts about a cluster mean at an instant; `before`: the latest verdict about it, which remembers since when. */
export function judge(
  facts: ClusterSnapshot,
  before: ClusterVerdict | undefined,
  at: Instant,
): ClusterVerdict {
  if (before?.facts === facts && isTimeless(before)) return before;
  const wasPolled =
    before?.facts.appliances.every(({ vrrp }) => vrrp.health.state !== "never_polled") === true;
  const given = { facts, before, wasPolled, at };
  const appliances = applianceVerdicts(given);
  const groups = groupVerdicts(given, appliances);
  const { websites, differences } = websiteVerdicts({ ...given, groups });
  const state = judgeCluster(Array.from(appliances.values(), (each) => each.state));
  return { kind: "cluster", facts, state, appliances, groups, websites, differences };
}

/** Whether time alone changes nothing in it. */
const isTimeless = once(
  ({ groups }: ClusterVerdict) => ![...groups.values()].some(({ state }) => state === "unknown"),
);

function applianceVerdicts({ facts, before, at }: Case): ClusterVerdict["appliances"] {
  const verdicts = facts.appliances.map(({ identity, vrrp }): ApplianceVerdict => {
    const old = before?.appliances.get(identity.appliance);
    const state = judgeAppliance(vrrp.health);
    const sinceMs = sinceOf(old, state, old?.state !== undefined, at);
    return kept(old, { kind: "appliance", identity, state, sinceMs });
  });
  const now = new Map(verdicts.map((each) => [each.identity.appliance, each]));
  return keptMap(before?.appliances, now);
}

/** The same map as before if its values are. */
function keptMap<Value>(
  before: ReadonlyMap<string, Value> | undefined,
  now: ReadonlyMap<string, Value>,
): ReadonlyMap<string, Value> {
  return before !== undefined && isSame([...now.values()], [...before.values()]) ? before : now;
}

function groupVerdicts(given: Case, appliances: ClusterVerdict["appliances"]): ClusterVerdict["groups"] {
  const { facts, before } = given;
  // Another configuration has other labels; with time alone, only what is unknown changes.
  const isAsBefore =
    facts.groups === before?.facts.groups &&
    facts.labels === before.facts.labels &&
    appliances === before.appliances;
  if (isAsBefore && isTimeless(before)) return before.groups;
  const groups = facts.groups.map((group) => [group.key, groupVerdict(group, given, appliances)] as const);
  return keptMap(before?.groups, new Map(groups));
}

function groupVerdict(
  group: GroupSnapshot,
  { facts: { cluster, labels, disabled }, before, wasPolled, at }: Case,
  appliances: ClusterVerdict["appliances"],
): GroupVerdict {
  const old = before?.groups.get(group.key);
  const stateOf = (name: string) => appliances.get(name)?.state;
  const hasDisabled = disabled.length > 0;
  const state = judgeGroup(group, { hasDisabled, stateOf, nowMs: at.monotonicMs });
  const master = masterIn(group, state);
  // A change that was in progress when polling began may have begun earlier.
  const sawBeginning = wasPolled && !(old?.state === "changing" && old.sinceMs === undefined);
  const sinceMs = sinceOf(old?.master === master ? old : undefined, state, sawBeginning, at);
  const latestMaster = master ?? old?.latestMaster;
  const trouble = troubleAfter(old?.trouble, state);
  const judged = { state, master, sinceMs, latestMaster, trouble };
  return kept(old, { kind: "group", cluster, labels, facts: group, ...judged });
}

function troubleAfter(before: Trouble | undefined, state: GroupState | undefined): Trouble | undefined {
  if (state === "split_brain" || state === "no_master" || state === "no_backup") return state;
  const isMasterKnown = state === "backup_unknown" || state === "backup_lost";
  const isOver = state === "one_master" || (isMasterKnown && before !== "no_backup");
  return isOver ? undefined : before;
}

/** The state of an appliance by the latest poll of its VRRP list; `undefined` before the first. */
export function judgeAppliance({ state, failure }: PollHealth): ApplianceState | undefined {
  if (state === "never_polled") return undefined;
  if (failure === undefined) return "up";
  const { appliance } = meaningOf(failure.reason);
  return appliance === "lost" ? "down" : appliance;
}

/**
 * The state of a cluster by its appliances; those that were not polled yet do not count; `undefined` if none was.
 *
 * - `up`: all answer. `degraded`: some do. `dark`: all are down. `unknown`: none answers, and not all are down.
 */
export function judgeCluster(appliances: readonly (ApplianceState | undefined)[]): ClusterState | undefined {
  const polled = appliances.filter((state) => state !== undefined);
  if (polled.length === 0) return undefined;
  const up = polled.filter((state) => state === "up").length;
  if (up > 0) return up === polled.length ? "up" : "degraded";
  return polled.every((state) => state === "down") ? "dark" : "unknown";
}

/** A master that falls silent during a split brain may still be MASTER; for this long it counts so. */
const SPLIT_LASTS_MS = 120_000;

interface GroupCase {
  /** Whether an appliance of the cluster is disabled: it may be master or backup of any group. */
  readonly hasDisabled: boolean;
  /** The state of an appliance by its name. */
  readonly stateOf: (appliance: string) => ApplianceState | undefined;
  /** A monotonic instant. */
  readonly nowMs: number;
}

/**
 * The state of a VRRP group; `undefined` while it depends on members that were not polled yet.
 *
 * - `split_brain`: two members were MASTER at the same time.
 * - `no_master`: all members are known and none is MASTER.
 * - `changing`: two masters or none, but a member was polled before the latest change was known.
 * - `unknown`: no known master and an unknown member, or a master of a split brain is silent for less than two minutes.
 * - `unwatched`: no known master, and a disabled appliance may be it.
 * - `no_backup`: one master, all others known, none BACKUP.
 * - `backup_lost`: one master, no known BACKUP, a member is down. `backup_unknown`: a member is unknown, and none is down.
 * - `one_master`: any other group with one known master.
 */
export function judgeGroup(
  group: GroupSnapshot,
  { hasDisabled, stateOf, nowMs }: GroupCase,
): GroupState | undefined {
  const masters = membersIn(group, "master");
  const silent = membersIn(group, "unknown").map(stateOf);
  const isPending = silent.length > 0 && silent.every((state) => state === undefined);
  const atOnce = masters.filter((name) => group.mastersAtOnce.includes(name));
  if (masters.length > 1) return atOnce.length > 1 ? "split_brain" : "changing";
  if (masters.length === 1) {
    if (atOnce.length === 1 && isSplitPartnerSilent(group, nowMs)) return "unknown";
    if (hasDisabled || membersIn(group, "backup").length > 0) return "one_master";
    if (silent.length === 0) return "no_backup";
    if (isPending) return undefined;
    return silent.includes("down") ? "backup_lost" : "backup_unknown";
  }
  if (isPending) return undefined;
  if (hasDisabled) return "unwatched";
  if (silent.length > 0) return "unknown";
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
