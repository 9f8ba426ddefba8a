import { phaseFraction } from "../support/phase.ts";

/** First polls after start or reload are spread over this long, not over their interval: nobody wants to wait. */
export const FIRST_POLL_SPREAD_MS = 1000;

/** The first instant at or after `notBeforeMs` that lies on the grid of `intervalMs` shifted by the key's phase. */
export function nextOnGrid(key: string, intervalMs: number, notBeforeMs: number): number {
  const phaseMs = phaseFraction(key) * intervalMs;
  return Math.ceil((notBeforeMs - phaseMs) / intervalMs) * intervalMs + phaseMs;
}

/** When something that begins at `nowMs` is polled first: within a second, the members of a cluster together. */
export function firstDueMs(key: string, nowMs: number): number {
  return nowMs + phaseFraction(key) * FIRST_POLL_SPREAD_MS;
}

/** When it is due after a first poll outside the grid: on the grid, and no sooner than half an interval later. */
export function dueAfterFirstMs(key: string, intervalMs: number, firstMs: number): number {
  return nextOnGrid(key, intervalMs, firstMs + intervalMs / 2);
}

export interface DuePoll {
  /** The latest instant at which it was due; lateness is measured from here. */
  readonly dueMs: number;
  /** How many earlier ones have passed unmade; they are counted, not caught up with. */
  readonly missed: number;
  readonly nextDueMs: number;
}

/** What to make of something that was due at `dueMs` and every `intervalMs` from then on, now that it is `nowMs`. */
export function takeDue(dueMs: number, intervalMs: number, nowMs: number): DuePoll {
  const missed = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs));
  const latestMs = dueMs + missed * intervalMs;
  return { dueMs: latestMs, missed, nextDueMs: latestMs + intervalMs };
}

/** The first turn at `fromMs` or later, of something that is due at `dueMs` and every `intervalMs` from then on. */
export function turnFromMs(dueMs: number, intervalMs: number, fromMs: number): number {
  return dueMs + Math.max(0, Math.ceil((fromMs - dueMs) / intervalMs)) * intervalMs;
}
