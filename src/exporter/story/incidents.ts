import type { Instant } from "../../support/clock.ts";
import { groupBy } from "../../support/group-by.ts";
import { reachedAgainMs } from "./last-reached.ts";
import { applianceWith, changesBetween, oddKeys, type StateChange, type Observed } from "./state-changes.ts";
import { afterEvidence, recentUntilMs, withFailover, type IncidentsSoFar } from "./failover-incidents.ts";
import {
  begun,
  isIn,
  isOfInterfaces,
  isOfWebsites,
  MAX_OPEN,
  togetherMs,
  type ClusterIncidents,
  type FailoverFacts,
  type Incident,
  type IncidentSubject,
  type IncidentWords,
  type OutageEnd,
} from "./incident.ts";
import type { Start } from "../judge/memory.ts";
import type { Cause } from "../judge/states.ts";
import { isPlanned } from "../judge/judge-windows.ts";
import { isFailoverPlanned, mutedFailovers } from "./muted-failovers.ts";
import { failoversBetween } from "./failovers.ts";
import type { ClusterVerdict } from "../judge/verdict.ts";

/** The incidents of an earlier run that are not over, and its recent failovers. */
export type Ongoing = Pick<ClusterIncidents, "all" | "lastFailoverAt">;

/** What follows on the incidents that are known: a verdict, and the one before. */
export interface StoryStep {
  readonly known: ClusterIncidents | undefined;
  /** What precedes the first verdict. */
  readonly ongoing: Ongoing | undefined;
  readonly before: ClusterVerdict | undefined;
  readonly now: ClusterVerdict;
  readonly at: Instant;
  readonly observed: Observed | undefined;
  /** The start of the exporter; `undefined` when it is over. */
  readonly start: Start | undefined;
}

/** Returns the incidents of a cluster after one more verdict: the same object while nothing happens. */
export function incidentsAfter(given: StoryStep): ClusterIncidents {
  const { known, ongoing, now, at } = given;
  if (known !== undefined && isQuiet(given, known)) return known;
  const { cluster, labels, appliances, disabled } = now.facts;
  const { all: earlier = [], lastFailoverAt } = known ?? ongoing ?? {};
  const changes = changesBetween({ ...given, incidents: earlier });
  if (known !== undefined && changes.length === 0 && isSame(given, known)) return known;
  const old: IncidentsSoFar = { all: earlier, undecided: known?.undecided ?? [], decided: [] };
  const troubled = { ...old, all: withTroubles(old.all, changes, given) };
  const failovers = failoversBetween(given);
  const withFailovers = failovers.reduce((state, one) => withFailover(state, one, given), troubled);
  const { all, undecided, decided } = afterEvidence(withFailovers, given);
  const current = all.map((each) => ended(asPlanned(each, given), given));
  const counts = known?.failovers ?? NONE;
  const last = failovers.length === 0 ? lastFailoverAt : at;
  const recent = current.filter((each) => at.monotonicMs < recentUntilMs(each));
  const kept = current.filter((each) => each.end === undefined || recent.includes(each));
  return {
    kind: "incidents",
    cluster,
    labels,
    all: kept,
    news: current.filter((each) => !old.all.includes(each)),
    recent,
    undecided,
    failovers: appliances.length + disabled.length < 2 ? undefined : decided.reduce(counted, counts),
    lastFailoverAt: last,
    muted: mutedFailovers(now, recent, at),
    untilMs: Math.min(
      ...undecided.map(({ untilMs }) => untilMs),
      ...recent.map(recentUntilMs),
      ...kept.map(waitsUntilMs),
    ),
  };
}

/** Whether nothing can have happened, as after most polls: all states follow from `cachedInputs`, but for groups that change with time. */
function isQuiet(given: StoryStep, known: ClusterIncidents): boolean {
  return given.before?.cachedInputs === given.now.cachedInputs && isSame(given, known);
}

/** Whether the incidents stay the same if no state has changed. Until a start is over, what is missing may end them. */
function isSame({ before, now, at, start }: StoryStep, { all, untilMs }: ClusterIncidents): boolean {
  return (
    start === undefined &&
    // Each poll may be the test or the list that an incident waits for.
    all.every((each) => waitsUntilMs(each) === Number.POSITIVE_INFINITY) &&
    before?.groups === now.groups &&
    before.appliances === now.appliances &&
    before.planned === now.planned &&
    before.facts.labels === now.facts.labels &&
    at.monotonicMs < untilMs
  );
}

const NONE: Readonly<Record<Cause, number>> = {
  fault: 0,
  silent: 0,
  priority: 0,
  preempted: 0,
  stepped_down: 0,
  unknown: 0,
};

