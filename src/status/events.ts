import type { FleetChange } from "../fleet/changes.ts";
import { membersIn, type PollHealth } from "../fleet/snapshot.ts";
import {
  hidesWebsites,
  type ApplianceVerdict,
  type ClusterVerdict,
  type GroupVerdict,
  type Judged,
  type WebsiteVerdict,
} from "./judge.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, instantOf, listed, reasonInWords } from "./words.ts";

const MAX_EVENTS = 200;
/** The same that happens to another group or website within so long is one event with it. */
const TOGETHER_MS = 10_000;
/** An event names so many subjects. */
const NAMED = 100;

/** What has happened to the fleet since the exporter started: bounded, in memory. */
export interface Events {
  /** Takes in how the verdicts about a cluster have changed at the Unix time `atMs`. */
  judged(judged: Judged, atMs: number): void;
  /** Takes in what an observation of an appliance has changed at the Unix time `atMs`. */
  changed(changes: readonly FleetChange[], cluster: ClusterVerdict, appliance: string, atMs: number): void;
  /** Latest first. */
  list(): readonly FleetEvent[];
}

/** Something that happens to one subject: a group, a website or an appliance. */
export interface Happening {
  readonly kind: FleetEvent["kind"];
  /** In front of and behind the names of all subjects to which it happens. */
  readonly words: readonly [before: string, behind: string];
  readonly subject: string;
}

type Change = Omit<Happening, "subject">;

interface Entry extends Change {
  readonly atMs: number;
  readonly cluster: string;
  readonly subjects: readonly string[];
}

export function createEvents(maxEvents: number = MAX_EVENTS): Events {
  let entries: readonly Entry[] = [];
  const add = (cluster: string, happenings: readonly Happening[], atMs: number): void => {
    for (const entry of entriesOf(cluster, happenings, atMs)) {
      const index = entries.findIndex((other) => goTogether(other, entry));
      const known = entries[index];
      entries =
        known === undefined
          ? bounded([entry, ...entries], maxEvents)
          : entries.with(index, { ...known, subjects: [...known.subjects, ...entry.subjects] });
    }
  };
  return {
    judged: ({ before, now }, atMs) => {
      if (before !== now) add(now.facts.cluster, happeningsOf(before, now), atMs);
    },
    changed: (changes, { facts }, appliance, atMs) => {
      const isAlone = facts.groups.length === 0;
      const happenings = changes.flatMap((change) => interfaceHappening(appliance, change, isAlone));
      add(facts.cluster, happenings, atMs);
    },
    list: () =>
      entries.map(({ atMs, cluster, kind, words, subjects }) => ({
        at: instantOf(atMs),
        kind,
        summary: words.join(listed(subjects, NAMED)),
        cluster,
      })),
  };
}

/** What happens alike to several subjects is one entry. */
function entriesOf(cluster: string, happenings: readonly Happening[], atMs: number): readonly Entry[] {
  const alike = new Map<string, { readonly change: Change; readonly subjects: string[] }>();
  for (const { subject, ...change } of happenings) {
    const key = JSON.stringify(change);
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { change, subjects: [subject] });
    else known.subjects.push(subject);
  }
  return Array.from(alike.values(), ({ change, subjects }) => ({ ...change, atMs, cluster, subjects }));
}

function goTogether(one: Entry, other: Entry): boolean {
  const isAlike =
    one.cluster === other.cluster &&
    one.kind === other.kind &&
    one.words.every((words, index) => words === other.words[index]) &&
    other.atMs - one.atMs < TOGETHER_MS;
  if (!isAlike) return false;
  const subjects = new Set(one.subjects);
  return !other.subjects.some((subject) => subjects.has(subject));
}

/** The cluster with the most events loses its oldest, so that one cluster cannot displace the events of all others. */
function bounded(entries: readonly Entry[], maxEvents: number): readonly Entry[] {
  if (entries.length <= maxEvents) return entries;
  const counts = new Map<string, number>();
  for (const { cluster } of entries) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const last = entries.findLastIndex(({ cluster }) => counts.get(cluster) === most);
  return entries.toSpliced(last, 1);
}

