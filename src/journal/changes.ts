import { incidentDocument } from "../status/incident-document.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  FailoverVerdict,
  GroupVerdict,
  WebsiteVerdict,
} from "../status/verdict.ts";
import type { Incident } from "../status/incident.ts";
import { once } from "../support/kept.ts";
import { instantOf, optionalInstant } from "../status/words.ts";
import { bandOf, worstOf } from "./bands.ts";
import { subjectKey, type IncidentRecord, type JournalRecord, type SubjectRecord } from "./record.ts";

/** What identifies a subject, and all that is said of it. */
type Said = readonly [identity: SubjectRecord, record: SubjectRecord];

/**
 * Returns a record for each subject of which something else is judged than before, at a Unix time in milliseconds, and for each
 * incident that began, changed or ended. Without a verdict `before`, these are the state of everything; without one `now`, the end
 * of everything.
 */
export function recordsBetween(
  before: ClusterVerdict | undefined,
  now: ClusterVerdict | undefined,
  atMs: number,
): readonly JournalRecord[] {
  const verdict = now ?? before;
  if (verdict === undefined) return [];
  const given: Given = { at: instantOf(atMs), cluster: verdict.facts.cluster };
  return [
    ...differences(singly(before), singly(now), (each) => [clusterSaid(each, given)]),
    ...differences(before?.appliances, now?.appliances, (each) => [applianceSaid(each, given)]),
    ...differences(before?.groups, now?.groups, (each) => [groupSaid(each, given)]),
    ...differences(before?.failovers, now?.failovers, (each) => [readinessSaid(each, given)]),
    ...differences(before?.websites, now?.websites, (each) => websiteSaid(each, given)),
    ...incidentRecords(before, now, given),
  ];
}

interface Given {
  readonly at: string;
  readonly cluster: string;
}

type Verdicts<Of> = ReadonlyMap<string, Of> | undefined;

function singly(verdict: ClusterVerdict | undefined): Verdicts<ClusterVerdict> {
  return verdict && new Map([["", verdict]]);
}

/** Only verdicts that are not the same object are looked at. */
function differences<Of>(
  before: Verdicts<Of>,
  now: Verdicts<Of>,
  saidOf: (verdict: Of) => readonly Said[],
): readonly SubjectRecord[] {
  if (before === now) return [];
  const old = saidOfOthers(before, now, saidOf);
  const fresh = saidOfOthers(now, before, saidOf);
  const known = new Map(old.map(([, record]) => [subjectKey(record), JSON.stringify(record)]));
  const left = new Set(fresh.map(([, record]) => subjectKey(record)));
  const changed = fresh.filter(([, record]) => {
    const earlier = known.get(subjectKey(record));
    return earlier === undefined ? record.state !== undefined : earlier !== JSON.stringify(record);
  });
  const gone = old.filter(([identity]) => !left.has(subjectKey(identity)));
  return [
    ...changed.map(([, record]) => record),
    ...gone.map(([identity]): SubjectRecord => ({ ...identity, state: "gone" })),
  ];
}

/** What is said of the verdicts that are not the same object as those of `others`. */
function saidOfOthers<Of>(
  verdicts: Verdicts<Of> = new Map(),
  others: Verdicts<Of>,
  saidOf: (verdict: Of) => readonly Said[],
): readonly Said[] {
  return [...verdicts].flatMap(([key, each]) => (others?.get(key) === each ? [] : saidOf(each)));
}

function clusterSaid({ state, groups, websites }: ClusterVerdict, given: Given): Said {
  const identity = { at: given.at, kind: "cluster", cluster: given.cluster } as const;
  const worst = worstOf(new Set([worstGroup(groups).band, worstWebsite(websites).band]));
  return [identity, { ...identity, state, worst }];
}

const worstGroup = once((groups: ClusterVerdict["groups"]) => ({
  band: worstOf(new Set(Array.from(groups.values(), ({ state }) => bandOf({ kind: "group", state })))),
}));

const worstWebsite = once((websites: ClusterVerdict["websites"]) => {
  const states = [...websites.values()].flatMap((website) => website.states);
  return { band: worstOf(new Set(states.map(({ state }) => bandOf({ kind: "website", state })))) };
});

function applianceSaid({ identity: { appliance }, state, sinceMs }: ApplianceVerdict, given: Given): Said {
  const identity = { at: given.at, kind: "appliance", cluster: given.cluster, appliance } as const;
  return [identity, { ...identity, state, since: optionalInstant(sinceMs) }];
}

function readinessSaid({ identity: { appliance }, state, sinceMs }: FailoverVerdict, given: Given): Said {
  const identity = { at: given.at, kind: "readiness", cluster: given.cluster, appliance } as const;
  return [identity, { ...identity, state, since: optionalInstant(sinceMs) }];
}

function groupSaid(verdict: GroupVerdict, { at, cluster }: Given): Said {
  const { facts, state, sinceMs, master, latestMaster, isPreferredMaster, trouble } = verdict;
  const identity = { at, kind: "group", cluster, vhid: facts.vhid, vip: facts.vip } as const;
  const since = optionalInstant(sinceMs);
  const latest = latestMaster === master ? undefined : latestMaster;
  const earlier = trouble === state ? undefined : trouble;
  const known = { state, since, master, latestMaster: latest, isPreferredMaster, trouble: earlier };
  return [identity, { ...identity, ...known }];
}

function websiteSaid(
  { key: address, websiteId: id, website: name, states }: WebsiteVerdict,
  { at, cluster }: Given,
): readonly Said[] {
  return states.map(({ protocol, state, shown, sinceMs }): Said => {
    const identity = { at, kind: "website", cluster, id, name, protocol, address } as const;
    const since = optionalInstant(sinceMs);
    return [identity, { ...identity, state, since, shown: shown === state ? undefined : shown }];
  });
}

function incidentRecords(
  before: ClusterVerdict | undefined,
  now: ClusterVerdict | undefined,
  { at, cluster }: Given,
): readonly IncidentRecord[] {
  if (now === undefined || before?.incidents === now.incidents) return [];
  const { all, news } = now.incidents;
  // A day that begins has those that are not over: a reader of its file alone knows them.
  const told =
    before === undefined ? [...new Set([...all.filter(({ end }) => end === undefined), ...news])] : news;
  return told.map((incident) => ({
    at,
    kind: "incident",
    cluster,
    incident: incidentDocument(incident),
    open: incident.end === undefined ? openIn(incident) : undefined,
  }));
}

/** The keys of the subjects that keep an incident from being over. */
function openIn({ open, failover }: Incident): string[] {
  return failover === undefined ? [...open] : [...failover.groups];
}
