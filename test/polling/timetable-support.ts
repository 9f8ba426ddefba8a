import { startTimetable, type Timetable, type TimetableEntry } from "../../src/polling/timetable.ts";
import { holdClock, type HeldClock } from "./held-clock.ts";

/** The reports of a timetable. */
export interface Reports {
  readonly due: { readonly key: string; readonly dueMs: number; readonly atMs: number }[];
  readonly missed: { readonly key: string; readonly count: number }[];
  readonly jumps: number[];
}

export interface HeldTimetable {
  readonly clock: HeldClock;
  readonly timetable: Timetable;
  readonly reports: Reports;
  /** The due instants of an entry so far. */
  dueOf(key: string): readonly number[];
}

/** A timetable under a held clock. */
export function startHeldTimetable(...entries: readonly TimetableEntry[]): HeldTimetable {
  const clock = holdClock();
  const reports: Reports = { due: [], missed: [], jumps: [] };
  const timetable = startTimetable({
    clock,
    onDue: (key, dueMs) => void reports.due.push({ key, dueMs, atMs: clock.monotonicMs() }),
    onMissed: (key, count) => void reports.missed.push({ key, count }),
    onClockJump: (jumpMs) => void reports.jumps.push(jumpMs),
  });
  for (const entry of entries) timetable.put(entry);
  const dueOf = (key: string) => reports.due.filter((due) => due.key === key).map(({ dueMs }) => dueMs);
  return { clock, timetable, reports, dueOf };
}

type Given = Partial<TimetableEntry> & Pick<TimetableEntry, "key">;

export function every(intervalMs: number, given: Given): TimetableEntry {
  return entryOf({ kind: "interval", intervalMs, timeoutMs: 1_000 }, given);
}

export function scheduled(expression: string, given: Given): TimetableEntry {
  return entryOf({ kind: "schedule", expression, timeoutMs: 1_000 }, given);
}

function entryOf(timing: TimetableEntry["timing"], given: Given): TimetableEntry {
  return { subject: "https://waf.example", phaseKey: given.key, timing, ...given };
}

/** The distances between neighbours, each once. */
export function gaps(instants: readonly number[]): readonly number[] {
  return [...new Set(instants.slice(1).map((instant, index) => instant - (instants[index] ?? 0)))];
}
