import { operationKey } from "./observation.ts";
import type { Outcome } from "../client/failure.ts";

/** No pause is longer than five minutes, whatever the appliance asks for. */
const MAX_PAUSE_MS = 5 * 60_000;
const LIST = operationKey({ kind: "vrrp" });

/** The pauses of one appliance, on the monotonic clock. Operations by their `operationKey`. */
export interface Backoff {
  /** The credentials with which the latest poll of the list succeeded; `undefined` if it failed or was never made. */
  readonly accepted: symbol | undefined;
  /** After a refusal that may concern the account: every operation rests, so that the account is not locked. */
  readonly everything: AppliancePause | undefined;
  /** After refusals of website tests: each of these tests rests. */
  readonly tests: ReadonlyMap<string, Pause>;
  /** After Retry-After: that operation rests. */
  readonly retryAfterUntilMs: ReadonlyMap<string, number>;
}

interface Pause {
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface AppliancePause extends Pause {
  /** The operation that was refused last; its success ends the doubling. */
  readonly operation: string;
  /** Website tests rest until then: the list is polled first, else refused tests could keep it from ever being polled. */
  readonly testsUntilMs: number;
}

export const NO_BACKOFF: Backoff = {
  accepted: undefined,
  everything: undefined,
  tests: new Map(),
  retryAfterUntilMs: new Map(),
};

export interface FinishedPoll {
  /** operationKey */
  readonly operation: string;
  readonly outcome: Outcome<unknown>;
  /** The credentials that were sent; the same symbol for the same credentials. `undefined` if nothing was sent. */
  readonly credentials: symbol | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The operation's interval, or its schedule's present gap. */
  readonly intervalMs: number;
  /** How much longer website tests rest than the list. */
  readonly listFirstMs: number;
}

/**
 * The pauses after a poll. A pause after a refusal (401, 403) lasts one interval, doubled at each further refusal up to
 * 5 minutes.
 *
 * - A refused list pauses every operation, until the list or the operation refused last succeeds.
 * - A refused website test pauses itself, until it succeeds. It pauses every operation too, unless the latest poll of the
 *   list succeeded with the same credentials.
 * - Retry-After pauses its operation, at most 5 minutes.
 */
export function backoffAfter(backoff: Backoff, poll: FinishedPoll): Backoff {
  return {
    accepted: acceptedAfter(backoff.accepted, poll),
    everything: everythingAfter(backoff, poll),
    tests: testsAfter(backoff.tests, poll),
    retryAfterUntilMs: retryAfter(backoff, poll),
  };
}

/** Ends all pauses for refused credentials, because they have changed. */
export function withoutRefusals(backoff: Backoff): Backoff {
  return { ...backoff, everything: undefined, tests: new Map() };
}

/** Until when an operation rests, on the monotonic clock; `undefined` if it does not. */
export function pausedUntilMs(backoff: Backoff, operation: string, nowMs: number): number | undefined {
  const retryAfterMs = backoff.retryAfterUntilMs.get(operation) ?? 0;
  return later(nowMs, Math.max(refusedUntilMs(backoff, operation, nowMs) ?? 0, retryAfterMs));
}

/** The same, of pauses for refused credentials alone. */
export function refusedUntilMs(backoff: Backoff, operation: string, nowMs: number): number | undefined {
  const { everything, tests } = backoff;
  const all = operation === LIST ? everything?.untilMs : everything?.testsUntilMs;
  return later(nowMs, Math.max(all ?? 0, tests.get(operation)?.untilMs ?? 0));
}

function later(nowMs: number, untilMs: number): number | undefined {
  return untilMs > nowMs ? untilMs : undefined;
}

function acceptedAfter(accepted: symbol | undefined, poll: FinishedPoll): symbol | undefined {
  if (poll.operation !== LIST) return accepted;
  return poll.outcome.ok ? poll.credentials : undefined;
}

function everythingAfter(backoff: Backoff, poll: FinishedPoll): AppliancePause | undefined {
  const { everything: pause, accepted } = backoff;
  const { operation, outcome, credentials } = poll;
  if (outcome.ok) return operation === LIST || operation === pause?.operation ? undefined : pause;
  const isOfTestAlone = operation !== LIST && accepted !== undefined && accepted === credentials;
  if (!isRefused(poll) || isOfTestAlone) return pause;
  // Polls that were already under way when the first of them was refused are one refusal, not many.
  if (pause !== undefined && poll.startedMs < pause.sinceMs) return pause;
  const next = nextPause(pause, poll);
  return { ...next, operation, testsUntilMs: next.untilMs + poll.listFirstMs };
}

function testsAfter(tests: Backoff["tests"], poll: FinishedPoll): Backoff["tests"] {
  const { operation, outcome } = poll;
  if (operation === LIST) return tests;
  const others = (): Map<string, Pause> => new Map([...tests].filter(([key]) => key !== operation));
  if (outcome.ok) return tests.has(operation) ? others() : tests;
  return isRefused(poll) ? others().set(operation, nextPause(tests.get(operation), poll)) : tests;
}

function nextPause(pause: Pause | undefined, { intervalMs, endedMs }: FinishedPoll): Pause {
  const lengthMs = pause === undefined ? intervalMs : 2 * (pause.untilMs - pause.sinceMs);
  return { sinceMs: endedMs, untilMs: endedMs + Math.min(lengthMs, MAX_PAUSE_MS) };
}

function isRefused({ outcome }: FinishedPoll): boolean {
  return !outcome.ok && outcome.failure.reason === "auth";
}

function retryAfter(backoff: Backoff, poll: FinishedPoll): ReadonlyMap<string, number> {
  const lengthMs = poll.outcome.ok ? undefined : poll.outcome.failure.retryAfterMs;
  if (lengthMs === undefined && !backoff.retryAfterUntilMs.has(poll.operation))
    return backoff.retryAfterUntilMs;
  const others = [...backoff.retryAfterUntilMs].filter(([operation]) => operation !== poll.operation);
  if (lengthMs === undefined) return new Map(others);
  return new Map([...others, [poll.operation, poll.endedMs + Math.min(lengthMs, MAX_PAUSE_MS)]]);
}
