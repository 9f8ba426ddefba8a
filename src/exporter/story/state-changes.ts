import type { FleetChange } from "../fleet/changes.ts";
import { wasRead, type ApplianceSnapshot, type ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Observation } from "../polling/observation.ts";
import type { Instant } from "../../support/clock.ts";
import { once } from "../../support/kept.ts";
import { listed, wording, type Words } from "../../support/text.ts";
import { isIn, isOfInterfaces, type Incident, type IncidentSubject, type IncidentWords } from "./incident.ts";
import { interfaceProblem, isServing, oddInterfaces } from "../judge/judge-appliance.ts";
import { protocolProblem } from "../judge/judge-website.ts";
import { lastReached } from "./last-reached.ts";
import { serversIn, type Earlier, type Memory, type Start } from "../judge/memory.ts";
import {
  PROBLEM_OF,
  type BackendState,
  type IncidentKind,
  type Trouble,
  type WebsiteState,
} from "../judge/states.ts";
import {
  differencesBetween,
  interfacesOf,
  subjectKeys,
  subjectsIn,
  type Difference,
  type JudgedSubject,
} from "../judge/subjects.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  GroupVerdict,
  LatestBackends,
  WebsiteVerdict,
} from "../judge/verdict.ts";
import { groupName, interfaceName, reasonInWords } from "../judge/words.ts";

/** The changes that an observation of an appliance has made. */
export interface Observed extends Pick<Observation, "appliance" | "sinceMs"> {
  readonly changes: readonly FleetChange[];
}

/** A subject that is in another state than before. */
export interface StateChange {
  readonly subject: IncidentSubject;
  /** The trouble that began; `undefined` if the subject is in no trouble that is reported. */
  readonly kind: IncidentKind | undefined;
  /** Whether the exporter saw the trouble begin. What was wrong when it first saw the subject is a problem and no incident. */
  readonly begins: boolean;
  readonly words: IncidentWords;
}

/** The trouble of a subject by its verdict. */
type TroubleInWords = Pick<StateChange, "kind" | "words">;

/** The kinds of subjects whose trouble incidents report. */
const REPORTED = ["cluster", "appliance", "group", "website"] as const;

/**
 * Returns what has happened between two verdicts about one cluster, except for failovers: the differences between their subjects that
 * incidents report. Until the start is settled, missing subjects may not have been polled yet; from then on, trouble that is no longer as
 * it was reported is over.
 */
export function changesBetween({
  incidents,
  before,
  now,
  at: { monotonicMs: nowMs },
  observed,
  start,
}: {
  /** The incidents that are not over, and recent failovers. */
  readonly incidents: readonly Incident[];
  readonly before: ClusterVerdict | undefined;
  readonly now: ClusterVerdict;
  readonly at: Instant;
  readonly observed: Observed | undefined;
  readonly start: Start | undefined;
}): readonly StateChange[] {
  const differences = REPORTED.flatMap((kind) => differencesBetween(kind, before, now));
  const changes = start === undefined ? changesIn(differences) : changesAfter(start.memory, before, now);
  const gone = differences.flatMap((each) => (each.now === undefined && each.before) || []);
  const over =
    start === undefined ? gone.map(subjectOf) : start.isSettled ? subjectsOutOf(incidents, now) : [];
  return [
    ...over.map((subject) => ({ subject, begins: false, ...NO_TROUBLE })),
    ...changes.flatMap((change): readonly StateChange[] => {
      const { earlier, now: each } = change;
      if (!isNews(earlier, each)) return [];
      const { website, ...subject } = subjectOf(each);
      const lastUp = before && website && lastUpOf(website, now, nowMs);
      const trouble = troubleOf(each, now);
      const begins =
        wasKnown(change, now.facts.appliances) &&
        !isUntold({ from: earlierKind(change), to: trouble.kind, key: each.key }, incidents);
      return [{ subject: { ...subject, ...(website && { website, lastUp }) }, begins, ...trouble }];
    }),
    ...backendChanges(before, now, start?.memory, incidents),
    ...(observed === undefined ? [] : interfaceChanges(observed, now.facts.groups.length === 0)),
  ];
}

