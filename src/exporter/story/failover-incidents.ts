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
  type Return,
  type Failover,
  type Undecided,
} from "./incident.ts";
import type { Cause } from "../judge/states.ts";
import { subjectKeys } from "../judge/subjects.ts";
import { isOpen, reconsidered, together, type JudgedGroups } from "./failovers.ts";
import { groupName } from "../judge/words.ts";

/** In this time, later evidence can still show why a group failed over. */
const UNDECIDED_MS = 15_000;
/** The most failovers of a cluster that are looked at again with each verdict. */
const MAX_UNDECIDED = 4;
/** A failover is recent for this time; failovers there and back within it are one incident from the third on. */
const RECENT_MS = 300_000;
/** The most failovers of an incident that are kept one by one. */
const MAX_EACH = 8;

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
    ({ failover, reportedMs, restored }) =>
      isFromTo(failover, one.from, one.to) &&
      // An incident of an earlier run is known by its words only.
      restored === undefined &&
      at.monotonicMs - reportedMs < TOGETHER_MS &&
      ![...one.groups.keys()].some((key) => failover?.latest.groups.has(key)),
  );
  if (same?.failover !== undefined) {
    const latest = together(same.failover.latest, one);
    const more = failedOver(latest, now, withFailoverAs(same.failover, same.failover.latest, latest));
    const joined = { ...same, ...more, end: undefined };
    const after = replaced(state, same, joined);
    const { latest: before } = same.failover;
    if (!state.undecided.some((each) => each.latest === before))
      return withUndecided(after, joined, true, at);
    const undecided = state.undecided.map((each) => (each.latest === before ? { ...each, latest } : each));
    return { ...after, undecided };
  }
  const earlier = all.findLast((each) => isBefore(each, one, one.to, one.from));
  const sooner = all.slice(0, earlier && all.indexOf(earlier));
  const first = earlier?.failover?.repeated
    ? earlier
    : sooner.findLast((each) => isBefore(each, one, one.from, one.to));
  if (earlier === undefined || first?.failover === undefined)
    return withNewIncident(state, { one, returns: returnOf(one, earlier, all) }, given);
  return withRepetition(state, { first, earlier, one }, given);
}

/** Returns the facts with a failover in the place of the same one as it was known before. */
function withFailoverAs(facts: FailoverFacts, before: Failover, after: Failover): FailoverFacts {
  const { latest, repeated } = facts;
  const each = repeated?.each.map((one) => (one.failover === before ? { ...one, failover: after } : one));
  return {
    ...facts,
    latest: latest === before ? after : latest,
    repeated: repeated && each && { ...repeated, each },
  };
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

/** Returns what a failover is the way back of; `earlier` is the latest one in the other direction. A way back has none itself. */
function returnOf(
  one: Failover,
  earlier: Incident | undefined,
  all: readonly Incident[],
): Return | undefined {
  const { failover, begin, restored } = earlier ?? {};
  // Of an incident of an earlier run, not all groups are known.
  if (failover === undefined || begin === undefined || restored !== undefined) return undefined;
  const latest = all.findLast((each) => [...one.groups.keys()].some((key) => each.failover?.groups.has(key)));
  if (latest !== earlier || failover.returns !== undefined) return undefined;
  return { seenWallMs: begin.wallMs, groups: failover.groups };
}

function withNewIncident(
  state: IncidentsSoFar,
  { one, returns }: { readonly one: Failover; readonly returns: Return | undefined },
  { now, at }: Step,
): IncidentsSoFar {
  const { cluster } = now.facts;
  const begin = { monotonicMs: one.seenMs, wallMs: wallAt(one.seenMs, at) };
  const added = begun("failover", begin, cluster, {
    ...failedOver(one, now, { returns }),
    reportedMs: at.monotonicMs,
  });
  const failovers = state.all.filter(({ failover }) => failover !== undefined);
  const oldest = failovers.length < MAX_OPEN ? undefined : failovers[0];
  return withCause({ ...state, all: [...state.all.filter((each) => each !== oldest), added] }, added, at);
}

function wallAt(ms: number, at: Instant): number {
  return Math.round(at.wallMs + ms - at.monotonicMs);
}

/** Returns the facts of an incident by its latest failover and those before. */
function failedOver(
  latest: Failover,
  { groups: now }: JudgedGroups,
  { repeated, returns, groups: before = new Set() }: Partial<FailoverFacts> = {},
): Pick<Incident, "subjects" | "failover" | "restored"> {
  const groups = new Set([...before, ...latest.groups.keys()]);
  const moved = [...groups].flatMap((key) => now.get(key)?.facts ?? []);
  const subjects = moved.map((group) => {
    return { key: subjectKeys.group(group.key), name: groupName(group), hosts: hostsOf(latest.to, group) };
  });
  return { subjects, failover: { latest, groups, repeated, returns }, restored: undefined };
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
    // The first counts below, as whichever was the latest until now.
    plannedBefore: Number(earlier.isPlanned),
    includes: earlier.id,
    each: [first, earlier].flatMap(({ begin, failover }) =>
      failover === undefined ? [] : [{ failover: failover.latest, seenWallMs: begin.wallMs }],
    ),
  };
  const { count, letGo, plannedBefore } = repeated;
  const known = [...repeated.each, { failover: one, seenWallMs: wallAt(one.seenMs, at) }];
  const more = {
    ...repeated,
    count: count + 1,
    letGo: withLettingGo(letGo, one),
    plannedBefore: plannedBefore + Number(first.isPlanned),
    each: known.slice(-MAX_EACH),
  };
  const failed = failedOver(one, now, { repeated: more, groups });
  const again = { ...first, ...failed, reportedMs: at.monotonicMs, end: undefined };
  const others = state.all.filter((each) => each === first || each !== earlier);
  return withCause(replaced({ ...state, all: others }, first, again), again, at);
}

