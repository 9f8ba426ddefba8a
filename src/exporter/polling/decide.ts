import type { Operation } from "../api/operation.ts";
import type { BackoffPeriod } from "./backoff.ts";
import { mustBeginByMs } from "./instants.ts";
import type { UnsentReason } from "./poll.ts";
import { POLL_RULES, type LimitName } from "./rules.ts";

/** Something calls for a poll out of turn: soon, or as a second look a while after a change. */
export const OUT_OF_TURN = ["confirming", "second_look"] as const;
export type OutOfTurn = (typeof OUT_OF_TURN)[number];

/**
 * A poll is due, something calls for it out of turn, a slot for it is free, or its wait for a slot must end. `returned`: the list in turn
 * shows that the appliance is not down, and the operation fails.
 */
export type Occasion = "due" | OutOfTurn | "returned" | "slot" | "wait_over";

/** The most polls out of turn between two polls in turn. A second look that finds another change calls for one more. */
const MOST: Readonly<Partial<Record<Occasion, number>>> = { confirming: 1, second_look: 3, returned: 6 };

/** A failed poll is made again this long after it began, at the earliest. */
const AGAIN_AFTER_MS = 2000;

/** A poll that waited for a slot begins late. The next one follows after at least this part of the time between them: timers are late, too. */
const LEAST_APART = 0.9;

/** The failures of an operation since its latest success. Instants are monotonic. */
export interface Failing {
  /** The instant at which the latest poll began; minus infinity if it was not sent, since the appliance was down. */
  readonly latestMs: number;
  /** The end of the first of these polls that could not connect; minus infinity if all could. */
  readonly cutOffMs: number;
}

/** An operation that is polled again and again, with the timers that begin polls out of turn. Instants are monotonic. */
export interface Task extends Partial<Record<OutOfTurn, NodeJS.Timeout | undefined>> {
  readonly operation: Operation;
  /** @see AppliancePoller */
  readonly poller: {
    due(operation: Operation, dueMs: number): void;
    missed(operation: Operation, count: number): void;
  };
  /** Without a plan nothing begins and nothing is observed. */
  isPlanned: boolean;
  /** `unserved`: it is in line for a slot, but its wait was reported as a failure. */
  progress: "idle" | "in_line" | "unserved" | "in_flight";
  /** The instant at which its latest poll was due. */
  dueMs: number;
  /** The occasions of its polls out of turn since the latest one in turn. */
  outOfTurn: readonly Occasion[];
  /** `undefined` unless its latest poll failed, or was not sent because the appliance was down. */
  failing?: Failing | undefined;
  /** The instant at which its latest poll began; `undefined` before the first. */
  sentAtMs?: number;
  /** The limit whose slot it waits for, or waited for last. */
  waitsFor?: LimitName;
  /** The instant from which the latest observation is stalled; `undefined` before the first. */
  latestUntilMs?: number | undefined;
  /** The instant at which its latest observed poll began, or was observed unsent. */
  observedFromMs?: number;
  /** Ends the poll in flight at once, as its appliance is down. */
  abandon?: (() => void) | undefined;
  /** The timer that ends its wait for a slot. */
  waiting?: NodeJS.Timeout | undefined;
}

/** The facts that the moment adds. Instants are monotonic. */
export interface Circumstances {
  readonly nowMs: number;
  /** The interval of the operation, or the usual gap of its schedule. */
  readonly gapMs: number;
  readonly timeoutMs: number;
  /** The interval of a hastened operation; `undefined` where it is polled as configured. */
  readonly hasteMs: number | undefined;
  readonly backoff: Pick<BackoffPeriod, "reason"> | undefined;
  /** Whether there are no new credentials since the refusal, as far as that was checked. */
  readonly isChecked: boolean;
  /** A failure of the VRRP list stops other polls until then; `undefined` if there is no such failure. */
  readonly downUntilMs: number | undefined;
  /** The end of the first poll of the VRRP list that succeeded after a failure of it; minus infinity before that. */
  readonly returnedMs: number;
  /** A poll of the VRRP list is in flight that was due then. Time from then on does not count towards `downUntilMs`. */
  readonly listDueMs: number | undefined;
}

