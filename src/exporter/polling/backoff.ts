import { operationKey, type Operation } from "../api/operation.ts";
import type { FailureReason, Outcome } from "../api/failure.ts";
import { POLL_RULES } from "./rules.ts";

/** A longer Retry-After is cut to this. */
const MAX_BACKOFF_MS = 5 * 60_000;
/** Older firmware may be updated. */
const UNSUPPORTED_MS = 60 * 60_000;
/** The key of a period of every operation: a refusal may concern the account, which must not be locked. */
const EVERYTHING = "everything";

/** The backoff of one appliance, on the monotonic clock. */
export interface Backoff {
  /**
   * Records a poll. After a refusal (401, 403) the backoff lasts one interval, doubled at each further refusal up to 5 minutes.
   *
   * - After a refused list every operation backs off, until the list succeeds.
   * - A refused poll of a website backs off until it succeeds. So does every operation, unless the latest poll of the list
   *   succeeded with the same credentials.
   * - After Retry-After its operation backs off, at most 5 minutes; one that the appliance lacks and never had, an hour.
   * - The operations of a `backoffGroup` are refused and deferred together.
   */
  settle(poll: FinishedPoll): void;
  /**
   * The end of an operation's backoff and its reason; `undefined` if there is none. `listFirstMs`: how much longer all other
   * operations back off than the list after a refusal: otherwise their refusals could prevent every poll of the list.
   */
  active(operation: Operation, nowMs: number, listFirstMs: number): BackoffPeriod | undefined;
  /** Ends all backoff for this reason, and returns the keys of what backed off: an `operationKey`, or the name of a group. */
  end(reason: BackoffPeriod["reason"]): readonly string[];
  /** Drops what is known of an operation. */
  forget(operation: Operation): void;
}

export interface BackoffPeriod {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly reason: Extract<FailureReason, "auth" | "unsupported" | "http_status">;
}

export interface FinishedPoll {
  readonly operation: Operation;
  readonly outcome: Outcome<unknown>;
  /** Identifies the credentials that were sent; `undefined` if nothing was sent. */
  readonly credentials: symbol | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The operation's interval, or the usual gap of its schedule. */
  readonly intervalMs: number;
}

export function createBackoff(): Backoff {
  const periods = new Map<string, BackoffPeriod>();
  /** The credentials of the latest poll of the list if it succeeded. */
  let accepted: symbol | undefined;
  /** The kinds of operations that have succeeded: where one is missing now, its service may be starting. */
  const had = new Set<Operation["kind"]>();

  function begin(key: string, sinceMs: number, lengthMs: number, reason: BackoffPeriod["reason"]): void {
    periods.set(key, { sinceMs, untilMs: sinceMs + lengthMs, reason });
  }
  function refuse(key: string, { startedMs, endedMs, intervalMs }: FinishedPoll): void {
    const period = periods.get(key);
    const before = period?.reason === "auth" ? period : undefined;
    // Refusals of polls that were in flight together count once. After the refusal none begins before the backoff is over.
    if (before !== undefined && startedMs <= before.sinceMs) return;
    const lengthMs = before === undefined ? intervalMs : 2 * (before.untilMs - before.sinceMs);
    begin(key, endedMs, Math.min(lengthMs, MAX_BACKOFF_MS), "auth");
  }

  return {
    settle: (poll) => {
      const { operation, outcome, credentials, endedMs } = poll;
      const isList = operation.kind === "vrrp";
      const { own, shared } = keysOf(operation);
      if (isList) accepted = outcome.ok ? credentials : undefined;
      if (outcome.ok) {
        had.add(operation.kind);
        for (const key of [own, shared]) periods.delete(key);
        if (isList) periods.delete(EVERYTHING);
        return;
      }
      const { reason, retryAfterMs } = outcome.failure;
      if (reason === "auth") {
        if (!isList) refuse(shared, poll);
        if (accepted === undefined || accepted !== credentials) refuse(EVERYTHING, poll);
      } else if (reason === "unsupported") {
        if (!had.has(operation.kind)) begin(own, endedMs, UNSUPPORTED_MS, reason);
      } else if (retryAfterMs !== undefined)
        begin(shared, endedMs, Math.min(retryAfterMs, MAX_BACKOFF_MS), "http_status");
    },
    active: (operation, nowMs, listFirstMs) => {
      if (periods.size === 0) return undefined;
      const { own, shared } = keysOf(operation);
      const all = periods.get(EVERYTHING);
      const afterListMs = operation.kind === "vrrp" ? 0 : listFirstMs;
      const everything = all && { ...all, untilMs: all.untilMs + afterListMs };
      const running = [everything, periods.get(own), periods.get(shared)].filter(
        (period) => period !== undefined && period.untilMs > nowMs,
      );
      return running.toSorted((a, b) => (b?.untilMs ?? 0) - (a?.untilMs ?? 0))[0];
    },
    end: (reason) => {
      const ended = [...periods].flatMap(([key, period]) => (period.reason === reason ? [key] : []));
      for (const key of ended) periods.delete(key);
      return ended;
    },
    forget: (operation) => void periods.delete(operationKey(operation)),
  };
}

/** The keys of the periods of the operation alone, and of its group. */
function keysOf(operation: Operation): { readonly own: string; readonly shared: string } {
  const own = operationKey(operation);
  return { own, shared: POLL_RULES[operation.kind].backoffGroup ?? own };
}
