import type { FleetEvent } from "./schema.ts";

/** What happens to many websites within so long is told once. */
const TOGETHER_MS = 10_000;

/** How an event is told together with others that differ from it by their website alone. */
export interface Gathering {
  readonly websites: readonly string[];
  readonly summary: (websites: number) => string;
}

export interface LoggedEvent {
  readonly event: FleetEvent;
  readonly gathering: Gathering | undefined;
}

/**
 * The events with one more, latest first, `maxEvents` at most: the cluster with the most of them loses its oldest, so that
 * one which flaps pushes out none of the others'. An event that goes with one before it is told there.
 */
export function withEvent(
  events: readonly LoggedEvent[],
  added: LoggedEvent,
  maxEvents: number,
): readonly LoggedEvent[] {
  const index = events.findIndex((logged) => goTogether(logged, added));
  return index < 0
    ? bounded([added, ...events], maxEvents)
    : events.map((logged, nth) => (nth === index ? together(logged, added) : logged));
}

function goTogether(before: LoggedEvent, { event, gathering }: LoggedEvent): boolean {
  if (before.gathering === undefined || gathering === undefined) return false;
  return (
    before.event.kind === event.kind &&
    before.event.cluster === event.cluster &&
    before.gathering.summary(0) === gathering.summary(0) &&
    gathering.websites.every((website) => before.gathering?.websites.includes(website) === false) &&
    Date.parse(event.at) - Date.parse(before.event.at) < TOGETHER_MS
  );
}

function together({ event, gathering }: LoggedEvent, added: LoggedEvent): LoggedEvent {
  if (gathering === undefined) return added;
  const websites = [...gathering.websites, ...(added.gathering?.websites ?? [])];
  const summary = gathering.summary(websites.length);
  return { event: { ...event, summary }, gathering: { ...gathering, websites } };
}

function bounded(events: readonly LoggedEvent[], maxEvents: number): readonly LoggedEvent[] {
  if (events.length <= maxEvents) return events;
  const counts = new Map<string, number>();
  for (const { event } of events) counts.set(event.cluster, (counts.get(event.cluster) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const last = events.findLastIndex(({ event }) => counts.get(event.cluster) === most);
  return events.filter((_, index) => index !== last);
}