/** `ignore`: nothing changes. `queue`: the poll takes its place in line for its slots. `check`: it waits for new credentials. */
export type Decision =
  | { readonly action: "queue" | "check" | "send" }
  | {
      readonly action: "ignore" | "reject";
      /** It is counted as skipped. */
      readonly skipped?: "overlap" | "backoff";
      /** The operation fails without a request. */
      readonly failure?: UnsentReason;
    };

/** Decides whether a poll is sent, waits, is skipped or fails. */
export function decide(occasion: Occasion, task: Readonly<Task>, given: Circumstances): Decision {
  // An appliance that lacks an operation may have been updated while it was away, or its services may still be starting.
  const isUpdated = occasion === "returned" && given.backoff?.reason === "unsupported";
  const now = isUpdated ? { ...given, backoff: undefined } : given;
  const hindrance = byOperation(occasion, task, now) ?? byAppliance(occasion, task, now);
  if (hindrance !== undefined) return hindrance;
  if (occasion === "wait_over" && task.waitsFor !== undefined)
    return { action: "reject", failure: task.waitsFor };
  return { action: occasion === "slot" ? "send" : "queue" };
}

/**
 * There is one poll of an operation at a time, and out of turn only a few between two in turn. In haste, an operation is polled
 * again once the poll before has ended.
 */
function byOperation(occasion: Occasion, task: Readonly<Task>, now: Circumstances): Decision | undefined {
  const { operation, progress, outOfTurn, failing, sentAtMs = -Infinity } = task;
  const { nowMs, hasteMs, backoff } = now;
  const most = MOST[occasion];
  if (most !== undefined) {
    const isFree = progress === "idle" && backoff === undefined;
    const made = outOfTurn.filter((each) => each === occasion).length;
    const isAllowed = made < most || failing?.latestMs === -Infinity;
    const isWanted = occasion !== "returned" || isDueAgain(failing, now);
    return isFree && isAllowed && isWanted ? undefined : { action: "ignore" };
  }
  if (occasion !== "due") return undefined;
  const isBusy = progress === "in_line" || progress === "in_flight";
  if (hasteMs !== undefined)
    return isBusy || nowMs - sentAtMs < LEAST_APART * hasteMs ? { action: "ignore" } : undefined;
  if (!isBusy) return undefined;
  // The details of many websites come one after another, and a round of them may take longer than their interval.
  const { limits } = POLL_RULES[operation.kind];
  const isRound = progress === "in_line" && limits.includes("appliance_details");
  return isRound ? { action: "ignore" } : { action: "ignore", skipped: "overlap" };
}

/**
 * Whether a failing operation is polled again now that the appliance is not down. What was not sent is sent at once. What failed is tried
 * again ever less often: when the time since the latest try is about half of the time since the appliance returned, or since the operation was
 * cut off, as in an outage that the list did not see. The reason does not count, since an appliance that starts may answer anything, and
 * what still fails a while later waits for its turns.
 */
function isDueAgain(failing: Failing | undefined, { nowMs, returnedMs }: Circumstances): boolean {
  if (failing === undefined) return false;
  const answersForMs = nowMs - Math.max(failing.cutOffMs, returnedMs);
  return nowMs - failing.latestMs >= Math.max(AGAIN_AFTER_MS, (LEAST_APART * answersForMs) / 2);
}

/** An appliance that is down, or refuses, gets no requests. */
function byAppliance(
  occasion: Occasion,
  { operation, progress, latestUntilMs = 0 }: Readonly<Task>,
  { nowMs, gapMs, timeoutMs, backoff, isChecked, downUntilMs = 0, listDueMs = nowMs }: Circumstances,
): Decision | undefined {
  if (operation.kind !== "vrrp" && listDueMs < downUntilMs)
    return { action: "reject", failure: "appliance_down" };
  if (backoff === undefined) return undefined;
  const { reason } = backoff;
  const mayCheck = occasion === "slot" || (occasion === "due" && progress === "idle");
  if (reason === "auth" && mayCheck && !isChecked) return { action: "check" };
  // The latest result must not expire as `stalled` before the next turn: it ends here, with the true reason.
  const isLastTurn = mustBeginByMs(latestUntilMs, gapMs, timeoutMs) <= nowMs + gapMs;
  return { action: "reject", skipped: "backoff", ...(isLastTurn && { failure: reason }) };
}
