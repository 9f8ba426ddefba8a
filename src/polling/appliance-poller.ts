import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import type { ApplianceClient } from "../client/client.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import {
  backoffAfter,
  NO_BACKOFF,
  backoffUntilMs,
  refusedUntilMs,
  withoutRefusals,
  type FinishedPoll,
} from "./backoff.ts";
import {
  type PollEvents,
  operationKey,
  type Observation,
  type Operation,
  type PollResult,
} from "./observation.ts";
import { meansApplianceDown, type Failure } from "../client/failure.ts";
import { expiresAtMs, firstPace, mustBeginByMs, waitEndsMs, verdictLastsMs, type Pace } from "./freshness.ts";
import { poll, unsent, UNSENT_AUTH, UNSENT_DEFERRED, UNSENT_DOWN, unsentForSlot } from "./poll.ts";
import type { ShortOf, Slots } from "./slots.ts";

/** Polls one appliance, one poll of each operation at a time. */
export interface AppliancePoller {
  /** Polls the operation, unless it is in flight or backs off, or the appliance is known to be down. Returns at once. */
  due(operation: Operation, dueMs: number): void;
  /** Whether a poll of the operation is in flight or waits for a slot. */
  isInFlight(operation: Operation): boolean;
  /** The monotonic instant until which the operation backs off; `undefined` if it does not. */
  backoffUntilMs(operation: Operation): number | undefined;
  /**
   * Changes the configuration of the appliance; `client` may be the present one. Ends a backoff for refused credentials. The
   * new client repeats polls that another client has in flight.
   */
  update(appliance: ApplianceConfig, client: ApplianceClient): void;
  /** Ends all polls; nothing is observed from here on. */
  close(): void;
}

export interface AppliancePollerDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly slots: Slots;
  /** @see Timetable.twoGapsMs */
  readonly twoGapsMs: (timing: OperationTiming) => number;
  /** A VRRP list was observed; `isBack`: the appliance was down (unreachable or unauthorized) before, and is not any more. */
  readonly onVrrpPolled: (appliance: ApplianceConfig, isBack: boolean) => void;
}

/** Whether the appliance was unreachable or unauthorized when its list was last polled, at the monotonic instant `atMs`. */
interface Verdict {
  readonly isDown: boolean;
  readonly atMs: number;
}

const LIST: Operation = { kind: "vrrp" };
const REACHABLE: Verdict = { isDown: false, atMs: 0 };

/** Monotonic instants. */
type Span = Pick<FinishedPoll, "startedMs" | "endedMs">;

