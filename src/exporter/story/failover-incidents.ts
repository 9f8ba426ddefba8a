import { hostAt, type GroupSnapshot } from "../fleet/snapshot.ts";
import type { Instant } from "../../support/clock.ts";
import {
  begun,
  MAX_OPEN,
  TOGETHER_MS,
  type ClusterIncidents,
  type FailoverFacts,
  type Incident,
  type Repeated,
  type Failover,
} from "./incident.ts";
import type { Cause } from "../judge/states.ts";
import { subjectKeys } from "../judge/subjects.ts";
import { judged, together, type JudgedGroups } from "./failovers.ts";
import { groupName } from "../judge/words.ts";

/** In this time, later evidence can still show why a group failed over. */
const UNDECIDED_MS = 15_000;
/** The most failovers of a cluster that are looked at again with each verdict. */
const MAX_UNDECIDED = 4;
/** A failover is recent for this time; failovers there and back within it are one incident from the third on. */
const RECENT_MS = 300_000;

/** The incidents of a cluster while its new failovers become part of them; `decided` has the causes that became known. */
export interface IncidentsSoFar extends Pick<ClusterIncidents, "all" | "undecided"> {
  readonly decided: readonly Cause[];
}

interface Step {
  readonly now: JudgedGroups;
  readonly at: Instant;
}

/** Returns the monotonic instant until which an incident is a recent failover. */
export function recentUntilMs({ failover }: Incident): number {
  return failover === undefined ? Number.NEGATIVE_INFINITY : failover.latest.seenMs + RECENT_MS;
}

/** Adds one more failover, as part of one that is known, as one of several there and back, or as an incident of its own. */
export function withFailover(state: IncidentsSoFar, one: Failover, given: Step): IncidentsSoFar {
  const { all } = state;
  const { now, at } = given;
  const same = all.find(
    ({ failover, reportedMs }) =>
      isFromTo(failover, one.from, one.to) &&
      at.monotonicMs - reportedMs < TOGETHER_MS &&
      ![...one.groups.keys()].some((key) => failover?.latest.groups.has(key)),
  );
  if (same?.failover !== undefined) {
    const latest = together(same.failover.latest, one);
    const more = failedOver(latest, now, same.failover);
    const undecided = state.undecided.map((each) =>
      each.latest === same.failover?.latest ? { ...each, latest } : each,
    );
    return replaced({ ...state, undecided }, same, { ...same, ...more, end: undefined });
  }
  const earlier = all.findLast((each) => isBefore(each, one, one.to, one.from));
  const sooner = all.slice(0, earlier && all.indexOf(earlier));
  const first = earlier?.failover?.repeated
    ? earlier
    : sooner.findLast((each) => isBefore(each, one, one.from, one.to));
  if (earlier === undefined || first?.failover === undefined) return withNewIncident(state, one, given);
  return withRepetition(state, { first, earlier, one }, given);
}

function isFromTo(failover: FailoverFacts | undefined, from: string, to: string): boolean {
  return failover?.latest.from === from && failover.latest.to === to;
}

/** Whether a failover of one of its groups was at most five minutes before this one, between these members. */
function isBefore({ failover }: Incident, one: Failover, from: string, to: string): boolean {
  return (
    failover !== undefined &&
    isFromTo(failover, from, to) &&
    one.seenMs - failover.latest.seenMs < RECENT_MS &&
    [...one.groups.keys()].some((key) => failover.latest.groups.has(key))
  );
}

function withNewIncident(state: IncidentsSoFar, one: Failover, { now, at }: Step): IncidentsSoFar {
  const { cluster } = now.facts;
  const begin = { monotonicMs: one.seenMs, wallMs: Math.round(at.wallMs + one.seenMs - at.monotonicMs) };
  const added = begun("failover", begin, cluster, { ...failedOver(one, now), reportedMs: at.monotonicMs });
  const failovers = state.all.filter(({ failover }) => failover !== undefined);
  const oldest = failovers.length < MAX_OPEN ? undefined : failovers[0];
  return withCause({ ...state, all: [...state.all.filter((each) => each !== oldest), added] }, added, at);
}

