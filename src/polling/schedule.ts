/** First polls after a start or reload are spread over this time instead of their interval, for a quick start. */
export const FIRST_POLL_SPREAD_MS = 1000;

/** The first instant at or after `notBeforeMs` on the grid of `intervalMs`, shifted by the phase: 0 up to 1. */
export function nextOnGrid(phase: number, intervalMs: number, notBeforeMs: number): number {
  const phaseMs = phase * intervalMs;
  return Math.ceil((notBeforeMs - phaseMs) / intervalMs) * intervalMs + phaseMs;
}

/** The first due time of an entry that is added at `nowMs`: within a second, equal for equal phases. */
export function firstDueMs(phase: number, nowMs: number): number {
  return nowMs + phase * FIRST_POLL_SPREAD_MS;
}

export interface DuePoll {
  /** The latest instant at which it was due; lateness is measured from here. */
  readonly dueMs: number;
  /** The number of earlier instants that were missed; they are counted, not repeated. */
  readonly missed: number;
  readonly nextDueMs: number;
}

/** The poll to make at `nowMs` for an entry that is due at `dueMs`, and on its grid after that. */
export function takeDue(phase: number, intervalMs: number, dueMs: number, nowMs: number): DuePoll {
  // The first poll is outside the grid, and the next one not right after it.
  const nextDueMs = nextOnGrid(phase, intervalMs, Math.max(nowMs, dueMs + intervalMs / 2));
  const missed = Math.max(0, Math.round((nextDueMs - dueMs) / intervalMs) - 1);
  return { dueMs: missed === 0 ? dueMs : nextDueMs - intervalMs, missed, nextDueMs };
}