/** A subject as it is, and what was known of it earlier. */
interface Comparison {
  readonly earlier: Earlier | undefined;
  /** Whether an earlier run of the exporter has left what was known. */
  readonly isRemembered: boolean;
  /** @see isServed */
  readonly wasServed: boolean;
  readonly now: JudgedSubject;
}

function changesIn(differences: readonly Difference[]): readonly Comparison[] {
  return differences.flatMap(({ before, now }) =>
    now ? { earlier: before?.verdict, isRemembered: false, wasServed: isServed(before), now } : [],
  );
}

/** Returns all subjects of a start, since an earlier run may have known each. */
function changesAfter(
  memory: Memory,
  before: ClusterVerdict | undefined,
  now: ClusterVerdict,
): readonly Comparison[] {
  const known = before && subjectsIn(before);
  const changes = Array.from(subjectsIn(now), ([key, each]): Comparison => {
    const remembered = memory.get(key);
    const earlier = remembered ?? known?.get(key)?.verdict;
    const wasServed = remembered === undefined ? isServed(known?.get(key)) : wasServedIn(memory, each);
    return { earlier, isRemembered: remembered?.state !== undefined, wasServed, now: each };
  });
  return changes.filter(({ now: { kind } }) => kind !== "readiness");
}

/** Returns the state that incidents report; `undefined` if there is none yet or, for a group, no trouble. */
function reportedOf(kind: JudgedSubject["kind"], { state, shown, trouble }: Earlier): string | undefined {
  if (kind === "group") return isOwnTrouble(trouble) ? trouble : undefined;
  return kind === "website" ? shown : state;
}

/** Whether a trouble is an incident of the group. Where a member is down, the incident is about that member. */
function isOwnTrouble(trouble: Trouble | undefined): trouble is OwnTrouble {
  return trouble !== undefined && trouble !== "backup_lost";
}

type OwnTrouble = Exclude<Trouble, "backup_lost">;

/** Whether incidents report a state. The first state of a website is no news. */
function isNews(earlier: Earlier | undefined, now: JudgedSubject): boolean {
  const [old, state] = [earlier && reportedOf(now.kind, earlier), reportedOf(now.kind, now.verdict)];
  if (state === old) return false;
  return now.kind === "group" || (state !== undefined && (now.kind !== "website" || old !== undefined));
}

/** Whether the exporter has known a subject in another trouble than it is in now, or in none. */
function wasKnown(
  { earlier, isRemembered, now: { kind, verdict } }: Comparison,
  appliances: ClusterSnapshot["appliances"],
): boolean {
  switch (kind) {
    case "cluster":
      // Nothing is known while it is unknown: that is the fault of the exporter, its host or its network.
      return isRemembered || (earlier?.state ?? "unknown") !== "unknown" || appliances.some(wasRead);
    case "appliance": {
      const { appliance } = verdict.identity;
      const answered = appliances.filter(wasRead).some(({ identity }) => identity.appliance === appliance);
      return earlier?.state !== undefined || answered;
    }
    case "group":
      return (
        isRemembered || (earlier !== undefined && wasGroupKnown(earlier) && mayHaveLost(verdict, earlier))
      );
    case "website":
      return earlier?.shown !== undefined && troubleKind(earlier.shown) !== troubleKind(verdict.shown);
    case "readiness":
      return false;
    default:
      return kind satisfies never;
  }
}

/**
 * Whether the exporter has known who was MASTER of a group, and who BACKUP. While members were not polled yet, or since a change, that is
 * so if an earlier state ended meanwhile; while a member is not known, if there was a MASTER.
 */
function wasGroupKnown({ state, sinceMs, latestMaster }: Earlier): boolean {
  if (state === undefined || state === "changing") return sinceMs !== undefined && latestMaster !== undefined;
  return (state !== "unknown" && state !== "unwatched") || latestMaster !== undefined;
}

/** Whether a group has had a BACKUP that is lost now, if one is lacking: one that never had any has lost none. */
function mayHaveLost({ trouble, facts: { members, left } }: GroupVerdict, { state }: Earlier): boolean {
  const all = [...members, ...left].flatMap(({ answers }) => answers);
  return trouble !== "no_backup" || state === "one_master" || all.some(({ role }) => role === "backup");
}