/** One attempt at a poll that was due at `dueMs`; `fleet`, `appliance`: no slot came free in time. */
interface Attempt {
  readonly operation: Operation;
  readonly dueMs: number;
  readonly slot: "none needed" | "needed" | "slot" | ShortOf;
}

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  initialClient: ApplianceClient,
): AppliancePoller {
  const { clock, events } = deps;
  const slots = deps.slots.forAppliance(initial.polling.maxConcurrentWebsiteTests);
  /** When the polls in flight were due, from the wait for a slot on; by `operationKey`. */
  const inFlight = new Map<string, number>();
  /** Until when the latest observation of an operation counts. */
  const latestUntilMs = new Map<string, number>();
  /** When website tests became due that have found no free slot since. They keep their place over a failed wait. */
  const slotlessSinceMs = new Map<string, number>();
  let appliance = initial;
  let client: ApplianceClient | undefined = initialClient;
  let verdict: Verdict = REACHABLE;
  let backoff = NO_BACKOFF;

  async function attempt(tried: Attempt): Promise<void> {
    const { operation, dueMs, slot } = tried;
    const used = client;
    if (used === undefined || !isConfigured(operation)) return;
    if (isKnownDown(operation)) return observe(notSent(operation, UNSENT_DOWN));
    const { timeoutMs } = timingOf(operation);
    if (isRefused(operation) && (await used.hasNewCredentials(timeoutMs))) backoff = withoutRefusals(backoff);
    if (used !== client) return attempt(tried);
    if (pausedUntil(operation) !== undefined) return skip(operation);
    // These checks come before the wait for a slot, and again after it.
    if (slot === "needed") return attemptWithSlot(tried);
    const waitedSeconds = (): number => toSeconds(Math.max(0, clock.monotonicMs() - dueMs));
    if (slot === "fleet" || slot === "appliance")
      return observe(notSent(operation, unsentForSlot(slot, waitedSeconds())));
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(used, operation, timeoutMs, {
      connectionWaitMs: connectionWaitMs(operation),
      onStarted: () => {
        startedMs = clock.monotonicMs();
        events.started(operation.kind, waitedSeconds());
      },
      onCredentials: (sent) => (credentials = sent),
    });
    const endedMs = clock.monotonicMs();
    const span = { startedMs: startedMs ?? endedMs, endedMs };
    if (startedMs !== undefined) events.ended(operation.kind, toSeconds(endedMs - startedMs));
    // The result of a client that was replaced meanwhile does not count; the poll is still due.
    return used === client ? settle(result, credentials, span) : attempt(tried);
  }

  async function attemptWithSlot(tried: Attempt): Promise<void> {
    const { operation, dueMs } = tried;
    const key = operationKey(operation);
    const sinceMs = slotlessSinceMs.get(key) ?? dueMs;
    const slot = await slots.take({ sinceMs, untilMs: slotWaitEnds(operation, dueMs) });
    if (slot !== "slot") {
      slotlessSinceMs.set(key, sinceMs);
      return attempt({ ...tried, slot });
    }
    slotlessSinceMs.delete(key);
    try {
      await attempt({ ...tried, slot });
    } finally {
      slots.release();
    }
  }

  /** Until shortly before the latest result expires; what was never polled has none, and waits for as long as it takes. */
  function connectionWaitMs(operation: Operation): number | undefined {
    const untilMs = latestUntilMs.get(operationKey(operation));
    const marginMs = paceOf(operation).gapMs / 4;
    return untilMs && Math.max(marginMs, untilMs - marginMs - clock.monotonicMs());
  }

  function slotWaitEnds(operation: Operation, dueMs: number): number {
    const known = latestUntilMs.get(operationKey(operation));
    if (known !== undefined) return waitEndsMs(dueMs, known, paceOf(operation));
    const pace = firstPace(timingOf(operation));
    return waitEndsMs(dueMs, expiresAtMs(dueMs, pace), pace);
  }

  /** Whether the operation is a website test, which does not reach an appliance that is down. */
  function isKnownDown(operation: Operation): boolean {
    if (operation.kind === "vrrp") return false;
    const { isDown, atMs } = verdict;
    // The verdict does not age while the list backs off after a refusal, or while its next poll is in flight.
    const fromMs = Math.max(atMs, backoff.everything?.untilMs ?? 0);
    const nowMs = inFlight.get(operationKey(LIST)) ?? clock.monotonicMs();
    return isDown && nowMs < fromMs + verdictMs();
  }

  function verdictMs(): number {
    const { vrrp, websites } = appliance.polling;
    return verdictLastsMs(deps.twoGapsMs(vrrp), deps.twoGapsMs(websites) / 2);
  }

  /** Not for a website that was taken away while its test waited for a slot. */
  function isConfigured(operation: Operation): boolean {
    return !("websiteId" in operation) || appliance.websites.some(({ id }) => id === operation.websiteId);
  }

  function pausedUntil(operation: Operation): number | undefined {
    return backoffUntilMs(backoff, operationKey(operation), clock.monotonicMs());
  }

  /** Whether the operation backs off because the credentials were refused. */
  function isRefused(operation: Operation): boolean {
    return refusedUntilMs(backoff, operationKey(operation), clock.monotonicMs()) !== undefined;
  }

  function skip(operation: Operation): void {
    events.skipped(operation.kind, "backoff", 1);
    const pace = paceOf(operation);
    const nextTurnMs = clock.monotonicMs() + pace.gapMs;
    const untilMs = latestUntilMs.get(operationKey(operation)) ?? 0;
    // The latest result must not expire as `stalled` before the next turn: it ends here, with the true reason.
    const isLate = mustBeginByMs(untilMs, pace) <= nextTurnMs;
    if (isLate) observe(notSent(operation, isRefused(operation) ? UNSENT_AUTH : UNSENT_DEFERRED));
  }

  function settle(result: PollResult, credentials: symbol | undefined, span: Span): void {
    const { outcome } = result;
    const operation = operationKey(result);
    const intervalMs = paceOf(result).gapMs;
    const listFirstMs = outcome.ok ? 0 : verdictMs();
    backoff = backoffAfter(backoff, { operation, outcome, credentials, ...span, intervalMs, listFirstMs });
    observe(dated(result, span));
    if (result.kind !== "vrrp") return;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    const wasDown = verdict.isDown;
    verdict = { isDown, atMs: span.endedMs };
    deps.onVrrpPolled(appliance, wasDown && !isDown);
  }

  function notSent(operation: Operation, failure: Failure): Observation {
    return dated(unsent(operation, failure));
  }

  /** `span`: of a poll that was sent. */
  function dated(result: PollResult, span?: Span): Observation {
    const nowMs = clock.monotonicMs();
    const countsFromMs = result.outcome.ok ? nowMs : (pausedUntil(result) ?? nowMs);
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
    return { gapMs: deps.twoGapsMs(timing) / 2, timeoutMs: timing.timeoutMs };
  }

  return {
    due: (operation, dueMs) => {
      const key = operationKey(operation);
      if (inFlight.has(key)) {
        events.skipped(operation.kind, "overlap", 1);
        return;
      }
      inFlight.set(key, dueMs);
      const slot = OPERATIONS[operation.kind].takesSlot ? "needed" : "none needed";
      void attempt({ operation, dueMs, slot }).finally(() => inFlight.delete(key));
    },
    isInFlight: (operation) => inFlight.has(operationKey(operation)),
    backoffUntilMs: pausedUntil,
    update: (next, nextClient) => {
      if (client !== nextClient) client?.close();
      appliance = next;
      client = nextClient;
      backoff = withoutRefusals(backoff);
      slots.setLimit(next.polling.maxConcurrentWebsiteTests);
    },
    close: () => {
      client?.close();
      client = undefined;
      slots.close();
    },
  };
}
