import { toSeconds } from "../support/clock.ts";

/** A poll from start to end, by the monotonic clock. */
export interface Timespan {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly durationSeconds: number;
}

export function timespan(startedMs: number, endedMs: number): Timespan {
  return { startedMs, endedMs, durationSeconds: toSeconds(endedMs - startedMs) };
}