/** The kinds of trouble that a subject may have been in before, so that its trouble has only another name now, or is less. */
const SAME_AS: Readonly<Partial<Record<IncidentKind, readonly IncidentKind[]>>> = {
  appliance_down: ["polling_stuck"],
  appliance_refused: ["appliance_down", "polling_stuck"],
  polling_stuck: ["appliance_down", "appliance_refused"],
  website_down: ["website_unknown"],
  website_unknown: ["website_down"],
  website_backends_lost: ["website_backends_lost_but_up"],
  website_backends_lost_but_up: ["website_backends_lost"],
  website_backend_down: ["website_backends_lost", "website_backends_lost_but_up"],
};

/** Whether a trouble is the same as an earlier one that is no incident, as the subject was in it when it was first seen. */
function isUntold(
  {
    from,
    to,
    key,
  }: { readonly from: IncidentKind | undefined; readonly to: IncidentKind | undefined; readonly key: string },
  incidents: readonly Incident[],
): boolean {
  const isSame = from !== undefined && to !== undefined && SAME_AS[to]?.includes(from) === true;
  return isSame && !isIn(incidents, from, key);
}

/** Returns the trouble in which an appliance or a website was. */
function earlierKind({ earlier, wasServed, now: { kind } }: Comparison): IncidentKind | undefined {
  if (kind === "website") return wasServed ? undefined : troubleKind(earlier?.shown);
  const states: Readonly<Record<string, IncidentKind | undefined>> = PROBLEM_OF.appliance;
  return kind === "appliance" && earlier?.state !== undefined ? states[earlier.state] : undefined;
}

/** Returns the subjects of incidents that are no longer in this trouble, or are gone. */
function subjectsOutOf(incidents: readonly Incident[], now: ClusterVerdict): readonly IncidentSubject[] {
  const found = subjectsIn(now);
  const backends = new Map(
    Array.from(now.websites.values(), (website) => [subjectKeys.backends(website.key), website] as const),
  );
  const isStillIn = (key: string, kind: IncidentKind): boolean => {
    const subject = found.get(key);
    if (subject !== undefined) return troubleOf(subject, now).kind === kind;
    const latest = backends.get(key)?.latestBackends;
    // The servers may be as they were while their state is not known.
    return latest !== undefined && (latest.state === undefined || backendTrouble(latest).kind === kind);
  };
  return incidents
    .filter(({ kind }) => !isOfInterfaces(kind))
    .flatMap(({ kind, open }) => [...open].flatMap((key) => (isStillIn(key, kind) ? [] : { key, name: "" })));
}

function subjectOf(subject: JudgedSubject): IncidentSubject {
  const { kind, key } = subject;
  switch (kind) {
    case "cluster":
      return { key, name: subject.verdict.facts.cluster };
    case "appliance":
    case "readiness":
      return { key, name: subject.verdict.identity.appliance };
    case "group":
      return { key, name: groupName(subject.verdict.facts) };
    case "website": {
      const { website, key: address } = subject.website;
      const { protocol } = subject.verdict;
      const name = `${website}${protocol === "" ? "" : ` (${protocol})`}`;
      return { key, name, website: { address, protocol } };
    }
    default:
      return kind satisfies never;
  }
}

/** Returns the trouble that a subject is in by its verdict, which is one of `now`. */
function troubleOf(subject: JudgedSubject, now: ClusterVerdict): TroubleInWords {
  const { kind } = subject;
  switch (kind) {
    case "cluster":
      return { kind: subject.state && PROBLEM_OF.cluster[subject.state], words: clusterWords(now) };
    case "appliance":
      return applianceTrouble(subject.verdict, now);
    case "group": {
      const { verdict } = subject;
      const { trouble } = verdict;
      if (!isOwnTrouble(trouble)) return NO_TROUBLE;
      return { kind: PROBLEM_OF.group[trouble], words: TROUBLE_WORDS[trouble](verdict) };
    }
    case "website": {
      const { shown } = subject.verdict;
      return shown === undefined || isServed(subject) ? NO_TROUBLE : WEBSITE_TROUBLES[shown];
    }
    // What a failover would cost is no trouble yet.
    case "readiness":
      return NO_TROUBLE;
    default:
      return kind satisfies never;
  }
}

