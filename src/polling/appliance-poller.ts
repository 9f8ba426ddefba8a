import type { SlotKind } from "../api/operation.ts";
import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import type { ApplianceClient } from "../client/client.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import { createBackoff, type Backoff, type FinishedPoll } from "./backoff.ts";
import { type PollEvents, backoffKey, operationKey, type Operation, type PollResult } from "./observation.ts";
import { meansApplianceDown, type Failure } from "../client/failure.ts";
import { expiresAtMs, firstPace, mustBeginByMs, waitEndsMs, type Pace } from "./freshness.ts";
import { createDecode, poll, UNSENT, unsent, unsentForSlot } from "./poll.ts";
import type { Slots } from "./slots.ts";

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
  const backoff = createBackoff();
  let appliance = initial;
  let client: ApplianceClient | undefined = initialClient;
  let latestList: LatestList | undefined;

  async function attempt(operation: Operation, dueMs: number): Promise<void> {
    if (!(await mayBegin(operation))) return;
    const { takesSlot } = OPERATIONS[operation.kind];
    if (takesSlot === false) return send(operation, dueMs);
    // The list comes first: it says which details are still of use.
    const slot = await slots[takesSlot].take(beginByMs(operation, dueMs), operation.kind === "website_list");
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
    if (isRefused && (await used.hasNewCredentials(timingOf(operation).timeoutMs))) backoff.end("auth");
    if (used !== client) return mayBegin(operation);
    const active = backoffOf(operation);
    if (active !== undefined) skip(operation, UNSENT[active.reason]);
    return active === undefined;
  }

  async function send(operation: Operation, dueMs: number): Promise<void> {
    const used = client;
    if (used === undefined) return;
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(used, operation, timingOf(operation).timeoutMs, {
      decode,
      // What was never polled waits for as long as it takes.
      connectionWaitMs: latestUntilMs.has(operationKey(operation))
        ? Math.max(0, beginByMs(operation, dueMs) - clock.monotonicMs())
        : undefined,
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

  /** The end of the wait for a slot or a connection: so early that the poll ends before the latest result expires. */
  function beginByMs(operation: Operation, dueMs: number): number {
    const known = latestUntilMs.get(operationKey(operation));
    const pace = known === undefined ? firstPace(timingOf(operation)) : paceOf(operation);
    return waitEndsMs(dueMs, known ?? expiresAtMs(dueMs, pace), pace);
  }

  /** Whether the operation is a website test, which does not reach an appliance that is down. */
  function isKnownDown(operation: Operation): boolean {
    if (operation.kind === "vrrp" || latestList?.isDown !== true) return false;
    // It does not age while the list backs off after a refusal, or while its next poll is in flight.
    const fromMs = Math.max(latestList.atMs, backoff.everythingUntilMs());
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

  function backoffOf(operation: Operation): ReturnType<Backoff["active"]> {
    return backoff.active(backoffKey(operation), clock.monotonicMs(), suppressionMs());
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
    const [operation, intervalMs] = [backoffKey(result), paceOf(result).gapMs];
    backoff.settle({ operation, outcome, credentials, ...span, intervalMs });
    observe(result, span);
    if (result.kind !== "vrrp") return;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    const before = latestList;
    latestList = { isDown, atMs: span.endedMs };
    if (before === undefined) deps.onReachable(appliance.name, "first poll");
    else if (before.isDown && !isDown) deps.onReachable(appliance.name, "outage");
  }

  /** Observes a due poll that is not sent. */
  function fail(operation: Operation, failure: Failure): void {
    observe(unsent(operation, failure));
  }

  /** `span`: of a poll that was sent. */
  function observe(result: PollResult, span?: Span): void {
    const nowMs = clock.monotonicMs();
    const countsFromMs = result.outcome.ok ? nowMs : (backoffOf(result)?.untilMs ?? nowMs);
    const untilMs = expiresAtMs(countsFromMs, paceOf(result));
    latestUntilMs.set(operationKey(result), untilMs);
    events.observed({
      ...result,
      appliance: appliance.name,
      completedAtMs: clock.wallMs(),
      sentAtMs: span?.startedMs,
      durationSeconds: span && toSeconds(span.endedMs - span.startedMs),
      expiresAtMs: untilMs,
      certificate: client?.certificate(),
    });
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
      backoff.end("auth");
      slots.website_tests.setLimit(next.polling.maxConcurrentWebsiteTests);
    },
    forget: (operation) => {
      latestUntilMs.delete(operationKey(operation));
      backoff.forget(backoffKey(operation));
    },
    retryUnsupported: () => backoff.end("unsupported"),
    close: () => {
      client?.close();
      client = undefined;
      for (const each of Object.values(slots)) each.close();
    },
  };
}
