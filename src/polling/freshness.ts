import type { OperationTiming } from "../config/config.ts";
import { FIRST_POLL_SPREAD_MS } from "./schedule.ts";

/** No poll waits longer for a slot or a connection, however rarely it is due. */
export const MAX_WAIT_MS = 24 * 60 * 60_000;

/** How often an operation is polled, in milliseconds; `gapMs`: its interval, or the current gap of its schedule. */
export interface Pace {
  readonly gapMs: number;
  readonly timeoutMs: number;
}

/** The instant at which a result that counts from `fromMs` becomes stale: after two gaps and one timeout. */
export function expiresAtMs(fromMs: number, { gapMs, timeoutMs }: Pace): number {
  return fromMs + 2 * gapMs + timeoutMs;
}

/**
 * The pace of an operation that was never polled: its interval, or its timeout if it has a schedule, since the first
 * poll is immediate.
 */
export function firstPace(timing: OperationTiming): Pace {
  const { timeoutMs } = timing;
  return { gapMs: timing.kind === "interval" ? timing.intervalMs : timeoutMs, timeoutMs };
}

/** The instant at which an operation configured at `nowMs` and never polled becomes stalled. */
export function firstExpiryMs(timing: OperationTiming, nowMs: number): number {
  return expiresAtMs(nowMs + FIRST_POLL_SPREAD_MS, firstPace(timing));
}

/**
 * The latest instant at which a poll may begin, so that it ends before the latest result expires at `latestUntilMs`. A
 * quarter of a gap is reserved for delays of this process.
 */
export function mustBeginByMs(latestUntilMs: number, { gapMs, timeoutMs }: Pace): number {
  return latestUntilMs - timeoutMs - gapMs / 4;
}

/** The end of a due poll's wait for a slot: when it must begin, but at least a quarter of a gap and at most a day after it was due. */
export function waitEndsMs(dueMs: number, latestUntilMs: number, pace: Pace): number {
  const endsMs = Math.max(mustBeginByMs(latestUntilMs, pace), dueMs + pace.gapMs / 4);
  return Math.min(endsMs, dueMs + MAX_WAIT_MS);
}
