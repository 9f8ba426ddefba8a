import { incidentDocument } from "../status/incident-document.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  FailoverVerdict,
  GroupVerdict,
  WebsiteVerdict,
  Planned,
} from "../status/verdict.ts";
import type { Incident } from "../status/incident.ts";
import { isPlanned } from "../status/planned.ts";
import { PROBLEM_OF, type ProblemKind } from "../status/states.ts";
import { kept, memo } from "../support/kept.ts";
import { instantOf, optionalInstant } from "../status/words.ts";
import { bandOf, worstOf } from "./bands.ts";
import { subjectKey, type IncidentRecord, type JournalRecord, type SubjectRecord } from "./record.ts";

/** A subject as a record that only identifies it, and as the complete record. */
type Said = readonly [identity: SubjectRecord, record: SubjectRecord];

/**
 * Returns a record for each subject whose verdict has changed, at a Unix time in milliseconds, and for each incident that began, changed or
 * ended. Without a verdict `before`, the records are the state of everything; without a verdict `now`, the end of everything.
 */
export function recordsBetween(
  before: ClusterVerdict | undefined,
  now: ClusterVerdict | undefined,
  atMs: number,
): readonly JournalRecord[] {
  const verdict = now ?? before;
  if (verdict === undefined || isSaidAsBefore(before, now)) return [];
  const given: Given = { at: instantOf(atMs), cluster: verdict.facts.cluster };
  // Whether a state is planned can change without the verdict on it.
  const work = { before: before?.planned, now: now?.planned };
  return [
    ...differences(singly(before), singly(now), (each) => [clusterSaid(each, given)]),
    ...differences(before?.appliances, now?.appliances, (each) => [applianceSaid(each, given)]),
    ...differences(before?.groups, now?.groups, (each, planned) => [groupSaid(each, given, planned)], work),
    ...differences(before?.failovers, now?.failovers, (each) => [readinessSaid(each, given)]),
    ...differences(
      before?.websites,
      now?.websites,
      (each, planned) => websiteSaid(each, given, planned),
      work,
    ),
    ...incidentRecords(before, now, given),
  ];
}

/** The parts of a verdict that records are about. */
const SAID = ["state", "appliances", "groups", "failovers", "websites", "planned", "incidents"] as const;

/** Whether there is nothing to record, which is the case after most polls. */
function isSaidAsBefore(before: ClusterVerdict | undefined, now: ClusterVerdict | undefined): boolean {
  return before !== undefined && now !== undefined && SAID.every((part) => before[part] === now[part]);
}

interface Given {
  readonly at: string;
  readonly cluster: string;
}

type Verdicts<Of> = ReadonlyMap<string, Of> | undefined;

function singly(verdict: ClusterVerdict | undefined): Verdicts<ClusterVerdict> {
  return verdict && new Map([["", verdict]]);
}

interface Work {
  readonly before: Planned | undefined;
  readonly now: Planned | undefined;
}

/**
 * Returns the records of the differences. Only verdicts that are not the same object are compared, since an appliance may change a thousand
 * at each poll.
 */
function differences<Of>(
  before: Verdicts<Of> = new Map(),
  now: Verdicts<Of> = new Map(),
  saidOf: (verdict: Of, planned: Planned | undefined) => readonly Said[],
  work: Work = { before: undefined, now: undefined },
): readonly SubjectRecord[] {
  const isSameWork = work.before === work.now;
  if (before === now && isSameWork) return [];
  const gone: Said[] = [];
  const changed: SubjectRecord[] = [];
  for (const [key, each] of now) {
    const verdict = before.get(key);
    if (verdict === each && isSameWork) continue;
    const old = verdict === undefined ? [] : saidOf(verdict, work.before);
    const fresh = saidOf(each, work.now);
    gone.push(...old.filter((one) => !fresh.some((other) => isAlike(one[0], other[0]))));
    for (const [identity, record] of fresh) {
      const earlier = old.find((one) => isAlike(one[0], identity));
      const isNews = earlier === undefined ? record.state !== undefined : !isAlike(earlier[1], record);
      if (isNews) changed.push(record);
    }
  }
  for (const [key, verdict] of before) if (!now.has(key)) gone.push(...saidOf(verdict, work.before));
  return [...changed, ...endsOf(gone, changed)];
}

function isAlike(one: SubjectRecord, other: SubjectRecord): boolean {
  return kept(one, other) === one;
}

/**
 * Returns the ends of subjects that are gone. A subject that only has another key now, such as a website at another address, is not gone.
 */
