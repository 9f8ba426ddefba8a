import type { SlotKind } from "../api/operation.ts";
import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import type { ApplianceClient } from "../client/client.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import {
  activeBackoff,
  backoffAfter,
  NO_BACKOFF,
  withoutOperation,
  withoutReason,
  withoutRefusals,
  type FinishedPoll,
} from "./backoff.ts";
import {
  type PollEvents,
  backoffKey,
  operationKey,
  type Observation,
  type Operation,
  type PollResult,
} from "./observation.ts";
import { meansApplianceDown, type Failure } from "../client/failure.ts";
import { expiresAtMs, firstPace, MAX_WAIT_MS, mustBeginByMs, waitEndsMs, type Pace } from "./freshness.ts";
import { createDecode, poll, UNSENT, unsent, unsentForSlot } from "./poll.ts";
import type { ShortOf, Slots } from "./slots.ts";

/** Polls one appliance, one poll of each operation at a time. */
export interface AppliancePoller {
  /** Polls the operation, unless it is in flight or backs off, or the appliance is known to be down. Returns at once. */
  due(operation: Operation, dueMs: number): void;
  /** Whether a poll of the operation is in flight or waits for a slot. */
  isInFlight(operation: Operation): boolean;
  /** Whether the VRRP list was polled, with whatever result. */
  wasPolled(): boolean;
  /** The monotonic instant until which the operation backs off; `undefined` if it does not. */
  backoffUntilMs(operation: Operation): number | undefined;
  /**
   * Changes the configuration of the appliance; `client` may be the present one. Ends a backoff for refused credentials. The
   * new client repeats polls that another client has in flight.
   */
  update(appliance: ApplianceConfig, client: ApplianceClient): void;
  /** Drops what is known of an operation that is no longer planned; its id may belong to another website later. */
  forget(operation: Operation): void;
  /** Ends the backoff of what the appliance lacked, and returns whether there was one. */
  retryUnsupported(): boolean;
  /** Ends all polls; nothing is observed from here on. */
  close(): void;
}

export interface AppliancePollerDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly slots: Readonly<Record<SlotKind, Slots>>;
  /** Whether the operation is still to be polled; it may have waited for long. */
  readonly isPlanned: (appliance: string, operation: Operation) => boolean;
  /** @see Timetable.gapMs */
  readonly gapMs: (timing: OperationTiming) => number;
  /**
   * Website tests can begin, because the VRRP list was polled for the first time, or are to be repeated, because the
   * appliance was down (unreachable or unauthorized) and is not any more.
   */
  readonly onReachable: (appliance: string, since: "first poll" | "outage") => void;
}

/** Whether the appliance was unreachable or unauthorized when its list was last polled, at the monotonic instant `atMs`. */
interface LatestList {
  readonly isDown: boolean;
  readonly atMs: number;
}

const LIST: Operation = { kind: "vrrp" };

