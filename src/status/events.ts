import { groupBy } from "../support/group-by.ts";
import type { FleetChange } from "../fleet/changes.ts";
import type { PollHealth } from "../fleet/snapshot.ts";
import {
  type ApplianceVerdict,
  type ClusterVerdict,
  type GroupVerdict,
  type Instant,
  type Judged,
} from "./verdict.ts";
import { isServing } from "./judge-appliance.ts";
import type { FleetEvent } from "./schema.ts";
import type { WebsiteState } from "./states.ts";
import { listed } from "../support/text.ts";
import { groupName, groupWords, instantOf, reasonInWords, shortened, type Words } from "./words.ts";

const MAX_EVENTS = 200;
/** Equal changes of several groups or websites within this time are one event. */
const TOGETHER_MS = 10_000;
/** An event names so many subjects, and counts the others. */
const NAMED = 24;

/** The events of the fleet since the exporter started; bounded, in memory. */
export interface Events {
  /** Records how the verdicts about a cluster have changed, and what an observation of an appliance did; returns what is new. */
  add(judged: Judged, at: Instant, observed?: Observed): readonly FleetEvent[];
  /** The latest one is the first. */
  list(): readonly FleetEvent[];
}

/** An observation of an appliance has made these changes. */
export interface Observed {
  readonly appliance: string;
  readonly changes: readonly FleetChange[];
}

/** Something that happens to one subject: a group, a website or an appliance. */
interface Happening extends Pick<FleetEvent, "kind"> {
  readonly subject: string;
  readonly words: Words;
}

/** A change that several subjects have in common. */
interface Entry extends Pick<Happening, "kind" | "words"> {
  readonly at: Instant;
  readonly cluster: string;
  /** The first 24; `count` counts all. */
  readonly subjects: readonly string[];
  readonly count: number;
}

export function createEvents(maxEvents: number = MAX_EVENTS): Events {
  let entries: readonly Entry[] = [];
  return {
    add: ({ before, now }, at, observed) => {
      const { cluster, groups } = now.facts;
      const happenings = [
        ...(before === now ? [] : happeningsOf(before, now)),
        ...(observed === undefined ? [] : interfaceHappenings(observed, groups.length === 0)),
      ];
      const alike = groupBy(happenings, ({ kind, words }) => JSON.stringify([kind, words]));
      const added = [...alike.values()].flatMap((all) =>
        all.slice(0, 1).map(({ kind, words }): Entry => {
          const subjects = all.slice(0, NAMED).map(({ subject }) => subject);
          return { at, cluster, kind, words, subjects, count: all.length };
        }),
      );
      for (const entry of added) entries = bounded(joined(entries, entry), maxEvents);
      return added.map(eventOf);
    },
    list: () => entries.map(eventOf),
  };
}

/** With one more entry, or with its subjects in one that says the same of others and is at most ten seconds old. */
function joined(entries: readonly Entry[], entry: Entry): readonly Entry[] {
  const { at, cluster, kind, words, subjects, count } = entry;
  const place = entries.findIndex(
    (one) =>
      one.cluster === cluster &&
      one.kind === kind &&
      one.words.join("\n") === words.join("\n") &&
      at.monotonicMs - one.at.monotonicMs < TOGETHER_MS &&
      !subjects.some((subject) => one.subjects.includes(subject)),
  );
  const known = entries[place];
  if (known === undefined) return [entry, ...entries];
  const all = [...known.subjects, ...subjects].slice(0, NAMED);
  return entries.with(place, { ...known, subjects: all, count: known.count + count });
}

function eventOf({ at, cluster, kind, words, subjects, count }: Entry): FleetEvent {
  const summary = shortened(words.join(listed(subjects, NAMED, count)));
  return { at: instantOf(at.wallMs), kind, summary, cluster };
}

/** The cluster with the most events loses its oldest, so that one cluster cannot displace the events of all others. */
function bounded(entries: readonly Entry[], maxEvents: number): readonly Entry[] {
  if (entries.length <= maxEvents) return entries;
  const byCluster = [...groupBy(entries, ({ cluster }) => cluster).values()];
  const most = Math.max(...byCluster.map(({ length }) => length));
  const last = byCluster.find(({ length }) => length === most)?.at(-1);
  return entries.filter((entry) => entry !== last);
}