function endsOf(gone: readonly Said[], changed: readonly SubjectRecord[]): readonly SubjectRecord[] {
  if (gone.length === 0) return [];
  const left = new Set(changed.map(subjectKey));
  return gone.flatMap(([identity]) =>
    left.has(subjectKey(identity)) ? [] : [{ ...identity, state: "gone" }],
  );
}

function clusterSaid({ state, groups, websites, planned }: ClusterVerdict, given: Given): Said {
  const identity = { at: given.at, kind: "cluster", cluster: given.cluster } as const;
  const worst = worstOf(
    new Set([
      worstGroup(groups, { groups, planned }).band,
      worstWebsite(websites, { websites, planned }).band,
    ]),
  );
  return said(identity, { state, worst });
}

/**
 * Joins two parts of a record. The journal keeps the latest record of every subject, and spreads would give each a hidden class of its own.
 */
function said<Identity extends object, State extends object>(identity: Identity, state: State) {
  return [identity, Object.assign({}, identity, state)] as const;
}

const worstGroup = memo(({ groups, planned }: Pick<ClusterVerdict, "groups" | "planned">) => {
  const bands = Array.from(groups.values(), ({ state, problem }) =>
    bandOf({ kind: "group", state, isPlanned: isMuted(planned, problem) }),
  );
  return { band: worstOf(new Set(bands)) };
});

const worstWebsite = memo(({ websites, planned }: Pick<ClusterVerdict, "websites" | "planned">) => {
  const states = [...websites.values()].flatMap((website) => website.states);
  const bands = states.map(({ state }) =>
    bandOf({ kind: "website", state, isPlanned: isMuted(planned, state && PROBLEM_OF.website[state]) }),
  );
  return { band: worstOf(new Set(bands)) };
});

function applianceSaid({ identity: { appliance }, state, sinceMs }: ApplianceVerdict, given: Given): Said {
  const identity = { at: given.at, kind: "appliance", cluster: given.cluster, appliance } as const;
  return said(identity, { state, since: optionalInstant(sinceMs) });
}

function readinessSaid({ identity: { appliance }, state, sinceMs }: FailoverVerdict, given: Given): Said {
  const identity = { at: given.at, kind: "readiness", cluster: given.cluster, appliance } as const;
  return said(identity, { state, since: optionalInstant(sinceMs) });
}

function groupSaid(verdict: GroupVerdict, { at, cluster }: Given, planned: Planned | undefined): Said {
  const { facts, state, problem, sinceMs, master, latestMaster, isPreferredMaster, trouble } = verdict;
  const { vhid, vip, interface: name } = facts;
  const identity = { at, kind: "group", cluster, vhid, vip, interface: name || undefined } as const;
  const since = optionalInstant(sinceMs);
  const latest = latestMaster === master ? undefined : latestMaster;
  const earlier = trouble === state ? undefined : trouble;
  return said(identity, {
    state,
    since,
    master,
    latestMaster: latest,
    isPreferredMaster,
    trouble: earlier,
    isPlanned: isMuted(planned, problem),
  });
}

function websiteSaid(
  { key: address, websiteId: id, website: name, states }: WebsiteVerdict,
  { at, cluster }: Given,
  planned: Planned | undefined,
): readonly Said[] {
  return states.map(({ protocol, state, shown, sinceMs }): Said => {
    const identity = { at, kind: "website", cluster, id, name, protocol, address } as const;
    const since = optionalInstant(sinceMs);
    const muted = isMuted(planned, state && PROBLEM_OF.website[state]);
    return said(identity, { state, since, shown: shown === state ? undefined : shown, isPlanned: muted });
  });
}

function isMuted(planned: Planned | undefined, kind: ProblemKind | undefined): true | undefined {
  return kind !== undefined && isPlanned(planned, { kind }) ? true : undefined;
}

function incidentRecords(
  before: ClusterVerdict | undefined,
  now: ClusterVerdict | undefined,
  { at, cluster }: Given,
): readonly IncidentRecord[] {
  if (now === undefined || before?.incidents === now.incidents) return [];
  const { all, news } = now.incidents;
  // A day that begins lists the incidents that are not over, since a reader may have the file of that day alone.
  const changed =
    before === undefined ? [...new Set([...all.filter(({ end }) => end === undefined), ...news])] : news;
  return changed.map((incident) => ({
    at,
    kind: "incident",
    cluster,
    incident: incidentDocument(incident),
    open: incident.end === undefined ? openIn(incident) : undefined,
  }));
}

/** Returns the keys of the subjects that keep an incident from being over. */
function openIn({ open, failover }: Incident): string[] {
  return failover === undefined ? [...open] : [...failover.groups];
}
