import { groupKey } from "../fleet/mastery.ts";
import type { GroupSnapshot, Section } from "../fleet/snapshot.ts";

export type GroupRef = Pick<GroupSnapshot, "vhid" | "vip">;

/** A group that was reported once. */
export interface Presence extends GroupRef {
  /** Since when nobody reports it, Unix time in milliseconds; `undefined` while somebody does. */
  readonly goneAtMs: number | undefined;
}

export type Presences = ReadonlyMap<string, Presence>;

/** What is known of groups after those `present` were reported and no others at the Unix time `atMs`. */
export function afterReport(before: Presences, present: readonly GroupRef[], atMs: number): Presences {
  const gone = [...before.values()].map(({ goneAtMs = atMs, ...group }) => ({ ...group, goneAtMs }));
  const here = present.map(({ vhid, vip }) => ({ vhid, vip, goneAtMs: undefined }));
  return new Map([...gone, ...here].map((group) => [groupKey(group), group]));
}

/**
 * The groups that a poll's sections report: those of the cluster, or of an appliance that stands alone; `undefined` where
 * they report nothing that can be relied on.
 */
export function reportedGroups(sections: readonly Section[]): readonly GroupRef[] | undefined {
  const cluster = sections.find((section) => section.kind === "cluster");
  if (cluster !== undefined) return cluster.groups;
  const list = sections.find((section) => section.kind === "vrrp")?.list;
  return list === undefined || list.anomalies.bad_interface > 0 ? undefined : list.interfaces;
}
