import type { FailureReason, Outcome } from "../client/failure.ts";
import { backoffKey } from "./observation.ts";

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
  /** Of operations that were refused, that the appliance lacks, or whose answer had a Retry-After. */
  readonly operations: ReadonlyMap<string, OperationPeriod>;
}

interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface OperationPeriod extends Period {
  readonly reason: BackoffReason;
}

type BackoffReason = Extract<FailureReason, "auth" | "unsupported" | "http_status">;

interface AppliancePeriod extends Period {
  /** The operation that was refused last; its success ends the doubling. */
  readonly operation: string;
  /** The end for website tests, later than for the list: otherwise refused tests could prevent every poll of the list. */
  readonly testsUntilMs: number;
}

export const NO_BACKOFF: Backoff = { accepted: undefined, everything: undefined, operations: new Map() };

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
  const { operation, outcome, credentials } = poll;
  const succeededWith = outcome.ok ? credentials : undefined;
  return {
    accepted: operation === LIST ? succeededWith : backoff.accepted,
    everything: everythingAfter(backoff, poll),
    operations: operationsAfter(backoff.operations, poll),
  };
}

/** Ends all backoff for refused credentials, because they have changed. */
export function withoutRefusals(backoff: Backoff): Backoff {
  return { ...withoutReason(backoff, "auth"), everything: undefined };
}

/** Ends the backoff of operations for this reason. */
export function withoutReason(backoff: Backoff, reason: BackoffReason): Backoff {
  const others = [...backoff.operations].filter(([, period]) => period.reason !== reason);
  return { ...backoff, operations: new Map(others) };
}

/** Ends the backoff of an operation that is no longer polled. */
export function withoutOperation(backoff: Backoff, operation: string): Backoff {
  if (!backoff.operations.has(operation)) return backoff;
  const others = [...backoff.operations].filter(([each]) => each !== operation);
  return { ...backoff, operations: new Map(others) };
}

/** The end of an operation's backoff, on the monotonic clock, and its reason; `undefined` if there is none. */
export function activeBackoff(
  { everything, operations }: Backoff,
  operation: string,
  nowMs: number,
): Pick<OperationPeriod, "untilMs" | "reason"> | undefined {
  const own = operations.get(operation);
  const refusedUntilMs = (operation === LIST ? everything?.untilMs : everything?.testsUntilMs) ?? 0;
  const longest =
    own !== undefined && own.untilMs > refusedUntilMs
      ? own
      : ({ untilMs: refusedUntilMs, reason: "auth" } as const);
  return longest.untilMs > nowMs ? longest : undefined;
}

function everythingAfter(backoff: Backoff, poll: FinishedPoll): AppliancePeriod | undefined {
  const { everything: period, accepted } = backoff;
  const { operation, outcome, credentials } = poll;
  if (outcome.ok) return operation === LIST || operation === period?.operation ? undefined : period;
  const isOnlyTest = operation !== LIST && accepted !== undefined && accepted === credentials;
  if (outcome.failure.reason !== "auth" || isOnlyTest) return period;
  // Refusals of polls that were in flight together count once.
  if (period !== undefined && poll.startedMs < period.sinceMs) return period;
  const next = nextPeriod(period, poll);
  return { ...next, operation, testsUntilMs: next.untilMs + poll.listFirstMs };
}

function operationsAfter(before: Backoff["operations"], poll: FinishedPoll): Backoff["operations"] {
  const known = before.get(poll.operation);
  const next = operationAfter(known, poll);
  if (next === known) return before;
  const others = [...before].filter(([operation]) => operation !== poll.operation);
  return new Map(next === undefined ? others : [...others, [poll.operation, next]]);
}

function operationAfter(
  before: OperationPeriod | undefined,
  poll: FinishedPoll,
): OperationPeriod | undefined {
  const { operation, outcome, endedMs } = poll;
  if (outcome.ok) return undefined;
  const { reason, retryAfterMs } = outcome.failure;
  const refused = before?.reason === "auth" ? before : undefined;
  // A refused list is a matter of every operation.
  if (reason === "auth") return operation === LIST ? undefined : { ...nextPeriod(refused, poll), reason };
  if (reason === "unsupported") return { sinceMs: endedMs, untilMs: endedMs + UNSUPPORTED_MS, reason };
  // Another failure does not end the doubling.
  if (retryAfterMs === undefined) return refused;
  const untilMs = endedMs + Math.min(retryAfterMs, MAX_BACKOFF_MS);
  return { sinceMs: endedMs, untilMs, reason: "http_status" };
}

function nextPeriod(period: Period | undefined, { intervalMs, endedMs }: FinishedPoll): Period {
  const lengthMs = period === undefined ? intervalMs : 2 * (period.untilMs - period.sinceMs);
  return { sinceMs: endedMs, untilMs: endedMs + Math.min(lengthMs, MAX_BACKOFF_MS) };
}
