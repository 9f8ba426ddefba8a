import { createHash } from "node:crypto";
import type { OperationTiming } from "../config/config.ts";

/** First polls after a start or reload are spread over this time instead of their interval, for a quick start. */
export const FIRST_POLL_SPREAD_MS = 1000;
/** No poll waits longer for a slot or a connection, however rarely it is due. */
const MAX_WAIT_MS = 24 * 60 * 60_000;

/** The phase of a key within an interval, from 0 up to 1: evenly distributed, and the same in every process. */
export function phaseFraction(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) / 2 ** 32;
}

/** The first instant at or after `notBeforeMs` on the grid of `intervalMs`, shifted by the phase: 0 up to 1. */
export function nextOnGrid(phase: number, intervalMs: number, notBeforeMs: number): number {
  const phaseMs = phase * intervalMs;
  return Math.ceil((notBeforeMs - phaseMs) / intervalMs) * intervalMs + phaseMs;
}

/** The first due time of an entry that is added at `nowMs`: within a second, equal for equal phases. */
export function firstDueMs(phase: number, nowMs: number): number {
  return nowMs + phase * FIRST_POLL_SPREAD_MS;
}

/** The end of a result. Instants are monotonic. */
export interface End {
  readonly expiresAtMs: number;
  /** The rest of the schedule that begins then; `undefined` if polling counts as stalled from then on. */
  readonly rest?: Rest | undefined;
}

/** A time in which a schedule has no poll. */
export interface Rest {
  /** The Unix time at which the next poll is due. */
  readonly untilMs: number;
  /** The monotonic instant from which polling counts as stalled, unless it has gone on. */
  readonly stalledAtMs: number;
}

/** A schedule as it goes on after a result. Instants are monotonic. */
export interface Upcoming {
  readonly firstMs: number;
  readonly secondMs: number;
  readonly usualGapMs: number;
  /** The first instant as Unix time. */
  readonly firstUnixMs: number;
}

const FIVE_MINUTES_MS = 5 * 60_000;

/** The longest time without a poll in which a result of a schedule counts. If none is due for longer, the schedule rests. */
export function longestWaitMs(usualGapMs: number): number {
  return Math.max(2 * usualGapMs, FIVE_MINUTES_MS);
}

/**
 * The instant at which a result of an interval that counts from `fromMs` becomes stale: after two gaps and one timeout. A gap is the interval
 * of an operation, or the usual gap of its schedule.
 */
export function expiresAtMs(fromMs: number, gapMs: number, timeoutMs: number): number {
  return fromMs + 2 * gapMs + timeoutMs;
}

/**
 * The end of a result of a schedule that counts from `fromMs`: when the timeout after the second instant has passed, as with an interval,
 * or after the longest wait. The operation is then stalled, or the schedule rests until its first instant, after which the same counts.
 */
export function endOfScheduled(fromMs: number, upcoming: Upcoming, timeoutMs: number): End {
  const { firstMs, secondMs, usualGapMs, firstUnixMs } = upcoming;
  const waitMs = longestWaitMs(usualGapMs);
  const stalledAfter = (ms: number): number => Math.min(secondMs, ms + waitMs) + timeoutMs;
  if (firstMs <= fromMs + waitMs) return { expiresAtMs: stalledAfter(fromMs) };
  return {
    expiresAtMs: fromMs + waitMs,
    rest: { untilMs: firstUnixMs, stalledAtMs: stalledAfter(firstMs) },
  };
}

/** The gap of an operation before its first result. A schedule has its timeout as gap, since the first poll is immediate. */
export function firstGapMs(timing: OperationTiming): number {
  return timing.kind === "interval" ? timing.intervalMs : timing.timeoutMs;
}

/** The instant at which an operation configured at `nowMs` and never polled becomes stalled. */
export function firstExpiryMs(timing: OperationTiming, nowMs: number): number {
  return expiresAtMs(nowMs + FIRST_POLL_SPREAD_MS, firstGapMs(timing), timing.timeoutMs);
}

/** The instant at which a poll must begin to end before the latest result expires. A quarter of a gap is for delays of this process. */
export function mustBeginByMs(latestUntilMs: number, gapMs: number, timeoutMs: number): number {
  return latestUntilMs - timeoutMs - gapMs / 4;
}

/** The end of a due poll's wait for a slot: when it must begin, but at least a quarter of a gap and at most a day after it was due. */
export function waitEndsMs(dueMs: number, latestUntilMs: number, gapMs: number, timeoutMs: number): number {
  const endsMs = Math.max(mustBeginByMs(latestUntilMs, gapMs, timeoutMs), dueMs + gapMs / 4);
  return Math.min(endsMs, dueMs + MAX_WAIT_MS);
}

/** The longest wait for a connection: until a quarter of a gap before the latest result expires, and at least that quarter. */
export function connectionWaitMs(latestUntilMs: number, gapMs: number, nowMs: number): number {
  const marginMs = gapMs / 4;
  return Math.min(Math.max(marginMs, latestUntilMs - marginMs - nowMs), MAX_WAIT_MS);
}