/** Monotonic instants. */
type Span = Pick<FinishedPoll, "startedMs" | "endedMs">;

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  initialClient: ApplianceClient,
): AppliancePoller {
  const { clock, events } = deps;
  const decode = createDecode();
  const slots = {
    website_tests: deps.slots.website_tests.forAppliance(initial.polling.maxConcurrentWebsiteTests),
    discovery: deps.slots.discovery.forAppliance(1),
  };
  /** When the polls in flight were due, from the wait for a slot on; by `operationKey`. */
  const inFlight = new Map<string, number>();
  /** Until when the latest observation of an operation counts. */
  const latestUntilMs = new Map<string, number>();
  /** When website tests became due that have found no free slot since. They keep their place over a failed wait. */
  const slotlessSinceMs = new Map<string, number>();
  let appliance = initial;
  let client: ApplianceClient | undefined = initialClient;
  let latestList: LatestList | undefined;
  let backoff = NO_BACKOFF;

  async function attempt(operation: Operation, dueMs: number): Promise<void> {
    if (!(await mayBegin(operation))) return;
    const { takesSlot } = OPERATIONS[operation.kind];
    if (takesSlot === false) return send(operation, dueMs);
    const slot = await takeSlot(takesSlot, operation, dueMs);
    try {
      // Much may have happened during the wait.
      if (!(await mayBegin(operation))) return;
      if (slot === "slot") await send(operation, dueMs);
      else fail(operation, unsentForSlot(takesSlot, slot, waitedSeconds(dueMs)));
    } finally {
      if (slot === "slot") slots[takesSlot].release();
    }
  }

  /** Whether the poll can begin now. If not, it is reported why. */
  async function mayBegin(operation: Operation): Promise<boolean> {
    const used = client;
    if (used === undefined || !deps.isPlanned(appliance.name, operation)) return false;
    if (isKnownDown(operation)) {
      fail(operation, UNSENT.appliance_down);
      return false;
    }
    const isRefused = backoffOf(operation)?.reason === "auth";
    if (isRefused && (await used.hasNewCredentials(timingOf(operation).timeoutMs)))
      backoff = withoutRefusals(backoff);
    if (used !== client) return mayBegin(operation);
    const active = backoffOf(operation);
    if (active !== undefined) skip(operation, UNSENT[active.reason]);
    return active === undefined;
  }

  async function takeSlot(kind: SlotKind, operation: Operation, dueMs: number): Promise<"slot" | ShortOf> {
    const key = operationKey(operation);
    // The list comes first: it says which details are still of use.
    const sinceMs = operation.kind === "website_list" ? 0 : (slotlessSinceMs.get(key) ?? dueMs);
    const slot = await slots[kind].take({ sinceMs, untilMs: slotWaitEnds(operation, dueMs) });
    if (slot === "slot") slotlessSinceMs.delete(key);
    else slotlessSinceMs.set(key, sinceMs);
    return slot;
  }

  async function send(operation: Operation, dueMs: number): Promise<void> {
    const used = client;
    if (used === undefined) return;
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(used, operation, timingOf(operation).timeoutMs, {
      decode,
      connectionWaitMs: connectionWaitMs(operation),
      onStarted: () => {
        startedMs = clock.monotonicMs();
        events.started(operation.kind, waitedSeconds(dueMs));
      },
      onCredentials: (sent) => (credentials = sent),
    });
    const endedMs = clock.monotonicMs();
    if (startedMs !== undefined) events.ended(operation.kind, toSeconds(endedMs - startedMs));
    if (used === client) return settle(result, credentials, { startedMs: startedMs ?? endedMs, endedMs });
    // The result of a client that was replaced meanwhile does not count; the poll is still due.
    if (await mayBegin(operation)) await send(operation, dueMs);
  }

  function waitedSeconds(dueMs: number): number {
    return toSeconds(Math.max(0, clock.monotonicMs() - dueMs));
  }

  /** Until shortly before the latest result expires; what was never polled has none, and waits for as long as it takes. */
  function connectionWaitMs(operation: Operation): number | undefined {
    const untilMs = latestUntilMs.get(operationKey(operation));
    const marginMs = paceOf(operation).gapMs / 4;
    if (untilMs === undefined) return undefined;
    return Math.min(Math.max(marginMs, untilMs - marginMs - clock.monotonicMs()), MAX_WAIT_MS);
  }

  function slotWaitEnds(operation: Operation, dueMs: number): number {
    const known = latestUntilMs.get(operationKey(operation));
    if (known !== undefined) return waitEndsMs(dueMs, known, paceOf(operation));
    const pace = firstPace(timingOf(operation));
    return waitEndsMs(dueMs, expiresAtMs(dueMs, pace), pace);
  }

  /** Whether the operation is a website test, which does not reach an appliance that is down. */
  function isKnownDown(operation: Operation): boolean {
    if (operation.kind === "vrrp" || latestList?.isDown !== true) return false;
    // It does not age while the list backs off after a refusal, or while its next poll is in flight.
    const fromMs = Math.max(latestList.atMs, backoff.everything?.untilMs ?? 0);
    const nowMs = inFlight.get(operationKey(LIST)) ?? clock.monotonicMs();
    return nowMs < fromMs + suppressionMs();
  }

  /**
   * How long a failed poll of the list suppresses website tests: two gaps of the list, but at most one gap of the tests. Time
   * in which the next poll of the list is in flight does not count.
   */
  function suppressionMs(): number {
    const { vrrp, websites } = appliance.polling;
    return Math.min(2 * deps.gapMs(vrrp), deps.gapMs(websites));
  }

  function backoffOf(operation: Operation): ReturnType<typeof activeBackoff> {
    return activeBackoff(backoff, backoffKey(operation), clock.monotonicMs());
  }

  function skip(operation: Operation, failure: Failure): void {
    events.skipped(operation.kind, "backoff", 1);
    const pace = paceOf(operation);
    const nextTurnMs = clock.monotonicMs() + pace.gapMs;
    const untilMs = latestUntilMs.get(operationKey(operation)) ?? 0;
    // The latest result must not expire as `stalled` before the next turn: it ends here, with the true reason.
    if (mustBeginByMs(untilMs, pace) <= nextTurnMs) fail(operation, failure);
  }

  function settle(result: PollResult, credentials: symbol | undefined, span: Span): void {
    const { outcome } = result;
    const operation = backoffKey(result);
    const intervalMs = paceOf(result).gapMs;
    const listFirstMs = outcome.ok ? 0 : suppressionMs();
    backoff = backoffAfter(backoff, { operation, outcome, credentials, ...span, intervalMs, listFirstMs });
    observe(dated(result, span));
    if (result.kind !== "vrrp") return;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    const before = latestList;
    latestList = { isDown, atMs: span.endedMs };
    if (before === undefined) deps.onReachable(appliance.name, "first poll");
    else if (before.isDown && !isDown) deps.onReachable(appliance.name, "outage");
  }

  /** Observes a due poll that is not sent. */
  function fail(operation: Operation, failure: Failure): void {
    observe(dated(unsent(operation, failure)));
  }

  /** `span`: of a poll that was sent. */
  function dated(result: PollResult, span?: Span): Observation {
    const nowMs = clock.monotonicMs();
    const countsFromMs = result.outcome.ok ? nowMs : (backoffOf(result)?.untilMs ?? nowMs);
    return {
      ...result,
      appliance: appliance.name,
      completedAtMs: clock.wallMs(),
      sentAtMs: span?.startedMs,
      durationSeconds: span && toSeconds(span.endedMs - span.startedMs),
      expiresAtMs: expiresAtMs(countsFromMs, paceOf(result)),
      certificate: client?.certificate(),
    };
  }

  function observe(observation: Observation): void {
    latestUntilMs.set(operationKey(observation), observation.expiresAtMs);
    events.observed(observation);
  }

  function timingOf({ kind }: Operation): OperationTiming {
    return appliance.polling[OPERATIONS[kind].timing];
  }

  function paceOf(operation: Operation): Pace {
    const timing = timingOf(operation);
    return { gapMs: deps.gapMs(timing), timeoutMs: timing.timeoutMs };
  }

  return {
    due: (operation, dueMs) => {
      const key = operationKey(operation);
      if (inFlight.has(key)) {
        events.skipped(operation.kind, "overlap", 1);
        return;
      }
      inFlight.set(key, dueMs);
      void attempt(operation, dueMs).finally(() => inFlight.delete(key));
    },
    isInFlight: (operation) => inFlight.has(operationKey(operation)),
    wasPolled: () => latestList !== undefined,
    backoffUntilMs: (operation) => backoffOf(operation)?.untilMs,
    update: (next, nextClient) => {
      if (client !== nextClient) client?.close();
      appliance = next;
      client = nextClient;
      backoff = withoutRefusals(backoff);
      slots.website_tests.setLimit(next.polling.maxConcurrentWebsiteTests);
    },
    forget: (operation) => {
      const key = operationKey(operation);
      latestUntilMs.delete(key);
      slotlessSinceMs.delete(key);
      backoff = withoutOperation(backoff, backoffKey(operation));
    },
    retryUnsupported: () => {
      const before = backoff;
      backoff = withoutReason(backoff, "unsupported");
      return backoff.operations.size < before.operations.size;
    },
    close: () => {
      client?.close();
      client = undefined;
      for (const each of Object.values(slots)) each.close();
    },
  };
}
