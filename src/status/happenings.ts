import type { FleetChange } from "../fleet/changes.ts";
import { membersIn, type ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Observation } from "../polling/observation.ts";
import type { Instant } from "../support/clock.ts";
import { once } from "../support/kept.ts";
import { listed, type Words } from "../support/text.ts";
import type { Incident, Subject } from "./incident.ts";
import { interfaceProblem, isServing, oddInterfaces } from "./judge-appliance.ts";
import { visitedIn } from "./masters.ts";
import { lastPoll } from "./party.ts";
import { PROBLEM_OF, type IncidentKind, type Trouble, type WebsiteState } from "./states.ts";
import type { Case, ClusterVerdict, GroupVerdict } from "./verdict.ts";
import { groupName, reasonInWords } from "./words.ts";

/** The changes that an observation of an appliance has made. */
export interface Observed extends Pick<Observation, "appliance" | "sinceMs"> {
  readonly changes: readonly FleetChange[];
}

/** A subject that is in another state than before. */
export interface Happening {
  readonly subject: Subject;
  /** The trouble that began; `undefined` if the subject is in no trouble that is reported. */
  readonly kind: IncidentKind | undefined;
  /** The words in front of and behind the names of the subjects. */
  readonly words: Words;
}

type Verdict = Omit<ClusterVerdict, "incidents">;
type Kinds = ReadonlyMap<string, IncidentKind | undefined>;

/**
 * Returns what has happened between two verdicts about one cluster, except for failovers. A website that is down when it is first seen is
 * no news. With `restoring`, missing subjects may not have been polled yet; in the end, trouble that is no longer as it was reported is
 * over.
 */
export function happeningsBetween({
  before,
  now,
  at: { monotonicMs: nowMs },
  observed,
  restoring,
}: {
  readonly before: ClusterVerdict | undefined;
  readonly now: Verdict;
  readonly at: Instant;
  readonly observed: Observed | undefined;
  readonly restoring: Case["restoring"];
}): readonly Happening[] {
  const gone = restoring !== undefined || before === undefined ? [] : goneSubjects(before, now);
  const others =
    restoring === "last" && before !== undefined ? othersIn(before.incidents.all, kindsIn(now)) : [];
  return [
    ...[...gone, ...others].map(over),
    ...clusterHappenings(before, now),
    ...applianceHappenings(before, now),
    ...groupHappenings(before, now),
    ...websiteHappenings(before, now, nowMs),
    ...(observed === undefined ? [] : interfaceHappenings(observed, now.facts.groups.length === 0)),
  ];
}

/** Returns the appliances, groups and websites that existed before and are gone now. */
function goneSubjects(before: Verdict, now: Verdict): readonly Subject[] {
  const appliances = missing(before.appliances, now.appliances).map(({ identity }) => identity.appliance);
  const groups = missing(before.groups, now.groups);
  const lost = changed(now.websites, before.websites).flatMap(({ key, website, states }) => {
    const left = now.websites.get(key)?.states ?? [];
    const protocols = states.filter((each) => left.every(({ protocol }) => protocol !== each.protocol));
    return protocols.map(({ protocol }) => websiteSubject(key, website, protocol));
  });
  return [...appliances.map(applianceSubject), ...groups.map(groupSubject), ...lost];
}

/** Returns the subjects of incidents that are no longer in this trouble, or are gone. */
function othersIn(incidents: readonly Incident[], kinds: Kinds): readonly Subject[] {
  return incidents
    .filter((each) => !isOdd(each))
    .flatMap(({ kind, open }) =>
      [...open].flatMap((key) => (kinds.get(key) === kind ? [] : { key, name: "" })),
    );
}

/** Returns the trouble of each subject except interfaces. */
function kindsIn(now: Verdict): Kinds {
  const websites = [...now.websites.values()].flatMap(({ key, website, states }) =>
    states.map(({ protocol, shown }) => {
      const { kind } = shown === undefined ? NO_TROUBLE : WEBSITE_TROUBLES[shown];
      return [websiteSubject(key, website, protocol).key, kind] as const;
    }),
  );
  const groups = Array.from(now.groups.values(), (group) => {
    const kind = group.trouble && PROBLEM_OF.group[group.trouble];
    return [groupSubject(group).key, kind] as const;
  });
  const others = [...clusterHappenings(undefined, now), ...applianceHappenings(undefined, now)];
  return new Map([
    ...websites,
    ...groups,
    ...others.map(({ subject, kind }) => [subject.key, kind] as const),
  ]);
}

const NO_WORDS: Words = ["", ""];
const over = (subject: Subject): Happening => ({ subject, kind: undefined, words: NO_WORDS });