function withLettingGo(letGo: Repeated["letGo"], { causes: [{ letsGo }] }: Failover): Repeated["letGo"] {
  return letsGo === undefined ? letGo : { ...letGo, [letsGo]: (letGo[letsGo] ?? 0) + 1 };
}

function replaced(state: IncidentsSoFar, old: Incident, now: Incident): IncidentsSoFar {
  return { ...state, all: state.all.map((each) => (each === old ? now : each)) };
}

/** Counts the cause of a new failover, if it is known, and schedules a search for later evidence of the others. */
function withCause(state: IncidentsSoFar, incident: Incident, at: Instant): IncidentsSoFar {
  if (incident.failover === undefined) return state;
  const [first] = incident.failover.latest.causes;
  if (isOpen(first)) return withUndecided(state, incident, false, at);
  return withUndecided({ ...state, decided: [...state.decided, first.cause] }, incident, true, at);
}

/** Schedules a search for later evidence of the causes of a failover that are not known. */
function withUndecided(
  state: IncidentsSoFar,
  { id, failover }: Incident,
  isCounted: boolean,
  { monotonicMs }: Instant,
): IncidentsSoFar {
  if (failover === undefined || !failover.latest.causes.some(isOpen)) return state;
  const { latest } = failover;
  const one = { incident: id, latest, isCounted, untilMs: monotonicMs + UNDECIDED_MS };
  return { ...state, undecided: [...state.undecided, one] };
}

/** Whether a failover is the latest one of an incident, or one of those that it keeps. */
function isOf({ latest, repeated }: FailoverFacts, one: Failover): boolean {
  return latest === one || repeated?.each.some(({ failover }) => failover === one) === true;
}

/** Returns the facts with the causes of a failover that later evidence has shown. */
function withFinding(
  facts: FailoverFacts,
  {
    each,
    latest,
    isDecided,
  }: { readonly each: Undecided; readonly latest: Failover; readonly isDecided: boolean },
): FailoverFacts {
  const known = withFailoverAs(facts, each.latest, latest);
  const { repeated } = known;
  if (repeated === undefined || !isDecided) return known;
  return { ...known, repeated: { ...repeated, letGo: withLettingGo(repeated.letGo, latest) } };
}

/** Returns the incidents with the causes that further evidence shows, or that stay unknown. */
export function afterEvidence(state: IncidentsSoFar, { now, at }: Step): IncidentsSoFar {
  const looked = state.undecided.map((each, nth) => {
    const latest = reconsidered(each.latest, now);
    const isLate = at.monotonicMs >= each.untilMs || nth < state.undecided.length - MAX_UNDECIDED;
    const isWaiting = !isLate && latest.causes.some(isOpen);
    const isDecided = !each.isCounted && !(isWaiting && isOpen(latest.causes[0]));
    return { each, latest, isWaiting, isDecided };
  });
  const news = looked.filter(({ each, latest }) => each.latest !== latest);
  const all = state.all.map((incident) => {
    const { failover } = incident;
    if (failover === undefined) return incident;
    const own = news.filter(({ each }) => isOf(failover, each.latest));
    if (own.length === 0) return incident;
    return { ...incident, failover: own.reduce(withFinding, failover) };
  });
  return {
    all,
    undecided: looked.flatMap(({ each, latest, isWaiting, isDecided }) =>
      isWaiting ? { ...each, latest, isCounted: each.isCounted || isDecided } : [],
    ),
    decided: [
      ...state.decided,
      ...looked.flatMap(({ latest, isDecided }) => (isDecided ? latest.causes[0].cause : [])),
    ],
  };
}
