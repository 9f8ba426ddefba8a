import type { FailureReason, Outcome } from "../client/failure.ts";
import { operationKey } from "./observation.ts";

/** Also limits Retry-After. */
const MAX_BACKOFF_MS = 5 * 60_000;
/** Older firmware may be updated. */
const UNSUPPORTED_MS = 60 * 60_000;
const LIST = operationKey({ kind: "vrrp" });
/** The key of the period of every operation, after a refusal that may concern the account, so that it is not locked. */
const EVERYTHING = "everything";

/** The backoff of one appliance, on the monotonic clock; operations by `operationKey`. */
export interface Backoff {
  /**
   * Records a poll. After a refusal (401, 403) the backoff lasts one interval, doubled at each further refusal up to 5 minutes.
   *
   * - After a refused list every operation backs off, until the list succeeds.
   * - A refused website test backs off until it succeeds. So does every operation, unless the latest poll of the list
   *   succeeded with the same credentials.
   * - After Retry-After its operation backs off, at most 5 minutes; one that the appliance lacks, an hour.
   * - The operations that find websites are refused and deferred together.
   */
  settle(poll: FinishedPoll): void;
  /**
   * The end of an operation's backoff and its reason; `undefined` if there is none. `listFirstMs`: how much longer website
   * tests back off than the list after a refusal: otherwise refused tests could prevent every poll of the list.
   */
  active(operation: string, nowMs: number, listFirstMs: number): Period | undefined;
  /** When the latest backoff of every operation ends, or has ended; 0 without one. */
  everythingUntilMs(): number;
  /** Ends all backoff for this reason, and returns whether there was any. */
  end(reason: BackoffReason): boolean;
  /** Drops what is known of an operation. */
  forget(operation: string): void;
}

type BackoffReason = Extract<FailureReason, "auth" | "unsupported" | "http_status">;

interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly reason: BackoffReason;
}

export interface FinishedPoll {
  /** @see operationKey */
  readonly operation: string;
  readonly outcome: Outcome<unknown>;
  /** Identifies the credentials that were sent; `undefined` if nothing was sent. */
  readonly credentials: symbol | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The operation's interval, or the current gap of its schedule. */
  readonly intervalMs: number;
}

export function createBackoff(): Backoff {
  const periods = new Map<string, Period>();
  /** The credentials of the latest poll of the list if it succeeded. */
  let accepted: symbol | undefined;

  function begin(key: string, sinceMs: number, lengthMs: number, reason: BackoffReason): void {
    periods.set(key, { sinceMs, untilMs: sinceMs + lengthMs, reason });
  }
  function refuse(key: string, { startedMs, endedMs, intervalMs }: FinishedPoll): void {
    const period = periods.get(key);
    const before = period?.reason === "auth" ? period : undefined;
    // Refusals of polls that were in flight together count once.
    if (before !== undefined && startedMs < before.sinceMs) return;
    const lengthMs = before === undefined ? intervalMs : 2 * (before.untilMs - before.sinceMs);
    begin(key, endedMs, Math.min(lengthMs, MAX_BACKOFF_MS), "auth");
  }

  return {
    settle: (poll) => {
      const { operation, outcome, credentials, endedMs } = poll;
      const isList = operation === LIST;
      const together = togetherWith(operation);
      if (isList) accepted = outcome.ok ? credentials : undefined;
      if (outcome.ok) {
        for (const key of [operation, together]) periods.delete(key);
        if (isList) periods.delete(EVERYTHING);
        return;
      }
      const { reason, retryAfterMs } = outcome.failure;
      if (reason === "auth") {
        if (!isList) refuse(together, poll);
        if (accepted === undefined || accepted !== credentials) refuse(EVERYTHING, poll);
      } else if (reason === "unsupported") begin(operation, endedMs, UNSUPPORTED_MS, reason);
      else if (retryAfterMs !== undefined)
        begin(together, endedMs, Math.min(retryAfterMs, MAX_BACKOFF_MS), "http_status");
    },
    active: (operation, nowMs, listFirstMs) => {
      if (periods.size === 0) return undefined;
      const all = periods.get(EVERYTHING);
      const afterListMs = operation === LIST ? 0 : listFirstMs;
      const everything = all && { ...all, untilMs: all.untilMs + afterListMs };
      const own = [operation, togetherWith(operation)].map((key) => periods.get(key));
      const running = [everything, ...own].filter((period) => period !== undefined && period.untilMs > nowMs);
      return running.toSorted((a, b) => (b?.untilMs ?? 0) - (a?.untilMs ?? 0))[0];
    },
    everythingUntilMs: () => periods.get(EVERYTHING)?.untilMs ?? 0,
    end: (reason) => {
      const ended = [...periods].filter(([, period]) => period.reason === reason);
      for (const [key] of ended) periods.delete(key);
      return ended.length > 0;
    },
    forget: (operation) => void periods.delete(operation),
  };
}

/** What backs off together: an operation alone, or all that find websites. */
function togetherWith(operation: string): string {
  return /^website_(list|details)\b/.test(operation) ? "discovery" : operation;
}
