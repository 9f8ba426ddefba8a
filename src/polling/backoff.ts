import { backoffKey } from "./observation.ts";
import type { Outcome } from "../client/failure.ts";

/** Also limits Retry-After. */
const MAX_BACKOFF_MS = 5 * 60_000;
/** Older firmware may be updated. */
const UNSUPPORTED_MS = 60 * 60_000;
const LIST = backoffKey({ kind: "vrrp" });

/** The backoff of one appliance, on the monotonic clock. Operations by `backoffKey`. */
export interface Backoff {
  /** The credentials of the latest poll of the list if it succeeded; else `undefined`. */
  readonly accepted: symbol | undefined;
  /** Of every operation, after a refusal that may concern the account, so that the account is not locked. */
  readonly everything: AppliancePeriod | undefined;
  /** Of refused website tests, and of refused discovery. */
  readonly tests: ReadonlyMap<string, Period>;
  /** Of operations whose answer had a Retry-After, or that the appliance lacks. */
  readonly deferrals: ReadonlyMap<string, Deferral>;
}

interface Deferral {
  readonly untilMs: number;
  readonly isUnsupported: boolean;
}

interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface AppliancePeriod extends Period {
  /** The operation that was refused last; its success ends the doubling. */
  readonly operation: string;
  /** The end for website tests, later than for the list: otherwise refused tests could prevent every poll of the list. */
  readonly testsUntilMs: number;
}

export const NO_BACKOFF: Backoff = {
  accepted: undefined,
  everything: undefined,
  tests: new Map(),
  deferrals: new Map(),
};

export interface FinishedPoll {
  /** backoffKey */
  readonly operation: string;
  readonly outcome: Outcome<unknown>;
  /** Identifies the credentials that were sent; `undefined` if nothing was sent. */
  readonly credentials: symbol | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The operation's interval, or the current gap of its schedule. */
  readonly intervalMs: number;
  /** How much longer website tests back off than the list. */
  readonly listFirstMs: number;
}

/**
 * The backoff after a poll. After a refusal (401, 403) it lasts one interval, doubled at each further refusal up to 5
 * minutes.
 *
 * - After a refused list every operation backs off, until the list or the operation refused last succeeds.
 * - A refused website test backs off until it succeeds. So does every operation, unless the latest poll of the list
 *   succeeded with the same credentials.
 * - After Retry-After its operation backs off, at most 5 minutes; one that the appliance lacks, an hour.
 */
export function backoffAfter(backoff: Backoff, poll: FinishedPoll): Backoff {
  return {
    accepted: acceptedAfter(backoff.accepted, poll),
    everything: everythingAfter(backoff, poll),
    tests: testsAfter(backoff.tests, poll),
    deferrals: deferralsAfter(backoff, poll),
  };
}

/** Ends all backoff for refused credentials, because they have changed. */
export function withoutRefusals(backoff: Backoff): Backoff {
  return { ...backoff, everything: undefined, tests: new Map() };
}

/** Ends the backoff of operations that the appliance lacks. */
export function withoutUnsupported(backoff: Backoff): Backoff {
  return { ...backoff, deferrals: new Map([...backoff.deferrals].filter(([, each]) => !each.isUnsupported)) };
}

/** Whether the operation backs off because the appliance lacks it. */
export function isUnsupported({ deferrals }: Backoff, operation: string): boolean {
  return deferrals.get(operation)?.isUnsupported === true;
}

/** The end of an operation's backoff, on the monotonic clock; `undefined` if there is none. */
export function backoffUntilMs(backoff: Backoff, operation: string, nowMs: number): number | undefined {
  const deferredMs = backoff.deferrals.get(operation)?.untilMs ?? 0;
  return later(nowMs, Math.max(refusedUntilMs(backoff, operation, nowMs) ?? 0, deferredMs));
}

/** The same, only for refused credentials. */
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

function everythingAfter(backoff: Backoff, poll: FinishedPoll): AppliancePeriod | undefined {
  const { everything: period, accepted } = backoff;
  const { operation, outcome, credentials } = poll;
  if (outcome.ok) return operation === LIST || operation === period?.operation ? undefined : period;
  const isOnlyTest = operation !== LIST && accepted !== undefined && accepted === credentials;
  if (!isRefused(poll) || isOnlyTest) return period;
  // Refusals of polls that were in flight together count once.
  if (period !== undefined && poll.startedMs < period.sinceMs) return period;
  const next = nextPeriod(period, poll);
  return { ...next, operation, testsUntilMs: next.untilMs + poll.listFirstMs };
}

function testsAfter(tests: Backoff["tests"], poll: FinishedPoll): Backoff["tests"] {
  const { operation, outcome } = poll;
  if (operation === LIST) return tests;
  const others = (): Map<string, Period> => new Map([...tests].filter(([key]) => key !== operation));
  if (outcome.ok) return tests.has(operation) ? others() : tests;
  return isRefused(poll) ? others().set(operation, nextPeriod(tests.get(operation), poll)) : tests;
}

function nextPeriod(period: Period | undefined, { intervalMs, endedMs }: FinishedPoll): Period {
  const lengthMs = period === undefined ? intervalMs : 2 * (period.untilMs - period.sinceMs);
  return { sinceMs: endedMs, untilMs: endedMs + Math.min(lengthMs, MAX_BACKOFF_MS) };
}

function isRefused({ outcome }: FinishedPoll): boolean {
  return !outcome.ok && outcome.failure.reason === "auth";
}

function deferralsAfter({ deferrals }: Backoff, poll: FinishedPoll): Backoff["deferrals"] {
  const deferral = deferralOf(poll);
  if (deferral === undefined && !deferrals.has(poll.operation)) return deferrals;
  const others = [...deferrals].filter(([operation]) => operation !== poll.operation);
  return new Map(deferral === undefined ? others : [...others, [poll.operation, deferral]]);
}

function deferralOf({ outcome, endedMs }: FinishedPoll): Deferral | undefined {
  if (outcome.ok) return undefined;
  const { reason, retryAfterMs } = outcome.failure;
  if (reason === "unsupported") return { untilMs: endedMs + UNSUPPORTED_MS, isUnsupported: true };
  if (retryAfterMs === undefined) return undefined;
  return { untilMs: endedMs + Math.min(retryAfterMs, MAX_BACKOFF_MS), isUnsupported: false };
}
