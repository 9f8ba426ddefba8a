import { createTask, parse } from "node-cron";
import type { MaintenanceConfig } from "../config/config.ts";
import { once } from "../support/kept.ts";
import { createTimeFormat } from "../support/time-zone.ts";

/** A time at which a recurring window runs: Unix times in milliseconds. */
export interface Occurrence {
  readonly beginMs: number;
  readonly endMs: number;
}

const DAY_MS = 86_400_000;
/** An occurrence is current until this time after its end. */
const REMEMBERED_MS = 300_000;
/** The number of days in which the next occurrence is searched for. */
const MAX_DAYS = 400;

/** Returns the latest occurrence that has begun, unless it ended more than five minutes ago. */
export function currentOf(entry: MaintenanceConfig, nowMs: number): Occurrence | undefined {
  const begun = [...beginsFrom(entry, nowMs - 3 * DAY_MS, 5)].findLast((beginMs) => beginMs <= nowMs);
  return begun === undefined || begun + entry.durationMs + REMEMBERED_MS < nowMs
    ? undefined
    : occurrence(entry, begun);
}

/** Returns the first occurrence that has not begun; `undefined` if there is none within a year. */
export function nextOf(entry: MaintenanceConfig, nowMs: number): Occurrence | undefined {
  for (const beginMs of beginsFrom(entry, nowMs - DAY_MS, MAX_DAYS))
    if (beginMs > nowMs) return occurrence(entry, beginMs);
  return undefined;
}

function occurrence({ durationMs }: MaintenanceConfig, beginMs: number): Occurrence {
  return { beginMs, endMs: beginMs + durationMs };
}

/** Returns the begins on the day of an instant, and on the days that follow. */
function* beginsFrom(entry: MaintenanceConfig, fromMs: number, days: number): Generator<number, void> {
  const { timesMs, isOn, localMs } = scheduleOf(entry);
  const firstMs = Math.floor(localMs(fromMs) / DAY_MS) * DAY_MS;
  for (let nth = 0; nth < days; nth += 1) {
    const dayMs = firstMs + nth * DAY_MS;
    if (isOn(dayMs)) for (const timeMs of timesMs) yield instantOf(localMs, dayMs + timeMs);
  }
}

/**
 * Returns the instant at which the clocks of a time zone show a time. If the clocks show it twice, the first instant counts. If they skip
 * it, the instant is the one without the clock change. @see RFC 5545, 3.3.5
 */
function instantOf(localMs: (ms: number) => number, shownMs: number): number {
  const [before = 0, after = 0] = [shownMs - DAY_MS, shownMs + DAY_MS].map(
    (ms) => shownMs - localMs(ms) + ms,
  );
  return localMs(before) !== shownMs && localMs(after) === shownMs ? after : before;
}

/** The schedule in local times, which are as if the clocks showed UTC: these have no gap, and every day has 24 hours. */
const scheduleOf = once(({ schedule, timezone }: MaintenanceConfig) => {
  const { hour, minute, second } = parse(schedule);
  const minutes = hour.flatMap((h) => minute.map((m) => h * 60 + m));
  const timesMs = minutes.flatMap((m) => second.map((s) => (m * 60 + s) * 1000)).toSorted((a, b) => a - b);
  const task = createTask(schedule, () => undefined, { timezone: "UTC" });
  // The task runs nothing, and a destroyed task still matches.
  void task.destroy();
  const format = createTimeFormat(timezone);
  return {
    timesMs,
    isOn: (dayMs: number) => task.match(new Date(dayMs + (timesMs[0] ?? 0))),
    localMs: (ms: number) => Date.parse(`${format(ms).slice(0, "2026-10-25 02:30:00".length)}Z`),
  };
});