/** As `isServed`, by what an earlier run knew. */
function wasServedIn(memory: Memory, subject: JudgedSubject): boolean {
  if (subject.kind !== "website") return false;
  const { key, states } = subject.website;
  const all = states.map(({ protocol }) => ({
    state: memory.get(subjectKeys.website(protocol, key))?.shown,
  }));
  return protocolProblem(memory.get(subject.key)?.shown, all) === "website_partially_unknown";
}

/** Whether a website is not known to be up by this protocol, and is by another one, which is no trouble that incidents report. */
function isServed(subject: JudgedSubject | undefined): boolean {
  if (subject?.kind !== "website") return false;
  const { verdict, website } = subject;
  return protocolProblem(verdict.shown, website.states) === "website_partially_unknown";
}

const NO_TROUBLE: TroubleInWords = { kind: undefined, words: wording(["", ""]) };

function clusterWords({ facts }: ClusterVerdict): IncidentWords {
  const names = facts.appliances.map(({ identity }) => identity.appliance);
  return wording(
    names.length === 1
      ? ["", " could not be reached"]
      : ["No appliance of ", ` could be reached: neither ${names.join(" nor ")}`],
  );
}

function applianceTrouble(
  { identity, state }: ApplianceVerdict,
  { facts, state: clusterState, appliances }: ClusterVerdict,
): TroubleInWords {
  const polled = facts.appliances.find((each) => each.identity.appliance === identity.appliance);
  const reason = polled?.vrrp.health.failure?.reason ?? "internal";
  const said = (isPlural: boolean): Words => {
    const why = reasonInWords(reason, { isPlural });
    return ["", state === "down" ? ` went down: ${why}` : ` could not be polled: ${why}`];
  };
  // If an appliance stands alone, its cluster is dark, which is the reported trouble.
  const isReported = state === "down" && clusterState === "dark" && appliances.size === 1;
  return {
    kind: state === undefined || isReported ? undefined : PROBLEM_OF.appliance[state],
    words: wording(said(false), said(true)),
  };
}

const TROUBLE_WORDS: Readonly<Record<OwnTrouble, (group: GroupVerdict) => IncidentWords>> = {
  split_brain: ({ facts }) =>
    wording([`Split brain: ${listed(facts.mastersAtOnce)} were MASTER at once of `, ""]),
  no_master: () => wording(["No appliance was MASTER of ", ""]),
  no_backup: ({ master = "" }) => wording([`No appliance was BACKUP beside ${master} of `, ""]),
};

function websiteWords(what: string, badness = 0): IncidentWords {
  return { ...wording([`${what}: website `, ""], [`${what}: websites `, ""]), badness };
}

/**
 * The troubles of websites. A website that is down at some members only still serves its visitors, so on the way down and up that state is
 * no trouble of its own.
 */
const WEBSITE_TROUBLES: Readonly<Record<WebsiteState, TroubleInWords>> = {
  up: NO_TROUBLE,
  partially_down: NO_TROUBLE,
  unstable: { kind: "website_unstable", words: websiteWords("Some tests failed") },
  down_at_master: { kind: "website_down", words: websiteWords("Down at the master") },
  down: { kind: "website_down", words: websiteWords("Down", 1) },
  unknown: { kind: "website_unknown", words: websiteWords("Not known to be up") },
};

const BACKEND_TROUBLES: Readonly<Record<BackendState, TroubleInWords>> = {
  ok: NO_TROUBLE,
  some_down: { kind: PROBLEM_OF.backends.some_down, words: websiteWords("Servers are down") },
  none_usable: { kind: PROBLEM_OF.backends.none_usable, words: websiteWords("No server is usable") },
  none_usable_but_up: {
    kind: PROBLEM_OF.backends.none_usable_but_up,
    words: websiteWords("Up, and no server is usable"),
  },
};

function backendTrouble(latest: LatestBackends | undefined): TroubleInWords {
  return latest?.state === undefined ? NO_TROUBLE : BACKEND_TROUBLES[latest.state];
}

