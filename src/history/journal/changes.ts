import { incidentDocument } from "../../exporter/story/incident-document.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  ReadinessVerdict,
  GroupVerdict,
  WindowVerdict,
} from "../../exporter/judge/verdict.ts";
import type { ClusterIncidents, Incident } from "../../exporter/story/incident.ts";
import { isPlanned } from "../../exporter/judge/judge-windows.ts";
import { protocolProblem } from "../../exporter/judge/judge-website.ts";
import type { ProblemKind } from "../../exporter/judge/states.ts";
import {
  differencesBetween,
  SUBJECT_KINDS,
  type JudgedSubject,
  type SubjectOf,
} from "../../exporter/judge/subjects.ts";
import { isEqual, memo } from "../../support/kept.ts";
import { instantOf, optionalInstant } from "../../exporter/judge/words.ts";
import { bandOf, worstOf } from "./bands.ts";
import { subjectKey, type IncidentRecord, type SubjectRecord } from "./record.ts";

/** A subject as a record that only identifies it, and as the complete record. */
type RecordForms = readonly [identity: SubjectRecord, record: SubjectRecord];

/**
 * Returns a record for each subject whose verdict has changed, at a Unix time in milliseconds. Without a verdict `before`, the records are
 * the state of everything; without a verdict `now`, the end of everything.
 */
export function recordsBetween(
  before: ClusterVerdict | undefined,
  now: ClusterVerdict | undefined,
  atMs: number,
): readonly SubjectRecord[] {
  const verdict = now ?? before;
  if (verdict === undefined || isSameForRecords(before, now)) return [];
  const given: RecordHead = { at: instantOf(atMs), cluster: verdict.facts.cluster };
  // Whether a state is planned can change without the verdict on it.
  const hasSameWindows = before?.planned === now?.planned;
  const formsIn = (
    of: ClusterVerdict | undefined,
    subject: JudgedSubject | undefined,
  ): RecordForms | undefined => subject && subjectForms(subject, given, of?.planned);
  return SUBJECT_KINDS.flatMap((kind) => {
    const differing = differencesBetween(kind, before, now, !hasSameWindows);
    return recordsOf(differing.map((each) => [formsIn(before, each.before), formsIn(now, each.now)]));
  });
}

/** The parts of a verdict that records are about. */
const RECORDED = ["state", "appliances", "groups", "readiness", "websites", "planned"] as const;

/** Whether there is nothing to record, which is the case after most polls. */
function isSameForRecords(before: ClusterVerdict | undefined, now: ClusterVerdict | undefined): boolean {
  if (before === undefined || now === undefined) return false;
  // A reload may change labels alone.
  return before.facts.labels === now.facts.labels && RECORDED.every((part) => before[part] === now[part]);
}

interface RecordHead {
  readonly at: string;
  readonly cluster: string;
}

/** Returns the records of one kind of subjects that differ, each as it was and as it is. */
function recordsOf(
  pairs: readonly (readonly [before: RecordForms | undefined, now: RecordForms | undefined])[],
): readonly SubjectRecord[] {
  const gone: SubjectRecord[] = [];
  const changed: SubjectRecord[] = [];
  for (const [before, now] of pairs) {
    // A website may keep its address under another name.
    const isSame = before !== undefined && now !== undefined && isEqual(before[0], now[0]);
    if (before !== undefined && !isSame) gone.push(before[0]);
    if (now === undefined) continue;
    const isNews = isSame ? !isEqual(before[1], now[1]) : now[1].state !== undefined;
    if (isNews) changed.push(now[1]);
  }
  return [...changed, ...endsOf(gone, changed)];
}

/**
 * Returns the ends of subjects that are gone. A subject that only has another key now, such as a website at another address, is not gone.
 */
function endsOf(gone: readonly SubjectRecord[], changed: readonly SubjectRecord[]): readonly SubjectRecord[] {
  if (gone.length === 0) return [];
  const left = new Set(changed.map(subjectKey));
  return gone.flatMap((identity) => (left.has(subjectKey(identity)) ? [] : [{ ...identity, state: "gone" }]));
}

function subjectForms(
  subject: JudgedSubject,
  given: RecordHead,
  planned: WindowVerdict | undefined,
): RecordForms {
  const { kind } = subject;
  switch (kind) {
    case "cluster":
      return clusterForms(subject.verdict, given);
    case "appliance":
      return applianceForms(subject.verdict, given);
    case "group":
      return groupForms(subject.verdict, given, planned);
    case "readiness":
      return readinessForms(subject.verdict, given);
    case "website":
      return websiteForms(subject, given, planned);
    default:
      return kind satisfies never;
  }
}

