import { contendersIn, membersIn, type GroupSnapshot } from "../fleet/snapshot.ts";
import { kept, once } from "../../support/kept.ts";
import { isEmpty, type Earlier } from "./memory.ts";
import { rememberedGroups } from "./remembered-groups.ts";
import { PROBLEM_OF, type ApplianceState, type GroupState, type Trouble } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import {
  arePolled,
  sinceOf,
  type CachedInputs,
  type Case,
  type ClusterVerdict,
  type GroupVerdict,
} from "./verdict.ts";

/** A master that falls silent during a split brain may still be MASTER, and counts as MASTER for this long. */
const SPLIT_LASTS_MS = 120_000;

interface GroupCase {
  /** Whether an appliance of the cluster is disabled. Such an appliance may be master or backup of any group. */
  readonly hasDisabled: boolean;
  /** The appliances that nobody asks now, as their schedules rest. */
  readonly unwatched: ReadonlySet<string>;
  /** Returns the state of an appliance by its name. */
  readonly stateOf: (appliance: string) => ApplianceState | undefined;
  /** A monotonic instant. */
  readonly nowMs: number;
}

/**
 * Returns the state of a VRRP group; `undefined` while it depends on members that were not polled yet.
 *
 * - `split_brain`: two members were MASTER at the same time, or one and a rival.
 * - `no_master`: all members are known and none is MASTER.
 * - `changing`: two masters or none, but a member was polled before the latest change was known.
 * - `unknown`: no known master and an unknown member, or a master of a split brain is silent for less than two minutes, or nobody can tell
 *   which interfaces are on one link.
 * - `unwatched`: no known master, and an appliance that is disabled, or whose schedule rests, may be the master; or such a schedule hides
 *   whether a split brain goes on.
 * - `no_backup`: one master, all others known, none BACKUP.
 * - `backup_lost`: one master, no known BACKUP, a member is down. `backup_unknown`: a member is unknown, and none is down; or the schedule
 *   of a member rests. @see lastingState
 * - `one_master`: any other group with one known master.
 */
export function judgeGroup(
  group: GroupSnapshot,
  { hasDisabled, unwatched, stateOf, nowMs }: GroupCase,
): GroupState | undefined {
  const masters = contendersIn(group, "master");
  const resting = contendersIn(group, "unknown").filter((name) => unwatched.has(name));
  if (!group.isOneLink) return resting.length > 0 ? "unwatched" : "unknown";
  const silent = membersIn(group, "unknown").map(stateOf);
  const isPending = resting.length === 0 && silent.length > 0 && silent.every((state) => state === undefined);
  const atOnce = masters.filter((name) => group.mastersAtOnce.includes(name));
  if (masters.length > 1) return atOnce.length > 1 ? "split_brain" : "changing";
  if (masters.length === 1) {
    if (atOnce.length === 1 && resting.some((name) => group.mastersAtOnce.includes(name))) return "unwatched";
    if (atOnce.length === 1 && nowMs < splitEndsAtMs(group)) return "unknown";
    if (hasDisabled || membersIn(group, "backup").length > 0) return "one_master";
    if (silent.length === 0) return "no_backup";
    if (isPending) return undefined;
    return silent.includes("down") && resting.length === 0 ? "backup_lost" : "backup_unknown";
  }
  if (isPending) return undefined;
  if (hasDisabled || resting.length > 0) return "unwatched";
  if (silent.length > 0) return "unknown";
  return group.notPolledSince.length === 0 ? "no_master" : "changing";
}

/** Returns the monotonic instant until which a silent master of a split brain counts as MASTER. */
function splitEndsAtMs({ members, rivals, mastersAtOnce }: GroupSnapshot): number {
  const silent = [...members, ...rivals].filter(
    ({ role, appliance }) => role === "unknown" && mastersAtOnce.includes(appliance),
  );
  return Math.max(
    ...silent.map(({ silentSinceMs = Number.POSITIVE_INFINITY }) => silentSinceMs + SPLIT_LASTS_MS),
  );
}

/** Returns the monotonic instant at which time alone changes the state of a group; infinite if time alone changes none. */
export const groupsChangeAtMs = once((groups: ClusterVerdict["groups"]) => {
  const splits = [...groups.values()].filter(
    ({ facts, state }) =>
      facts.isOneLink && state === "unknown" && contendersIn(facts, "master").length === 1,
  );
  return Math.min(...splits.map(({ facts }) => splitEndsAtMs(facts)));
});

/** Returns the known masters of a group in that state, and of its addresses under another VHID; none if another master may exist. */
export function knownMasters(group: GroupSnapshot, state: GroupState | undefined): readonly string[] {
  return state === "unknown" || state === "unwatched" ? [] : contendersIn(group, "master");
}

