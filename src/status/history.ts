import type { FleetChange } from "../fleet/changes.ts";
import type { ClusterSnapshot, FleetSnapshot, GroupSnapshot, Identity, Section } from "../fleet/snapshot.ts";
import { groupKey } from "../fleet/mastery.ts";
import { changeEvent, isBetweenGoodStates, type Subject } from "./change-event.ts";
import { withEvent, type Gathering, type LoggedEvent } from "./event-log.ts";
import { afterChanges, flappingIn, type Flap } from "./flapping.ts";
import {
  afterReport,
  goneGroups,
  reportedGroups,
  type GroupRef,
  type Presence,
  type Presences,
} from "./presence.ts";
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
  const memories = new Map<string, ReadonlyMap<string, GroupMemory>>();
  /** Of each appliance, the operations whose failing was told of, by website. */
  const failing = new Map<string, Set<string | undefined>>();

  function add(event: FleetEvent, gathering?: Gathering): void {
    events = withEvent(events, { event, gathering }, maxEvents);
  }

  function lookAt({ cluster, groups }: ClusterSnapshot, atMs: number): void {
    const before = memories.get(cluster);
    const after = new Map<string, GroupMemory>();
    for (const group of groups) {
      const { memory, event } = lookAtGroup(before?.get(groupKey(group)), group, atMs);
      if (memory !== undefined) after.set(groupKey(group), memory);
      if (event !== undefined) {
        const { atMs: sinceMs, ...told } = event;
        add({ at: instantOf(sinceMs), ...told, cluster });
      }
    }
    memories.set(cluster, after);
  }

  function report({ cluster }: Identity, groups: readonly GroupRef[], at: Moment): void {
    const before = presences.get(cluster) ?? new Map<string, Presence>();
    const after = afterReport(before, groups, at);
    presences.set(cluster, after);
    for (const [key, group] of after) {
      const event = presenceEvent(before.get(key), group);
      if (event !== undefined) add({ at: instantOf(at.wallMs), ...event, cluster });
    }
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
      for (const change of changes) {
        // What happens to an interface of a group is told of the group.
        if (cluster !== undefined && change.kind === "vrrp_state" && isBetweenGoodStates(change)) continue;
        const told = changeEvent(subject, change);
        if (told === undefined || !isNews(subject, change.kind)) continue;
        const { gathering, ...event } = told;
        add({ at: instantOf(at.wallMs), ...event, ...where }, gathering);
      }
      if (cluster !== undefined) lookAt(cluster, at.wallMs);
      flaps = afterChanges(flaps, identity, changes, at);
      const groups = reportedGroups(sections);
      if (groups !== undefined) report(identity, groups, at);
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
    memoryOf: (cluster, group) => memories.get(cluster)?.get(groupKey(group)),
    look: (clusters, atMs) => {
      for (const cluster of clusters) lookAt(cluster, atMs);
    },
    recall: (nowMs) => ({ vanished: vanishedIn(presences, nowMs), flapping: flappingIn(flaps, nowMs) }),
  };
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