function clusterForms(
  { facts, state, groups, websites, planned }: ClusterVerdict,
  given: RecordHead,
): RecordForms {
  const identity = { at: given.at, kind: "cluster", cluster: given.cluster } as const;
  const worst = worstOf(
    new Set([
      worstGroup(groups, { groups, planned }).band,
      worstWebsite(websites, { websites, planned }).band,
    ]),
  );
  const { labels } = facts;
  return formsOf(identity, isEmpty(labels) ? { state, worst } : { state, worst, labels });
}

function isEmpty(labels: Readonly<Record<string, string>>): boolean {
  return Object.keys(labels).length === 0;
}

/**
 * Joins two parts of a record. The journal keeps the latest record of every subject, and spreads would give each a hidden class of its own.
 */
function formsOf<Identity extends object, State extends object>(identity: Identity, state: State) {
  return [identity, Object.assign({}, identity, state)] as const;
}

const worstGroup = memo(({ groups, planned }: Pick<ClusterVerdict, "groups" | "planned">) => {
  const bands = Array.from(groups.values(), ({ state, problem }) =>
    bandOf({ kind: "group", state, isPlanned: isMuted(planned, problem) }),
  );
  return { band: worstOf(new Set(bands)) };
});

const worstWebsite = memo(({ websites, planned }: Pick<ClusterVerdict, "websites" | "planned">) => {
  const bands = Array.from(websites.values(), ({ states }) =>
    states.map(({ state }) =>
      bandOf({ kind: "website", state, isPlanned: isMuted(planned, protocolProblem(state, states)) }),
    ),
  ).flat();
  return { band: worstOf(new Set(bands)) };
});

function applianceForms(
  { identity: { appliance, labels }, state, sinceMs }: ApplianceVerdict,
  given: RecordHead,
): RecordForms {
  const identity = { at: given.at, kind: "appliance", cluster: given.cluster, appliance } as const;
  const since = optionalInstant(sinceMs);
  return formsOf(identity, isEmpty(labels) ? { state, since } : { state, since, labels });
}

function readinessForms(
  { identity: { appliance }, state, sinceMs }: ReadinessVerdict,
  given: RecordHead,
): RecordForms {
  const identity = { at: given.at, kind: "readiness", cluster: given.cluster, appliance } as const;
  return formsOf(identity, { state, since: optionalInstant(sinceMs) });
}

function groupForms(
  verdict: GroupVerdict,
  { at, cluster }: RecordHead,
  planned: WindowVerdict | undefined,
): RecordForms {
  const { facts, state, problem, sinceMs, master, latestMaster, isPreferredMaster, trouble } = verdict;
  const { vhid, vip, interface: name } = facts;
  const identity = { at, kind: "group", cluster, vhid, vip, interface: name || undefined } as const;
  const since = optionalInstant(sinceMs);
  const latest = latestMaster === master ? undefined : latestMaster;
  const earlier = trouble === state ? undefined : trouble;
  return formsOf(identity, {
    state,
    since,
    master,
    latestMaster: latest,
    isPreferredMaster,
    trouble: earlier,
    isPlanned: isMuted(planned, problem),
  });
}

function websiteForms(
  { verdict, website }: SubjectOf<"website">,
  { at, cluster }: RecordHead,
  planned: WindowVerdict | undefined,
): RecordForms {
  const { key: address, websiteId: id, website: name } = website;
  const { protocol, state, shown, sinceMs } = verdict;
  const identity = { at, kind: "website", cluster, id, name, protocol, address } as const;
  const since = optionalInstant(sinceMs);
  const muted = isMuted(planned, protocolProblem(state, website.states));
  return formsOf(identity, { state, since, shown: shown === state ? undefined : shown, isPlanned: muted });
}

function isMuted(planned: WindowVerdict | undefined, kind: ProblemKind | undefined): true | undefined {
  return kind !== undefined && isPlanned(planned, { kind }) ? true : undefined;
}

/** Returns a record for each of these incidents of a cluster. */
export function incidentRecords(
  cluster: string,
  incidents: readonly Incident[],
  atMs: number,
): readonly IncidentRecord[] {
  return Array.from(new Set(incidents), (incident) => ({
    at: instantOf(atMs),
    kind: "incident",
    cluster,
    incident: incidentDocument(incident),
    open: incident.end === undefined ? keepingOpen(incident) : undefined,
  }));
}

export function openIn(incidents: ClusterIncidents | undefined): readonly Incident[] {
  return incidents?.all.filter(({ end }) => end === undefined) ?? [];
}

/** The most subjects that a record of an incident names for a start. */
export const MAX_OPEN_KEYS = 32;

/** Returns the keys of the subjects that keep an incident from being over, the first ones. */
function keepingOpen({ open, failover }: Incident): string[] {
  return Array.from(failover === undefined ? open : failover.groups).slice(0, MAX_OPEN_KEYS);
}