/** Returns the changes of the servers behind websites. While their state is not known, it is as before. */
function backendChanges(
  before: ClusterVerdict | undefined,
  now: ClusterVerdict,
  memory: Memory | undefined,
  incidents: readonly Incident[],
): readonly StateChange[] {
  if (before?.websites === now.websites) return [];
  const changeOf = ({ key, website: name }: WebsiteVerdict): readonly StateChange[] => {
    const latest = now.websites.get(key)?.latestBackends;
    // What is remembered lasts until the website is described.
    const remembered = latest && serversIn(memory, key);
    const old = remembered ?? before?.websites.get(key)?.latestBackends;
    if (latest?.state === old?.state) return [];
    const subject = { key: subjectKeys.backends(key), name };
    const [{ kind: from }, trouble] = [backendTrouble(old), backendTrouble(latest)];
    const begins =
      old?.state !== undefined && !isUntold({ from, to: trouble.kind, key: subject.key }, incidents);
    return [{ subject, begins, ...trouble }];
  };
  const known = [...(before?.websites.values() ?? [])];
  return [
    ...known.filter(({ key }) => !now.websites.has(key)),
    ...[...now.websites.values()].filter((each) => before?.websites.get(each.key) !== each),
  ].flatMap(changeOf);
}

function troubleKind(shown: WebsiteState | undefined): IncidentKind | undefined {
  return shown && WEBSITE_TROUBLES[shown].kind;
}

const websitesByKey = once(
  (websites: ClusterSnapshot["websites"]) => new Map(websites.map((each) => [each.key, each])),
);

function lastUpOf(
  { address, protocol }: NonNullable<IncidentSubject["website"]>,
  now: ClusterVerdict,
  nowMs: number,
): IncidentSubject["lastUp"] {
  const website = websitesByKey(now.facts.websites).get(address);
  return website && lastReached(website, protocol, { now, nowMs });
}

/** Returns changes to states that are neither MASTER nor BACKUP; all changes of an appliance without groups. */
function interfaceChanges({ appliance, changes }: Observed, isAlone: boolean): readonly StateChange[] {
  return changes.flatMap((change): readonly StateChange[] => {
    if (change.kind !== "vrrp_state") return [];
    const { interface: name, from, to } = change;
    const subject = interfaceSubject(appliance, { name, ...change });
    if (!isServing(to))
      return [
        {
          subject,
          kind: interfaceProblem(to, isAlone),
          begins: isServing(from),
          words: wording([`${appliance} reported ${to} on `, ""]),
        },
      ];
    if (!isAlone || !isServing(from)) return [];
    return [
      {
        subject,
        kind: "vrrp_state",
        begins: true,
        words: wording([`${appliance} became ${to} after ${from} on `, ""]),
      },
    ];
  });
}

function interfaceSubject(
  appliance: string,
  at: { readonly name: string; readonly vhid: number; readonly vip: string },
): IncidentSubject {
  const name = interfaceName(at);
  return { key: subjectKeys.interface(appliance, name), name };
}

/** Returns how the keys of an appliance's interfaces begin. Journals of earlier versions do not quote the name. */
function prefixesOf({ identity: { appliance } }: ApplianceSnapshot): readonly string[] {
  return [interfacesOf(appliance), `interface ${appliance} `];
}

/** Returns the name of the appliance whose key this is, or that of one of its interfaces; `undefined` for other subjects. */
export function applianceWith(key: string, { facts }: ClusterVerdict): string | undefined {
  const found = facts.appliances.find(
    (each) =>
      key === subjectKeys.appliance(each.identity.appliance) ||
      prefixesOf(each).some((prefix) => key.startsWith(prefix)),
  );
  return found?.identity.appliance;
}

/** Returns the keys of interfaces in these incidents that are still in such a state, or whose appliance's list is not known. */
export function oddKeys({ facts }: ClusterVerdict, incidents: readonly Incident[]): ReadonlySet<string> {
  if (incidents.length === 0) return new Set();
  const listless = facts.appliances.filter(({ vrrp }) => vrrp.found === undefined);
  const prefixes = listless.flatMap(prefixesOf);
  const known = incidents.flatMap(({ open }) => [...open]);
  return new Set([
    ...facts.appliances.flatMap((each) =>
      oddInterfaces(each.vrrp).flatMap(({ reported }) =>
        prefixesOf(each).map((prefix) => `${prefix}${interfaceName(reported)}`),
      ),
    ),
    ...known.filter((key) => prefixes.some((prefix) => key.startsWith(prefix))),
  ]);
}
