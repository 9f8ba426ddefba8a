import type { FleetChange } from "../fleet/changes.ts";
import type { ClusterSnapshot, FleetSnapshot, GroupSnapshot, Identity, Section } from "../fleet/snapshot.ts";
import { changeEvent, isBetweenGoodStates, type Subject } from "./change-event.ts";
import { withEvent, type LoggedEvent } from "./event-log.ts";
import { afterChanges, flappingIn, type Flap } from "./flapping.ts";
import { afterReport, goneGroups, reportedGroups, type Presence, type Presences } from "./presence.ts";
import type { Moment } from "./moment.ts";
import type { Recalled } from "./problems/recalled.ts";
import { lookAtGroup, type GroupMemory } from "./group-history.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, instantOf } from "./words.ts";

/** Events kept. */
const MAX_EVENTS = 200;

/** What has happened to the fleet since the exporter started: bounded, in memory. */
export interface History {
  /** Takes in what an observation, completed at `at`, has changed, and the sections that it made anew. */
  record(changes: readonly FleetChange[], sections: readonly Section[], at: Moment): void;
  /** Forgets clusters and appliances that are not there, and which groups were reported: another configuration may ask others. */
  keep(there: FleetSnapshot): void;
  /** Latest first. */
  events(): readonly FleetEvent[];
  /** What is remembered of a group. */
  memoryOf(cluster: string, group: GroupSnapshot): GroupMemory | undefined;
  /** Takes in what is true of these at the Unix time `atMs`: time alone may end a change. */
  look(clusters: readonly ClusterSnapshot[], atMs: number): void;
  /** What is wrong at the monotonic instant `nowMs` by what was before. */
  recall(nowMs: number): Recalled;
}

export function createHistory(maxEvents: number = MAX_EVENTS): History {
  let events: readonly LoggedEvent[] = [];
  let flaps: readonly Flap[] = [];
  const presences = new Map<string, Presences>();
  const memories = new Map<string, ClusterMemory>();
  /** Of each appliance, the operations whose failing was told of, by website. */
  const failing = new Map<string, Set<string | undefined>>();

  function add(fresh: readonly LoggedEvent[]): void {
    for (const logged of bounded(fresh)) events = withEvent(events, logged, maxEvents);
  }

  function lookAt({ cluster, groups }: ClusterSnapshot, atMs: number): readonly LoggedEvent[] {
    const known = memories.get(cluster) ?? { groups: [], byKey: new Map<string, GroupMemory>() };
    const { byKey } = known;
    memories.set(cluster, { groups, byKey });
    const fresh: LoggedEvent[] = [];
    groups.forEach((group, index) => {
      if (group === known.groups[index] && !isTimed(group)) return;
      const { memory, event } = lookAtGroup(byKey.get(group.key), group, atMs);
      if (memory !== undefined) byKey.set(group.key, memory);
      if (event !== undefined) {
        const { atMs: sinceMs, ...told } = event;
        fresh.push({ event: { at: instantOf(sinceMs), ...told, cluster }, gathering: undefined });
      }
    });
    if (byKey.size > groups.length) {
      const present = new Set(groups.map(({ key }) => key));
      for (const key of byKey.keys()) if (!present.has(key)) byKey.delete(key);
    }
    return fresh;
  }

  function report(
    { cluster }: Identity,
    groups: Parameters<typeof afterReport>[1],
    at: Moment,
  ): readonly LoggedEvent[] {
    const before = presences.get(cluster) ?? new Map<string, Presence>();
    const after = afterReport(before, groups, at);
    if (after === before) return [];
    presences.set(cluster, after);
    const fresh: LoggedEvent[] = [];
    for (const [key, group] of after) {
      const event = presenceEvent(before.get(key), group);
      if (event !== undefined)
        fresh.push({ event: { at: instantOf(at.wallMs), ...event, cluster }, gathering: undefined });
    }
    return fresh;
  }

  /** An end is told of what was told to have begun. */
  function isNews({ appliance, website }: Subject, kind: FleetChange["kind"]): boolean {
    const told = failing.get(appliance) ?? new Set();
    if (kind === "failing") failing.set(appliance, told.add(website));
    return kind !== "recovered" || told.delete(website);
  }

  return {
    record: (changes, sections, at) => {
      const identity = identityOf(sections);
      if (identity === undefined) return;
      const cluster = sections.find((section) => section.kind === "cluster");
      const website = sections.find((section) => section.kind === "website_test")?.website;
      const subject = { appliance: identity.appliance, website };
      const where = { cluster: identity.cluster, appliance: identity.appliance };
      const fresh: LoggedEvent[] = [];
      for (const change of changes) {
        // What happens to an interface of a group is told of the group.
        if (cluster !== undefined && change.kind === "vrrp_state" && isBetweenGoodStates(change)) continue;
        const told = changeEvent(subject, change);
        if (told === undefined || !isNews(subject, change.kind)) continue;
        const { gathering, ...event } = told;
        fresh.push({ event: { at: instantOf(at.wallMs), ...event, ...where }, gathering });
      }
      if (cluster !== undefined) fresh.push(...lookAt(cluster, at.wallMs));
      flaps = afterChanges(flaps, identity, changes, at);
      const groups = reportedGroups(sections);
      if (groups !== undefined) fresh.push(...report(identity, groups, at));
      add(fresh);
    },
    keep: ({ clusters, appliances }) => {
      const kept = new Set(clusters.map(({ cluster }) => cluster));
      for (const cluster of memories.keys()) if (!kept.has(cluster)) memories.delete(cluster);
      const names = new Set(appliances.map(({ identity }) => identity.appliance));
      flaps = flaps.filter(({ appliance }) => names.has(appliance));
      for (const appliance of failing.keys()) if (!names.has(appliance)) failing.delete(appliance);
      presences.clear();
    },
    events: () => events.map(({ event }) => event),
    memoryOf: (cluster, group) => memories.get(cluster)?.byKey.get(group.key),
    look: (clusters, atMs) => {
      for (const cluster of clusters) add(lookAt(cluster, atMs));
    },
    recall: (nowMs) => ({ vanished: vanishedIn(presences, nowMs), flapping: flappingIn(flaps, nowMs) }),
  };
}

