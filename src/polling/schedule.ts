import { phaseFraction } from "../support/phase.ts";

/** First polls after a start or reload are spread over this time instead of their interval, for a quick start. */
export const FIRST_POLL_SPREAD_MS = 1000;

/** The first instant at or after `notBeforeMs` on the grid of `intervalMs`, shifted by the key's phase. */
export function nextOnGrid(key: string, intervalMs: number, notBeforeMs: number): number {
  const phaseMs = phaseFraction(key) * intervalMs;
  return Math.ceil((notBeforeMs - phaseMs) / intervalMs) * intervalMs + phaseMs;
}

/** The first due time of an entry that is added at `nowMs`: within a second, equal for equal keys. */
export function firstDueMs(key: string, nowMs: number): number {
  return nowMs + phaseFraction(key) * FIRST_POLL_SPREAD_MS;
}

export interface DuePoll {
  /** The latest instant at which it was due; lateness is measured from here. */
  readonly dueMs: number;
  /** The number of earlier instants that were missed; they are counted, not repeated. */
  readonly missed: number;
  readonly nextDueMs: number;
}

/** The poll to make at `nowMs` for an entry that is due at `dueMs`, and on its grid after that. */
export function takeDue(key: string, intervalMs: number, dueMs: number, nowMs: number): DuePoll {
  // The first poll is outside the grid, and the next one not right after it.
  const nextDueMs = nextOnGrid(key, intervalMs, Math.max(nowMs, dueMs + intervalMs / 2));
  const missed = Math.max(0, Math.round((nextDueMs - dueMs) / intervalMs) - 1);
  return { dueMs: missed === 0 ? dueMs : nextDueMs - intervalMs, missed, nextDueMs };
}
