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

/** The poll to make at `nowMs` for an entry that is due at `dueMs` and every `intervalMs` after that. */
export function takeDue(dueMs: number, intervalMs: number, nowMs: number): DuePoll {
  const missed = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs));
  const latestMs = dueMs + missed * intervalMs;
  return { dueMs: latestMs, missed, nextDueMs: latestMs + intervalMs };
}

/** The first instant at or after `fromMs` of an entry that is due at `dueMs` and every `intervalMs` after that. */
export function turnFromMs(dueMs: number, intervalMs: number, fromMs: number): number {
  return dueMs + Math.max(0, Math.ceil((fromMs - dueMs) / intervalMs)) * intervalMs;
}