/** The groups of a cluster as they were last looked at, and what is remembered of them. */
interface ClusterMemory {
  readonly groups: readonly GroupSnapshot[];
  readonly byKey: Map<string, GroupMemory>;
}

/** Whether time alone can change what a look at the group finds, as it can while its master may be unknown. */
function isTimed({ members }: GroupSnapshot): boolean {
  for (const { role } of members) if (role === "unknown") return true;
  return false;
}

/** Events of one kind and one poll; another one counts the rest. */
const MAX_ALIKE = 20;

function bounded(fresh: readonly LoggedEvent[]): readonly LoggedEvent[] {
  if (fresh.length <= MAX_ALIKE) return fresh;
  const byKind = new Map<FleetEvent["kind"], LoggedEvent[]>();
  for (const logged of fresh) {
    const alike = byKind.get(logged.event.kind);
    if (alike === undefined) byKind.set(logged.event.kind, [logged]);
    else alike.push(logged);
  }
  return [...byKind.values()].flatMap((alike) => {
    const [next] = alike.slice(MAX_ALIKE);
    if (next === undefined) return alike;
    const count = alike.length - MAX_ALIKE;
    const summary = `${count} more of this kind at the same time`;
    return [...alike.slice(0, MAX_ALIKE), { event: { ...next.event, summary }, gathering: undefined }];
  });
}

function presenceEvent(
  before: Presence | undefined,
  now: Presence,
): Pick<FleetEvent, "kind" | "summary"> | undefined {
  if (before === undefined || (before.goneAt === undefined) === (now.goneAt === undefined)) {
    return undefined;
  }
  return now.goneAt === undefined
    ? { kind: "recovery", summary: `${groupName(now)} is reported again` }
    : { kind: "outage", summary: `${groupName(now)} is not reported any more by any appliance` };
}

function vanishedIn(presences: ReadonlyMap<string, Presences>, nowMs: number): Recalled["vanished"] {
  return [...presences].flatMap(([cluster, groups]) =>
    goneGroups(groups, nowMs).map((group) => ({ cluster, ...group })),
  );
}

function identityOf(sections: readonly Section[]): Identity | undefined {
  for (const section of sections) if (section.kind !== "cluster") return section.identity;
  return undefined;
}
