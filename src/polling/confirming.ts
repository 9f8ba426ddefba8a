import type { Operation } from "./observation.ts";

/** Polls out of turn that confirm or refute what the latest answers seem to say. */
export interface ConfirmingPolls {
  readonly appliances: readonly string[];
  readonly operation: Operation;
  /** From now. */
  readonly afterMs: number;
}

/** What is known of an operation when a confirming poll of it is wanted; instants monotonic. */
export interface Turn {
  readonly nowMs: number;
  /** Its next regular poll; `undefined` where none is planned. */
  readonly nextDueMs: number | undefined;
  /** Until when it backs off; `undefined` where it does not. */
  readonly backoffUntilMs: number | undefined;
  /** Whether a confirming poll of it is already planned. */
  readonly isPlanned: boolean;
}

/**
 * Whether a poll in `afterMs` is needed to confirm an answer: not while one is planned, not during backoff, and not where the
 * regular poll is due by then.
 */
export function needsConfirmingPoll(
  { nowMs, nextDueMs, backoffUntilMs, isPlanned }: Turn,
  afterMs: number,
): boolean {
  const isDueByThen = nextDueMs !== undefined && nextDueMs <= nowMs + afterMs;
  return !isPlanned && backoffUntilMs === undefined && !isDueByThen;
}
