import type { FleetEvent } from "./schema.ts";

/**
 * The events with one more, latest first, `maxEvents` at most: the cluster with the most of them loses its oldest, so that
 * one which flaps pushes out none of the others'.
 */
export function withEvent(
  events: readonly FleetEvent[],
  event: FleetEvent,
  maxEvents: number,
): readonly FleetEvent[] {
  const all = [event, ...events];
  if (all.length <= maxEvents) return all;
  const counts = new Map<string, number>();
  for (const { cluster } of all) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const last = all.findLastIndex(({ cluster }) => counts.get(cluster) === most);
  return all.filter((_, index) => index !== last);
}
