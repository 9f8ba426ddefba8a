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

/**
 * The latest instant that is not after `nowMs`, every `gapMs` from `dueMs` on: lateness is measured from there. `missed`: the
 * earlier ones, which are counted and not repeated.
 */
export function latestDue(
  dueMs: number,
  gapMs: number,
  nowMs: number,
): { readonly dueMs: number; readonly missed: number } {
  const missed = Math.max(0, Math.floor((nowMs - dueMs) / gapMs));
  return { dueMs: dueMs + missed * gapMs, missed };
}