function happening(
  kind: FleetEvent["kind"],
  subject: string,
  before: string,
  after = "",
): readonly Happening[] {
  return [{ kind, subject, words: [before, after] }];
}

/** Returns what has happened between two verdicts about one cluster. */
function happeningsOf(before: ClusterVerdict | undefined, now: ClusterVerdict): readonly Happening[] {
  // Most polls change no group.
  const groups = before?.groups === now.groups ? [] : [...now.groups];
  return [
    ...now.facts.appliances.flatMap(({ identity: { appliance }, vrrp }) =>
      applianceHappenings(before?.appliances.get(appliance), now.appliances.get(appliance), vrrp.health),
    ),
    ...groups.flatMap(([key, group]) => {
      const old = before?.groups.get(key);
      return old === group ? [] : [...masterChange(old, group), ...troubleChange(old, group)];
    }),
    ...websiteHappenings(before, now),
  ];
}

function applianceHappenings(
  old: ApplianceVerdict | undefined,
  now: ApplianceVerdict | undefined,
  { failure }: PollHealth,
): readonly Happening[] {
  if (now === undefined || now.state === old?.state) return [];
  const subject = now.identity.appliance;
  if (failure !== undefined)
    return happening("outage", subject, "Polling of ", ` fails: ${reasonInWords(failure.reason)}`);
  return old?.state === undefined ? [] : happening("recovery", subject, "Polling of ", " works again");
}

function masterChange(
  { latestMaster, master: before, trouble }: Partial<GroupVerdict> = {},
  { master, facts }: GroupVerdict,
): readonly Happening[] {
  if (master === undefined || master === before) return [];
  const ended = trouble === "split_brain" ? "Split brain ended: " : "";
  if (latestMaster !== undefined && latestMaster !== master)
    return happening("failover", groupName(facts), `${ended}${master} took over `, ` from ${latestMaster}`);
  if (trouble !== "split_brain" && trouble !== "no_master") return [];
  return happening("recovery", groupName(facts), `${ended}${master} is MASTER of `);
}

function troubleChange(old: GroupVerdict | undefined, now: GroupVerdict): readonly Happening[] {
  if (now.trouble === old?.trouble) return [];
  if (now.trouble === undefined)
    return old?.trouble === "no_backup" && now.state === "one_master"
      ? happening("recovery", groupName(now.facts), "There is a BACKUP again of ")
      : [];
  if (old === undefined && now.trouble === "no_backup") return [];
  return happening("outage", groupName(now.facts), ...groupWords(now));
}

const WEBSITE_WORDS: Readonly<Record<WebsiteState, string>> = {
  up: "Up again",
  unstable: "Up, but some tests fail",
  partially_down: "Down as seen from some appliances",
  down_at_master: "Down at the master",
  down: "Down",
  unknown: "Not known whether it is up",
};

function websiteHappenings(before: ClusterVerdict | undefined, now: ClusterVerdict): readonly Happening[] {
  if (before === undefined || before.websites === now.websites) return [];
  return [...now.websites.values()].flatMap(({ key, website, states }) =>
    states.flatMap(({ protocol, shown }) => {
      const old = before.websites.get(key)?.states.find((each) => each.protocol === protocol);
      if (old?.shown === undefined || shown === undefined || old.shown === shown) return [];
      const subject = `${website}${protocol === "" ? "" : ` (${protocol})`}`;
      return happening(shown === "up" ? "recovery" : "outage", subject, `${WEBSITE_WORDS[shown]}: website `);
    }),
  );
}

/** Changes from and to states that are neither MASTER nor BACKUP; all changes of an appliance without groups. */
function interfaceHappenings({ appliance, changes }: Observed, isAlone: boolean): readonly Happening[] {
  return changes.flatMap((change) => {
    if (change.kind !== "vrrp_state") return [];
    const { interface: name, from, to } = change;
    const [wasGood, isGood] = [isServing(from), isServing(to)];
    if (wasGood && isGood && !isAlone) return [];
    const kind = isGood ? (wasGood ? "failover" : "recovery") : wasGood ? "outage" : "change";
    return happening(kind, `${name}, ${groupName(change)}`, `${appliance}: ${from} → ${to} on `);
  });
}