/** Returns the verdicts on the groups of a cluster: the same object while their inputs stay the same. */
export function groupVerdicts(
  given: Case,
  appliances: ClusterVerdict["appliances"],
): ClusterVerdict["groups"] {
  const { cachedInputs, before, memory } = given;
  // Groups have the labels that the appliances share.
  const isUnchanged =
    cachedInputs.disabled === before?.cachedInputs.disabled &&
    appliances === before.appliances &&
    given.at.monotonicMs < groupsChangeAtMs(before.groups);
  if (isUnchanged && isEmpty(memory) && cachedInputs.groups === before.facts.groups) return before.groups;
  const groups = [...cachedInputs.groups, ...rememberedGroups(given)].map((group) => {
    const old = before?.groups.get(group.key);
    const isAsBefore =
      isUnchanged && memory?.has(subjectKeys.group(group.key)) !== true && old?.facts === group;
    return [group.key, isAsBefore ? old : groupVerdict(group, old, given, appliances)] as const;
  });
  return kept(before?.groups, new Map(groups));
}

function groupVerdict(
  group: GroupSnapshot,
  before: GroupVerdict | undefined,
  { cachedInputs, wasPolled, at, memory }: Case,
  appliances: ClusterVerdict["appliances"],
): GroupVerdict {
  const { cluster, labels, disabled } = cachedInputs;
  const remembered = memory?.get(subjectKeys.group(group.key));
  const old: Earlier | undefined = remembered ?? before;
  const stateOf = (name: string) => appliances.get(name)?.state;
  const hasDisabled = disabled.length > 0;
  const unwatched = unwatchedIn(cachedInputs);
  const found = judgeGroup(group, { hasDisabled, unwatched, stateOf, nowMs: at.monotonicMs });
  const isResting = contendersIn(group, "unknown").some((name) => unwatched.has(name));
  const state = isResting ? found : lastingState(found, old?.trouble);
  const masters = knownMasters(group, state);
  const master = masters.length === 1 ? masters[0] : undefined;
  // If a change was in progress when polling began, it may have begun earlier.
  const wasChanging = remembered !== undefined || (old?.state === "changing" && old.sinceMs === undefined);
  const sawBeginning = wasPolled && !wasChanging;
  const sinceMs = sinceOf(old?.master === master ? old : undefined, state, sawBeginning, at);
  // The master of an earlier run may still be MASTER. Its successor is known when all members were polled.
  const isPending = remembered !== undefined && !arePolled(cachedInputs);
  const latestMaster = (isPending ? old?.latestMaster : undefined) ?? master ?? old?.latestMaster;
  const trouble = troubleAfter(old?.trouble, state, master);
  // A member that was not seen since the start cannot report now that it is the preferred one.
  const wasElsewhere = old?.isPreferredMaster === false && old.master === master;
  const isUnseen = group.members.some(({ answers }) => answers.length === 0);
  const isPreferredMaster = isUnseen && wasElsewhere ? false : group.isPreferredMaster;
  const isElsewhere = state === "one_master" && isPreferredMaster === false;
  const problem: GroupVerdict["problem"] = isElsewhere
    ? "preferred_master_lost"
    : group.isOneLink
      ? state && PROBLEM_OF.group[state]
      : "link_unknown";
  const isLasting = state !== found;
  const judged = { state, isLasting, problem, isPreferredMaster, masters, master };
  const lasting = { sinceMs, latestMaster, trouble };
  return kept(before, { kind: "group", cluster, labels, facts: group, ...judged, ...lasting });
}

/** Returns the names of the appliances whose schedules rest. */
export const unwatchedIn = once(
  ({ appliances }: CachedInputs): ReadonlySet<string> =>
    new Set(appliances.flatMap(({ identity, isUnwatched }) => (isUnwatched ? identity.appliance : []))),
);

/**
 * Returns the state of a group after its latest trouble. A backup that was lost stays lost until one is known: a member that refuses the
 * exporter since then, perhaps a replacement, is none that anybody knows of.
 */
function lastingState(state: GroupState | undefined, trouble: Trouble | undefined): GroupState | undefined {
  const wasLost = trouble === "no_backup" || trouble === "backup_lost";
  return state === "backup_unknown" && wasLost ? "backup_lost" : state;
}

function troubleAfter(
  before: Trouble | undefined,
  state: GroupState | undefined,
  master: string | undefined,
): Trouble | undefined {
  if (state === "split_brain" || state === "no_master" || state === "no_backup") return state;
  // A member that was not polled yet may be another MASTER, or a BACKUP.
  const isProven = before === "no_master" || (before === "split_brain" && state !== undefined);
  const isOver = state === "one_master" || (master !== undefined && isProven);
  const left = isOver ? undefined : before;
  return left ?? (state === "backup_lost" ? state : undefined);
}
