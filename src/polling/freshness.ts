import type { OperationTiming } from "../config/config.ts";
import { FIRST_POLL_SPREAD_MS } from "./schedule.ts";

/** How often an operation is polled, in milliseconds; `gapMs`: its interval, or its schedule's present gap. */
export interface Pace {
  readonly gapMs: number;
  readonly timeoutMs: number;
}

/** The instant from which a result that counts from `fromMs` is stale: after two gaps and one timeout. */
export function expiresAtMs(fromMs: number, { gapMs, timeoutMs }: Pace): number {
  return fromMs + 2 * gapMs + timeoutMs;
}

/**
 * The pace of an operation that was never polled: its interval, or its timeout if it has a schedule, since every operation
 * is polled first at once.
 */
export function firstPace(timing: OperationTiming): Pace {
  const { timeoutMs } = timing;
  return { gapMs: timing.kind === "interval" ? timing.intervalMs : timeoutMs, timeoutMs };
}

/** The instant from which an operation that is configured at `nowMs`, and never polled, counts as stalled. */
export function firstExpiryMs(timing: OperationTiming, nowMs: number): number {
  return expiresAtMs(nowMs + FIRST_POLL_SPREAD_MS, firstPace(timing));
}

/**
 * The latest instant at which a poll may begin, so that it ends before the latest result expires at `latestUntilMs`; a
 * quarter of a gap is kept for our own delays.
 */
export function mustBeginByMs(latestUntilMs: number, { gapMs, timeoutMs }: Pace): number {
  return latestUntilMs - timeoutMs - gapMs / 4;
}

/** Until when a poll that is due waits for a free slot: until it must begin, but at least for a quarter of a gap. */
export function waitEndsMs(dueMs: number, latestUntilMs: number, pace: Pace): number {
  return Math.max(mustBeginByMs(latestUntilMs, pace), dueMs + pace.gapMs / 4);
}

/**
 * For how long a failed poll of the list keeps website tests from being sent: two of the list's gaps, but no longer than
 * the tests' own gap. The time in which the next poll of the list is in flight does not count.
 */
export function verdictLastsMs(twoListGapsMs: number, testGapMs: number): number {
  return Math.min(twoListGapsMs, testGapMs);
}
