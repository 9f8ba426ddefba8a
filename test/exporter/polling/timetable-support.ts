import type { OperationTiming } from "../../../src/exporter/config/config.ts";
import { startTimetable } from "../../../src/exporter/polling/timetable.ts";
import { holdClock } from "./held-clock.ts";

export interface TimetableEntry {
  readonly key: string;
  readonly phaseKey: string;
  readonly timing: OperationTiming;
}

/** A timetable under a held clock. */
export function startHeldTimetable(...entries: readonly TimetableEntry[]) {
  const clock = holdClock();
  const due: { readonly key: string; readonly dueMs: number; readonly atMs: number }[] = [];
  const missed: { readonly key: string; readonly count: number }[] = [];
  const jumps: number[] = [];
  const timetable = startTimetable<TimetableEntry>({
    clock,
    onDue: ({ key }, dueMs) => void due.push({ key, dueMs, atMs: clock.monotonicMs() }),
    onMissed: ({ key }, count) => void missed.push({ key, count }),
    onClockJump: (jumpMs) => void jumps.push(jumpMs),
    timeZone: "UTC",
  });
  for (const entry of entries) timetable.put(entry, entry.phaseKey, entry.timing);
  const dueOf = (key: string) => due.filter((each) => each.key === key).map(({ dueMs }) => dueMs);
  return { clock, timetable, reports: { due, missed, jumps }, dueOf };
}

type Given = Partial<TimetableEntry> & Pick<TimetableEntry, "key">;

export function every(intervalMs: number, given: Given): TimetableEntry {
  return entryOf({ kind: "interval", intervalMs, timeoutMs: 1_000 }, given);
}

export function scheduled(expression: string, given: Given): TimetableEntry {
  return entryOf({ kind: "schedule", expression, timeoutMs: 1_000 }, given);
}

function entryOf(timing: TimetableEntry["timing"], given: Given): TimetableEntry {
  return { phaseKey: given.key, timing, ...given };
}

/** The distances between neighbours, each once. */
export function gaps(instants: readonly number[]): readonly number[] {
  return [...new Set(instants.slice(1).map((instant, index) => instant - (instants[index] ?? 0)))];
}
