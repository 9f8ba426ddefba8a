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

const scheduleOf = once(({ schedule, timezone }: MaintenanceConfig) => createSchedule(schedule, timezone));
