import type { Outcome } from "./observation.ts";

/** No pause is longer than five minutes, whatever the appliance asks for. */
const MAX_PAUSE_MS = 5 * 60_000;

/** The pauses of one appliance, on the monotonic clock. */
export interface Backoff {
  /** After a refusal of our credentials: every operation rests, lest the account be locked. */
  readonly auth: AuthPause | undefined;
  /** After Retry-After: that operation rests. Key: operationKey. */
  readonly retryAfterUntilMs: ReadonlyMap<string, number>;
}

interface AuthPause {
  /** The operation that was refused; its success ends the doubling. */
  readonly operation: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export const NO_BACKOFF: Backoff = { auth: undefined, retryAfterUntilMs: new Map() };

export interface FinishedPoll {
  /** operationKey */
  readonly operation: string;
  readonly outcome: Outcome<unknown>;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The operation's interval, or its schedule's present gap. */
  readonly intervalMs: number;
}

/**
 * The pauses after a poll: a refusal (401, 403) rests the whole appliance for one interval, doubled at each further
 * refusal up to 5 minutes; Retry-After rests its operation, at most 5 minutes. Success of the refused operation ends
 * the doubling.
 */
export function backoffAfter(backoff: Backoff, poll: FinishedPoll): Backoff {
  return { auth: authAfter(backoff.auth, poll), retryAfterUntilMs: retryAfter(backoff, poll) };
}

/** Ends the pause for refused credentials, because they have changed. */
export function withoutAuthPause(backoff: Backoff): Backoff {
  return { ...backoff, auth: undefined };
}

/** Until when an operation rests, on the monotonic clock; `undefined` where it does not. */
export function pausedUntilMs(backoff: Backoff, operation: string, nowMs: number): number | undefined {
  const untilMs = Math.max(backoff.auth?.untilMs ?? 0, backoff.retryAfterUntilMs.get(operation) ?? 0);
  return untilMs > nowMs ? untilMs : undefined;
}

function authAfter(pause: AuthPause | undefined, poll: FinishedPoll): AuthPause | undefined {
  if (poll.outcome.ok) return pause?.operation === poll.operation ? undefined : pause;
  if (poll.outcome.failure.reason !== "auth") return pause;
  // Polls that were already under way when the first of them was refused are one refusal, not many.
  if (pause !== undefined && poll.startedMs < pause.sinceMs) return pause;
  const lengthMs = pause === undefined ? poll.intervalMs : 2 * (pause.untilMs - pause.sinceMs);
  const untilMs = poll.endedMs + Math.min(lengthMs, MAX_PAUSE_MS);
  return { operation: poll.operation, sinceMs: poll.endedMs, untilMs };
}

function retryAfter(backoff: Backoff, poll: FinishedPoll): ReadonlyMap<string, number> {
  const lengthMs = poll.outcome.ok ? undefined : poll.outcome.failure.retryAfterMs;
  if (lengthMs === undefined && !backoff.retryAfterUntilMs.has(poll.operation))
    return backoff.retryAfterUntilMs;
  const others = [...backoff.retryAfterUntilMs].filter(([operation]) => operation !== poll.operation);
  if (lengthMs === undefined) return new Map(others);
  return new Map([...others, [poll.operation, poll.endedMs + Math.min(lengthMs, MAX_PAUSE_MS)]]);
}