function counted(counts: typeof NONE, cause: Cause): typeof NONE {
  return { ...counts, [cause]: counts[cause] + 1 };
}

/**
 * Adds the troubles that began, and ends those that are over. Equal troubles of several subjects, within ten seconds, are one incident; so
 * are the same troubles of websites, within a minute, and the worst state that one of them reached gives the words.
 */
function withTroubles(
  all: readonly Incident[],
  changes: readonly StateChange[],
  given: StoryStep,
): readonly Incident[] {
  const troubles = groupBy(
    changes.filter(({ kind, begins, subject }) => begins && !isIn(all, kind, subject.key)),
    likenessOf,
  );
  const latest = new Map(changes.map((each) => [each.subject.key, each]));
  const odd = oddKeys(
    given.now,
    all.filter(({ kind }) => isOfInterfaces(kind)),
  );
  const left = all.map((each) => inWorseWords(withoutOver(each, latest, odd, given), latest));
  return [...troubles.values()].reduce<readonly Incident[]>(
    (some, alike) => withTrouble(some, alike, given),
    left,
  );
}

/** Returns what troubles have in common that are one incident. */
function likenessOf({ kind, words }: Pick<StateChange, "kind" | "words">): string {
  return JSON.stringify(kind !== undefined && isOfWebsites(kind) ? [kind] : [kind, words]);
}

function worse(words: IncidentWords, other: IncidentWords): IncidentWords {
  return (other.badness ?? 0) > (words.badness ?? 0) ? other : words;
}

/** Returns an incident in the words of the worst state that its subjects have reached. */
function inWorseWords(incident: Incident, latest: ReadonlyMap<string, StateChange>): Incident {
  const words = [...incident.open].reduce(
    (known, key) => worse(known, latest.get(key)?.words ?? known),
    incident.words,
  );
  return words === incident.words ? incident : { ...incident, words };
}

/** For this time, a website that is not down any more has to be found up by a master; after it, nobody knows how long it was down. */
const CONFIRMED_MS = 300_000;

/**
 * Returns an incident without the subjects that are in another state now, each of which has its own end. A subject that is not known to be
 * up again may be down for longer.
 */
function withoutOver(
  incident: Incident,
  latest: ReadonlyMap<string, StateChange>,
  odd: ReadonlySet<string>,
  given: StoryStep,
): Incident {
  const { kind, open } = incident;
  if (kind === "failover") return incident;
  const subjects = incident.subjects.map((each) =>
    each.website === undefined || !open.has(each.key)
      ? each
      : afterChange(each, latest.get(each.key), incident, given),
  );
  const over = new Set(subjects.flatMap((each) => (each.over === undefined ? [] : each.key)));
  const waiting = new Set(subjects.flatMap((each) => (each.recovered === undefined ? [] : each.key)));
  const left = [...open].filter(
    (key) =>
      !over.has(key) &&
      (!isOfInterfaces(kind) || odd.has(key)) &&
      (waiting.has(key) || !latest.has(key) || latest.get(key)?.kind === kind),
  );
  const isUnchanged =
    left.length === open.size && subjects.every((each, nth) => each === incident.subjects[nth]);
  return isUnchanged ? incident : { ...incident, subjects, open: new Set(left) };
}

/**
 * Returns a website of an incident that is not over. An outage is over when a test shows that visitors reach the website: the new master of
 * a failover may have found it up before.
 */
function afterChange(
  subject: IncidentSubject,
  change: StateChange | undefined,
  incident: Incident,
  given: StoryStep,
): IncidentSubject {
  const { website, lastUp, recovered: before } = subject;
  if (website === undefined || (change === undefined && before === undefined)) return subject;
  if (change?.kind === incident.kind) return { ...subject, recovered: undefined };
  const { monotonicMs } = given.at;
  const isUp = change === undefined || (change.kind === undefined && change.subject.website !== undefined);
  const recovered = (isUp ? before : undefined) ?? endOf(subject, incident, given);
  const over = { ...recovered, reachedMs: monotonicMs };
  const unknown = { ...subject, recovered: undefined, lastUp: undefined, over };
  if (!isUp || lastUp === undefined) return unknown;
  if (incident.kind !== "website_down") return { ...subject, over };
  const { facts } = given.now;
  const site = facts.websites.find(({ key }) => key === website.address);
  if (site === undefined || monotonicMs >= recovered.end.monotonicMs + CONFIRMED_MS) return unknown;
  const sinceMs = lastUp.knownMs;
  const reachedMs = reachedAgainMs(site, website.protocol, given.now, { sinceMs, nowMs: monotonicMs });
  if (reachedMs === undefined) return { ...subject, recovered };
  const aboutMs = Math.min(recovered.aboutMs, reachedMs);
  return { ...subject, recovered: undefined, over: { ...recovered, aboutMs, reachedMs } };
}

