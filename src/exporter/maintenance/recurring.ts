import type { MaintenanceConfig } from "../config/config.ts";
import { once } from "../../support/kept.ts";
import { createSchedule } from "../../support/schedule.ts";

/** A time at which a recurring window runs: Unix times in milliseconds. */
export interface Occurrence {
  readonly beginMs: number;
  readonly endMs: number;
}

/** An occurrence is current until this time after its end. */
const REMEMBERED_MS = 300_000;

/** Returns the latest occurrence that has begun, unless it ended more than five minutes ago. */
export function currentOf(entry: MaintenanceConfig, nowMs: number): Occurrence | undefined {
  const { durationMs } = entry;
  const beginMs = scheduleOf(entry).latestMs(nowMs - durationMs - REMEMBERED_MS, nowMs);
  return beginMs === undefined ? undefined : { beginMs, endMs: beginMs + durationMs };
}

/** Returns the next occurrence that has not begun; `undefined` if there is none within 40 years. */
export function comingOf(entry: MaintenanceConfig, nowMs: number): Occurrence | undefined {
  const known = nextOf(entry);
  // To search the next instant may take long, and it stays the same until then.
  if (!(nowMs >= known.fromMs && nowMs < known.beginMs)) {
    known.fromMs = nowMs;
    known.beginMs = scheduleOf(entry).nextMs(nowMs);
  }
  const { beginMs } = known;
  return Number.isFinite(beginMs) ? { beginMs, endMs: beginMs + entry.durationMs } : undefined;
}

interface NextBegin {
  /** The instant from which it is the next one. */
  fromMs: number;
  beginMs: number;
}

const nextOf: (entry: MaintenanceConfig) => NextBegin = once(() => ({
  fromMs: Number.NaN,
  beginMs: Number.NaN,
}));

const scheduleOf = once(({ schedule, timezone }: MaintenanceConfig) => createSchedule(schedule, timezone));