/** Returns the items of `now` that are not the same objects as before. */
function changed<Of>(
  before: ReadonlyMap<string, Of> | undefined,
  now: ReadonlyMap<string, Of>,
): readonly Of[] {
  const items: Of[] = [];
  if (before !== now) for (const [key, each] of now) if (before?.get(key) !== each) items.push(each);
  return items;
}

function missing<Of>(before: ReadonlyMap<string, Of>, now: ReadonlyMap<string, Of>): readonly Of[] {
  return before === now ? [] : [...before].flatMap(([key, each]) => (now.has(key) ? [] : [each]));
}

function clusterHappenings(before: Verdict | undefined, { facts, state }: Verdict): readonly Happening[] {
  if (before?.state === state || state === undefined) return [];
  const names = facts.appliances.map(({ identity }) => identity.appliance);
  const subject = { key: "cluster", name: facts.cluster };
  const words: Words =
    names.length === 1
      ? ["", " could not be reached"]
      : ["No appliance of ", ` could be reached: neither ${names.join(" nor ")}`];
  return [{ subject, kind: PROBLEM_OF.cluster[state], words }];
}

const applianceSubject = (name: string): Subject => ({ key: `appliance ${name}`, name });

function applianceHappenings(before: Verdict | undefined, now: Verdict): readonly Happening[] {
  if (before?.appliances === now.appliances) return [];
  return now.facts.appliances.flatMap(({ identity: { appliance }, vrrp }): readonly Happening[] => {
    const state = now.appliances.get(appliance)?.state;
    if (state === undefined || state === before?.appliances.get(appliance)?.state) return [];
    const why = reasonInWords(vrrp.health.failure?.reason ?? "internal");
    const words: Words = ["", state === "down" ? ` went down: ${why}` : ` could not be polled: ${why}`];
    // If an appliance stands alone, its cluster is dark, which is the reported trouble.
    const kind =
      state === "down" && now.state === "dark" && now.appliances.size === 1
        ? undefined
        : PROBLEM_OF.appliance[state];
    return [{ subject: applianceSubject(appliance), kind, words }];
  });
}

const groupSubject = ({ facts }: GroupVerdict): Subject => ({
  key: `group ${facts.key}`,
  name: groupName(facts),
});

function groupHappenings(before: Verdict | undefined, now: Verdict): readonly Happening[] {
  return changed(before?.groups, now.groups).flatMap((group): readonly Happening[] => {
    const old = before?.groups.get(group.facts.key);
    const { trouble } = group;
    if (old?.trouble === trouble) return [];
    if (old === undefined && trouble === "no_backup") return [];
    const subject = groupSubject(group);
    return trouble === undefined
      ? [over(subject)]
      : [{ subject, kind: PROBLEM_OF.group[trouble], words: TROUBLE_WORDS[trouble](group) }];
  });
}

const TROUBLE_WORDS: Readonly<Record<Trouble, (group: GroupVerdict) => Words>> = {
  split_brain: ({ facts }) => [`Split brain: ${listed(facts.mastersAtOnce)} were MASTER at once of `, ""],
  no_master: () => ["No appliance was MASTER of ", ""],
  no_backup: ({ master = "" }) => [`No appliance was BACKUP beside ${master} of `, ""],
};

const NO_TROUBLE = { kind: undefined, words: NO_WORDS } as const;

/**
 * The troubles of websites. A website that is down at some members only still serves its visitors, so on the way down and up that state is
 * no trouble of its own.
 */
const WEBSITE_TROUBLES: Readonly<Record<WebsiteState, Omit<Happening, "subject">>> = {
  up: NO_TROUBLE,
  partially_down: NO_TROUBLE,
  unstable: { kind: "website_unstable", words: ["Some tests failed: website ", ""] },
  down_at_master: { kind: "website_down", words: ["Down at the master: website ", ""] },
  down: { kind: "website_down", words: ["Down: website ", ""] },
  unknown: { kind: "website_unknown", words: ["Not known to be up: website ", ""] },
};

function websiteHappenings(before: Verdict | undefined, now: Verdict, nowMs: number): readonly Happening[] {
  if (before === undefined) return [];
  return changed(before.websites, now.websites).flatMap(({ key, website, states }) => {
    const old = before.websites.get(key);
    return states.flatMap(({ protocol, shown }): readonly Happening[] => {
      const known = old?.states.find((each) => each.protocol === protocol)?.shown;
      if (known === undefined || shown === undefined || known === shown) return [];
      const lastUp = lastUpAt(key, protocol, { before, now, nowMs });
      const subject = { ...websiteSubject(key, website, protocol), lastUp };
      return [{ subject, ...WEBSITE_TROUBLES[shown] }];
    });
  });
}

function websiteSubject(address: string, website: string, protocol: string): Subject {
  const name = `${website}${protocol === "" ? "" : ` (${protocol})`}`;
  return { key: `website ${protocol} ${address}`, name, website: { address, protocol } };
}