/** Returns the facts of an incident by its latest failover and those before. */
function failedOver(
  latest: Failover,
  { groups: now }: JudgedGroups,
  { repeated, groups: before = new Set() }: Partial<FailoverFacts> = {},
): Pick<Incident, "subjects" | "failover" | "restored"> {
  const groups = new Set([...before, ...latest.groups.keys()]);
  const moved = [...groups].flatMap((key) => now.get(key)?.facts ?? []);
  const addresses = new Set(moved.flatMap((group) => hostsOf(latest.to, group))).size;
  const subjects = moved.map((group) => ({ key: subjectKeys.group(group.key), name: groupName(group) }));
  return { subjects, failover: { latest, groups, addresses, repeated }, restored: undefined };
}

/** Returns the addresses that a member has in a group, as last reported. @see hostAt */
function hostsOf(name: string, group: GroupSnapshot): readonly string[] {
  const own = group.members.filter(({ appliance }) => appliance === name);
  return own.flatMap(({ addresses }) => addresses.map((address) => hostAt(group, address)));
}

function withRepetition(
  state: IncidentsSoFar,
  { first, earlier, one }: { readonly first: Incident; readonly earlier: Incident; readonly one: Failover },
  { now, at }: Step,
): IncidentsSoFar {
  const failovers = [first, earlier].flatMap(({ failover }) => failover ?? []);
  const before = failovers.map(({ latest }) => latest);
  const groups = new Set(failovers.flatMap((each) => [...each.groups]));
  const repeated = first.failover?.repeated ?? {
    count: before.length,
    firstMs: first.begin.monotonicMs,
    letGo: before.reduce(withLettingGo, {}),
    includes: earlier.id,
  };
  const { count, letGo } = repeated;
  const more = { ...repeated, count: count + 1, letGo: withLettingGo(letGo, one) };
  const failed = failedOver(one, now, { repeated: more, groups });
  const again = { ...first, ...failed, reportedMs: at.monotonicMs, end: undefined };
  const others = state.all.filter((each) => each === first || each !== earlier);
  return withCause(replaced({ ...state, all: others }, first, again), again, at);
}

function withLettingGo(letGo: Repeated["letGo"], { letsGo }: Failover): Repeated["letGo"] {
  return letsGo === undefined ? letGo : { ...letGo, [letsGo]: (letGo[letsGo] ?? 0) + 1 };
}

function replaced(state: IncidentsSoFar, old: Incident, now: Incident): IncidentsSoFar {
  return { ...state, all: state.all.map((each) => (each === old ? now : each)) };
}

/** Counts the cause of a new failover, or schedules a search for later evidence. */
function withCause(
  state: IncidentsSoFar,
  { id, failover }: Incident,
  { monotonicMs }: Instant,
): IncidentsSoFar {
  if (failover === undefined) return state;
  const { latest } = failover;
  if (latest.cause !== "unknown" || latest.wasAway === true)
    return { ...state, decided: [...state.decided, latest.cause] };
  const undecided = { incident: id, latest, untilMs: monotonicMs + UNDECIDED_MS };
  return { ...state, undecided: [...state.undecided, undecided] };
}

/** Returns the incidents with the causes that further evidence shows, or that stay unknown. */
export function afterEvidence(state: IncidentsSoFar, { now, at }: Step): IncidentsSoFar {
  const looked = state.undecided.map((each, nth) => {
    const latest = { ...judged(each.latest, now), withoutMaster: each.latest.withoutMaster };
    const isLate = at.monotonicMs >= each.untilMs || nth < state.undecided.length - MAX_UNDECIDED;
    return { each, latest, isOpen: latest.cause === "unknown" && !isLate };
  });
  const closed = looked.filter(({ isOpen }) => !isOpen);
  const all = state.all.map((incident) => {
    const found = closed.find(({ each: { incident: id, latest } }) => {
      return id === incident.id && latest.seenMs === incident.failover?.latest.seenMs;
    });
    if (incident.failover === undefined || found === undefined || found.latest.cause === "unknown")
      return incident;
    const { repeated } = incident.failover;
    const known = repeated && { ...repeated, letGo: withLettingGo(repeated.letGo, found.latest) };
    return { ...incident, failover: { ...incident.failover, latest: found.latest, repeated: known } };
  });
  return {
    all,
    undecided: looked.flatMap(({ each, isOpen }) => (isOpen ? each : [])),
    decided: [...state.decided, ...closed.map(({ latest }) => latest.cause)],
  };
}