/** Returns the end of a website's trouble: about the middle between the last two polls. */
function endOf({ lastUp }: IncidentSubject, incident: Incident, { at, observed }: StoryStep): OutageEnd {
  const { sinceMs = at.monotonicMs } = observed ?? {};
  const knownMs = lastUp?.knownMs ?? incident.begin.monotonicMs;
  return { end: endAt(incident, at), aboutMs: (Math.max(sinceMs, knownMs) + at.monotonicMs) / 2 };
}

/** Returns the monotonic instant until which an incident waits for a test of a website that is not down any more; infinite if it does not. */
function waitsUntilMs({ subjects }: Incident): number {
  const ends = subjects.flatMap(({ recovered }) => recovered?.end.monotonicMs ?? []);
  return Math.min(...ends) + CONFIRMED_MS;
}

function isTrouble({ failover }: Incident): boolean {
  return failover === undefined;
}

function withTrouble(
  all: readonly Incident[],
  alike: readonly StateChange[],
  { now, at }: StoryStep,
): readonly Incident[] {
  const [first] = alike;
  if (first?.kind === undefined) return all;
  const { kind } = first;
  const subjects = alike.map(({ subject }) => ({ ...subject, beganMs: at.wallMs }));
  const names = new Set(subjects.map(({ key }) => key));
  const words = alike.reduce((known, each) => worse(known, each.words), first.words);
  const place = all.findIndex(
    (one) =>
      one.kind === kind &&
      one.open.size > 0 &&
      one.restored === undefined &&
      likenessOf(one) === likenessOf(first) &&
      at.monotonicMs - one.reportedMs < togetherMs(kind) &&
      !one.subjects.some(({ key }) => names.has(key)),
  );
  const known = all[place];
  if (known === undefined && all.filter(isTrouble).length >= MAX_OPEN) return all;
  const keys = kind === "vrrp_state" ? [] : [...names];
  if (known === undefined)
    return [...all, begun(kind, at, now.facts.cluster, { words, subjects, open: new Set(keys) })];
  const more = {
    words: worse(known.words, words),
    subjects: [...known.subjects, ...subjects],
    open: new Set([...known.open, ...keys]),
  };
  return all.with(place, { ...known, ...more });
}

/** Returns the ends of the incidents of a cluster that is no longer configured: nobody watches it any more. */
export function endsOf({ all }: Ongoing, at: Instant): readonly Incident[] {
  const open = all.filter(({ end }) => end === undefined);
  return open.map((each) => ({ ...each, end: endAt(each, at) }));
}

/** A clock that is set meanwhile does not change the length of an incident. */
function endAt({ begin }: Incident, at: Instant): Instant {
  return { ...at, wallMs: Math.round(begin.wallMs + at.monotonicMs - begin.monotonicMs) };
}

/** Ends an incident that is over: trouble when no subject is in it, a failover when each of its groups has a master and a backup again. */
function ended(incident: Incident, { now, at, start }: StoryStep): Incident {
  const { failover, open } = incident;
  if (incident.end !== undefined) return incident;
  const isOver = failover === undefined ? open.size === 0 : isComplete(failover, now, start);
  if (!isOver) return incident;
  const ends = incident.subjects.flatMap(({ over }) => over?.end ?? []);
  const last = ends.toSorted((one, other) => other.monotonicMs - one.monotonicMs)[0];
  return { ...incident, end: last ?? endAt(incident, at) };
}

/** Returns an incident that is planned as its problem is, or as the alert about its failover is muted. */
function asPlanned(incident: Incident, given: StoryStep): Incident {
  const isNow = isPlannedNow(incident, given);
  return isNow === incident.isPlanned ? incident : { ...incident, isPlanned: isNow };
}

function isPlannedNow(incident: Incident, { now, at }: StoryStep): boolean {
  const { kind, open, failover, isPlanned: wasPlanned } = incident;
  if (failover !== undefined) {
    const isRecent = at.monotonicMs < recentUntilMs(incident);
    return isRecent ? isFailoverPlanned(failover.latest, now, at) : wasPlanned;
  }
  if (open.size === 0 || kind === "failover" || kind === "vrrp_state") return wasPlanned;
  const { planned } = now;
  return (
    planned !== undefined &&
    [...open].every((key) => isPlanned(planned, { kind, appliance: applianceWith(key, now) }))
  );
}

function isComplete(
  { groups: own }: FailoverFacts,
  { groups }: StoryStep["now"],
  start: StoryStep["start"],
): boolean {
  // Groups that were not polled yet are missing.
  const missing = start?.isSettled === false ? undefined : "one_master";
  return [...own].every((key) => (groups.get(key)?.state ?? missing) === "one_master");
}
