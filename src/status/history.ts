import type { FleetChange } from "../fleet/changes.ts";
import type { ClusterSnapshot, GroupSnapshot, Identity, Section } from "../fleet/snapshot.ts";
import { changeEvent } from "./change-event.ts";
import { lookAtGroup, type GroupMemory } from "./group-history.ts";
import type { FleetEvent } from "./schema.ts";
import { instantOf } from "./words.ts";

/** Events kept; the oldest go first. */
const MAX_EVENTS = 200;

/** What has happened to the fleet since the exporter started: bounded, in memory. */
export interface History {
  /** Takes in what an observation, completed at the Unix time `atMs`, has changed, and the sections that it made anew. */
  record(changes: readonly FleetChange[], sections: readonly Section[], atMs: number): void;
  /** Forgets the groups of clusters that are gone. */
  keep(clusters: readonly Pick<ClusterSnapshot, "cluster">[]): void;
  /** Latest first. */
  events(): readonly FleetEvent[];
  /** When the group's masters last changed, Unix time in milliseconds. */
  changedAtMs(cluster: string, group: GroupSnapshot): number | undefined;
}

export function createHistory(maxEvents: number = MAX_EVENTS): History {
  let events: readonly FleetEvent[] = [];
  const memories = new Map<string, ReadonlyMap<string, GroupMemory>>();

  function add(event: FleetEvent): void {
    events = [event, ...events].slice(0, maxEvents);
  }

  function lookAt({ cluster, groups }: ClusterSnapshot, atMs: number): void {
    const before = memories.get(cluster);
    const after = new Map<string, GroupMemory>();
    for (const group of groups) {
      const { memory, event } = lookAtGroup(before?.get(groupKey(group)), group, atMs);
      if (memory !== undefined) after.set(groupKey(group), memory);
      if (event !== undefined) add({ at: instantOf(atMs), ...event, cluster });
    }
    memories.set(cluster, after);
  }

  return {
    record: (changes, sections, atMs) => {
      const identity = identityOf(sections);
      if (identity === undefined) return;
      const cluster = sections.find((section) => section.kind === "cluster");
      const website = sections.find((section) => section.kind === "website_test")?.website;
      const subject = { appliance: identity.appliance, website };
      const where = { cluster: identity.cluster, appliance: identity.appliance };
      for (const change of changes) {
        // What happens to an interface of a group is told of the group.
        if (change.kind === "vrrp_state" && cluster !== undefined) continue;
        const event = changeEvent(subject, change);
        if (event !== undefined) add({ at: instantOf(atMs), ...event, ...where });
      }
      if (cluster !== undefined) lookAt(cluster, atMs);
    },
    keep: (clusters) => {
      const kept = new Set(clusters.map(({ cluster }) => cluster));
      for (const cluster of memories.keys()) if (!kept.has(cluster)) memories.delete(cluster);
    },
    events: () => events,
    changedAtMs: (cluster, group) => memories.get(cluster)?.get(groupKey(group))?.changedAtMs,
  };
}

function identityOf(sections: readonly Section[]): Identity | undefined {
  for (const section of sections) if (section.kind !== "cluster") return section.identity;
  return undefined;
}

function groupKey({ vhid, vip }: GroupSnapshot): string {
  return `${vhid} ${vip}`;
}
