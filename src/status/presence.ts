import { groupKey, type GroupSnapshot, type Section } from "../fleet/snapshot.ts";
import type { Moment } from "./moment.ts";

/** A group that nobody reports any more is remembered for so long. */
const REMEMBERED_MS = 3_600_000;
/** Of one cluster so many are, those that went last: an appliance may report others each time. */
const MAX_GONE = 100;

export type GroupRef = Pick<GroupSnapshot, "vhid" | "vip">;
type PresentGroup = Pick<GroupSnapshot, "key" | "vhid" | "vip">;

/** A group that was reported once. */
export interface Presence extends GroupRef {
  /** Since when nobody reports it; `undefined` while somebody does. */
  readonly goneAt: Moment | undefined;
}

/** By `groupKey`; those that are gone come first, in the order in which they went. */
export type Presences = ReadonlyMap<string, Presence>;

export type GoneGroup = GroupRef & { readonly goneAt: Moment };

/** What is known of groups after those `present` were reported and no others; what has not changed is the same object. */
export function afterReport(before: Presences, present: readonly PresentGroup[], at: Moment): Presences {
  if (areAll(before, present)) return before;
  const here = new Map<string, Presence>();
  for (const { key, vhid, vip } of present) {
    const known = before.get(key);
    here.set(
      key,
      known !== undefined && known.goneAt === undefined ? known : { vhid, vip, goneAt: undefined },
    );
  }
  const gone: (readonly [string, Presence])[] = [];
  for (const [key, group] of before) {
    const { goneAt = at } = group;
    if (!here.has(key) && !isForgotten(goneAt, at.monotonicMs)) gone.push([key, { ...group, goneAt }]);
  }
  return new Map<string, Presence>([...gone.slice(-MAX_GONE), ...here]);
}

/** Whether these groups, in the same order, and no others are known. */
function areAll(before: Presences, present: readonly PresentGroup[]): boolean {
  if (before.size !== present.length) return false;
  let nth = 0;
  for (const [key, { goneAt }] of before) {
    if (goneAt !== undefined || key !== present[nth]?.key) return false;
    nth += 1;
  }
  return true;
}

/** Those that nobody reports any more and that are still remembered at the monotonic instant `nowMs`. */
export function goneGroups(presences: Presences, nowMs: number): readonly GoneGroup[] {
  return [...presences.values()].flatMap(({ goneAt, ...group }) =>
    goneAt === undefined || isForgotten(goneAt, nowMs) ? [] : [{ ...group, goneAt }],
  );
}

function isForgotten({ monotonicMs }: Moment, nowMs: number): boolean {
  return nowMs - monotonicMs >= REMEMBERED_MS;
}

/**
 * The groups that a poll's sections report: those of the cluster, or of an appliance that stands alone; `undefined` where
 * they report nothing that can be relied on.
 */
export function reportedGroups(sections: readonly Section[]): readonly PresentGroup[] | undefined {
  const cluster = sections.find((section) => section.kind === "cluster");
  if (cluster !== undefined) return cluster.groups;
  const list = sections.find((section) => section.kind === "vrrp")?.list;
  if (list === undefined || list.anomalies.bad_interface > 0) return undefined;
  return list.interfaces.map(({ vhid, vip }) => ({ key: groupKey({ vhid, vip }), vhid, vip }));
}