/** What has happened between two verdicts about one cluster. */
function happeningsOf(before: ClusterVerdict | undefined, now: ClusterVerdict): readonly Happening[] {
  const appliances = new Map(before?.appliances.map((each) => [each.identity.appliance, each]));
  const groups = new Map(before?.groups.map((each) => [each.facts.key, each]));
  const websites = new Map(
    before?.websites
      .filter(({ state }) => state !== "unknown" || !hidesWebsites(before))
      .map((each) => [websiteKey(each), each]),
  );
  return [
    ...now.facts.appliances.flatMap(({ vrrp }, index) =>
      applianceHappening(appliances.get(vrrp.identity.appliance), now.appliances[index], vrrp.health),
    ),
    ...now.groups.flatMap((each) => groupHappening(groups.get(each.facts.key), each)),
    ...now.websites
      .filter(({ state }) => state !== "unknown" || !hidesWebsites(now))
      .flatMap((each) => websiteHappening(websites.get(websiteKey(each)), each)),
  ];
}

function websiteKey({ websiteId, protocol }: WebsiteVerdict): string {
  return `${websiteId} ${protocol}`;
}

function applianceHappening(
  before: ApplianceVerdict | undefined,
  now: ApplianceVerdict | undefined,
  { failure }: PollHealth,
): readonly Happening[] {
  if (now === undefined || now.state === before?.state) return [];
  const subject = now.identity.appliance;
  if (failure !== undefined) {
    const words = ["Polling of ", ` fails: ${reasonInWords(failure.reason)}`] as const;
    return [{ kind: "outage", words, subject }];
  }
  return before?.state === undefined
    ? []
    : [{ kind: "recovery", words: ["Polling of ", " works again"], subject }];
}

function groupHappening(before: GroupVerdict | undefined, now: GroupVerdict): readonly Happening[] {
  if (before === now) return [];
  const subject = groupName(now.facts);
  return [...masterHappening(before, now), ...troubleHappening(before, now)].map(({ kind, words }) => {
    return { kind, words, subject };
  });
}

function masterHappening(before: GroupVerdict | undefined, { master }: GroupVerdict): readonly Change[] {
  const { latestMaster, trouble } = before ?? {};
  if (master === undefined) return [];
  const ended = trouble === "split_brain" ? "Split brain ended: " : "";
  if (latestMaster !== undefined && latestMaster !== master)
    return [{ kind: "failover", words: [`${ended}${master} took over `, ` from ${latestMaster}`] }];
  return trouble === "split_brain" || trouble === "no_master"
    ? [{ kind: "recovery", words: [`${ended}${master} is MASTER of `, ""] }]
    : [];
}

function outage(text: string): readonly Change[] {
  return [{ kind: "outage", words: [text, ""] }];
}

function troubleHappening(
  before: GroupVerdict | undefined,
  { facts, state, trouble }: GroupVerdict,
): readonly Change[] {
  if (trouble === before?.trouble) return [];
  if (trouble === "split_brain")
    return outage(`Split brain: ${listed(membersIn(facts, "master"))} are MASTER of `);
  if (trouble === "no_master") return outage("No appliance is MASTER of ");
  if (before === undefined) return [];
  if (trouble === "no_backup") return outage("No appliance is BACKUP of ");
  return before.trouble === "no_backup" && state === "one_master"
    ? [{ kind: "recovery", words: ["There is a BACKUP again of ", ""] }]
    : [];
}

const IS_DOWN: ReadonlySet<WebsiteVerdict["state"]> = new Set(["down", "down_at_master"]);

function websiteHappening(before: WebsiteVerdict | undefined, now: WebsiteVerdict): readonly Happening[] {
  if (before?.state === undefined || before.state === now.state) return [];
  const subject = `${now.website}${now.protocol === "" ? "" : ` (${now.protocol})`}`;
  const change = (kind: Happening["kind"], text: string): readonly Happening[] => {
    return [{ kind, words: [text, ""], subject }];
  };
  if (IS_DOWN.has(now.state)) return IS_DOWN.has(before.state) ? [] : change("outage", "Down: website ");
  if (now.state === "up") return change("recovery", "Up again: website ");
  return now.state === "partially_down"
    ? change("outage", "Down as seen from some appliances: website ")
    : change("outage", "Not known whether it is up: website ");
}

const GOOD_STATES: ReadonlySet<string> = new Set(["MASTER", "BACKUP"]);

/** Changes from and to states that are neither MASTER nor BACKUP; all changes of an appliance without groups. */
function interfaceHappening(appliance: string, change: FleetChange, isAlone: boolean): readonly Happening[] {
  if (change.kind !== "vrrp_state") return [];
  const { interface: name, from, to } = change;
  const [wasGood, isGood] = [GOOD_STATES.has(from), GOOD_STATES.has(to)];
  if (wasGood && isGood && !isAlone) return [];
  const kind = isGood ? (wasGood ? "failover" : "recovery") : wasGood ? "outage" : "change";
  return [
    { kind, words: [`${appliance}: ${from} → ${to} on `, ""], subject: `${name}, ${groupName(change)}` },
  ];
}