const websitesByKey = once(
  (websites: ClusterSnapshot["websites"]) => new Map(websites.map((each) => [each.key, each])),
);

/**
 * Returns when visitors last reached a website, by the tests of the appliances that were MASTER until now and of those that are MASTER now;
 * without groups, by the tests of all appliances. The latest instant counts at which all of them found the website up, or at which each
 * former MASTER was still MASTER and found it up.
 */
function lastUpAt(
  key: string,
  protocol: string,
  { before, now, nowMs }: { readonly before: Verdict; readonly now: Verdict; readonly nowMs: number },
): Subject["lastUp"] {
  const { facts } = now;
  const website = websitesByKey(facts.websites).get(key);
  if (website === undefined) return undefined;
  const tests = website.at.map(({ member, test }) => {
    const { identity, websites } = facts.appliances[member] ?? {};
    const up = websites?.[test]?.lastUp.find((each) => each.protocol === protocol);
    return { name: identity?.appliance ?? "", up };
  });
  const [old = tests, current = old] = [before, now].map(({ groups }) => {
    const masters = visitedIn(groups)(website);
    return masters.length === 0 ? tests : tests.filter(({ name }) => masters.includes(name));
  });
  // The former MASTER may never have found the website up.
  const servers = old.some(({ up }) => up !== undefined) ? old : current;
  const served = servers.flatMap(({ name, up }) =>
    up === undefined ? [] : Math.min(up.sentMs, handedOverMs(name, before, now)),
  );
  if (served.length === 0) return undefined;
  const anywhere = [...old, ...current].map(({ up }) => up?.sentMs ?? Number.NEGATIVE_INFINITY);
  const sentMs = Math.max(Math.min(...served), Math.min(...anywhere));
  const untilMs = Math.min(nowMs, ...servers.flatMap(({ up }) => up?.doubtedMs ?? []));
  return { sentMs, aboutMs: (sentMs + untilMs) / 2 };
}

/**
 * Returns the earliest instant at which an appliance may have handed over groups: its latest answer as MASTER. Infinite if it handed over
 * none.
 */
function handedOverMs(name: string, before: Verdict, { facts, groups }: Verdict): number {
  const polled = facts.appliances.find(({ identity }) => identity.appliance === name)?.vrrp.polled;
  const sent = [...groups].flatMap(([key, group]) => {
    const wasMaster = before.groups.get(key)?.latestMaster === name;
    if (!wasMaster || membersIn(group.facts, "master").every((master) => master === name)) return [];
    const { course = [] } = group.facts.members.find(({ appliance }) => appliance === name) ?? {};
    const run = course.findLast(({ role }) => role === "master");
    return run === undefined ? [] : lastPoll({ course, polled }, run).sentMs;
  });
  return Math.min(...sent);
}

/** Returns changes to states that are neither MASTER nor BACKUP; all changes of an appliance without groups. */
function interfaceHappenings({ appliance, changes }: Observed, isAlone: boolean): readonly Happening[] {
  return changes.flatMap((change): readonly Happening[] => {
    if (change.kind !== "vrrp_state") return [];
    const { interface: name, from, to } = change;
    const subject = interfaceSubject(appliance, { name, ...change });
    if (!isServing(to))
      return [
        { subject, kind: interfaceProblem(to, isAlone), words: [`${appliance} reported ${to} on `, ""] },
      ];
    if (!isAlone || !isServing(from)) return [];
    return [{ subject, kind: "vrrp_state", words: [`${appliance} became ${to} after ${from} on `, ""] }];
  });
}

function interfaceSubject(
  appliance: string,
  at: { readonly name: string; readonly vhid: number; readonly vip: string },
): Subject {
  const { vhid, vip } = at;
  const name = `${at.name}, ${groupName({ vhid, vip })}`;
  return { key: `interface ${appliance} ${name}`, name };
}

/** Whether an incident is about interfaces. */
export function isOdd({ kind }: Incident): boolean {
  return kind === "odd_state" || kind === "not_serving";
}

/** Returns the keys of interfaces in these incidents that are still in such a state, or whose appliance's list is not known. */
export function oddKeys({ facts }: Verdict, incidents: readonly Incident[]): ReadonlySet<string> {
  if (incidents.length === 0) return new Set();
  const listless = facts.appliances.filter(({ vrrp }) => vrrp.found === undefined);
  const prefixes = listless.map(({ identity }) => `interface ${identity.appliance} `);
  const known = incidents.flatMap(({ open }) => [...open]);
  return new Set([
    ...facts.appliances.flatMap(({ identity, vrrp }) =>
      oddInterfaces(vrrp).map(({ reported }) => interfaceSubject(identity.appliance, reported).key),
    ),
    ...known.filter((key) => prefixes.some((prefix) => key.startsWith(prefix))),
  ]);
}
