import pLimit, { type LimitFunction } from "p-limit";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import { backoffAfter, NO_BACKOFF, pausedUntilMs, withoutAuthPause } from "./backoff.ts";
import type { ApplianceClient } from "./client/client.ts";
import { toSeconds, type Clock } from "./clock.ts";
import type { PollEvents } from "./events.ts";
import { meansApplianceDown, type Failure } from "./failure.ts";
import { operationKey, type Operation, type PollResult } from "./observation.ts";
import { pollVrrp, pollWebsite, unsent, UNSENT_DOWN } from "./poll.ts";

/** Polls one appliance whenever told that an operation of it is due. */
export interface AppliancePoller {
  /** Polls the operation, unless it is in flight, rests, or would reach nobody. Returns at once. */
  due(operation: Operation, dueMs: number): void;
  /**
   * Goes on with another configuration of the same appliance; `client` may be the one it has. A pause for refused
   * credentials is over; polls that an abandoned client has under way are not observed.
   */
  update(appliance: ApplianceConfig, client: ApplianceClient): void;
  /** Ends all polls; nothing is observed from here on. */
  close(): void;
}

export interface AppliancePollerDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  /** Slots for website tests over the whole fleet. */
  readonly fleetSlots: LimitFunction;
  /** @see Timetable.twoGapsMs */
  readonly twoGapsMs: (timing: OperationTiming) => number;
  /** The VRRP list was polled; `isBack`: the appliance could be neither reached nor entered before, and now can. */
  readonly onVrrpPolled: (appliance: ApplianceConfig, isBack: boolean) => void;
}

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  initialClient: ApplianceClient,
): AppliancePoller {
  const { clock, events, fleetSlots } = deps;
  const slots = pLimit(initial.polling.maxConcurrentWebsiteTests);
  const inFlight = new Set<string>();
  /** Until when the latest observation of an operation counts. */
  const latestUntilMs = new Map<string, number>();
  let appliance = initial;
  let client: ApplianceClient | undefined = initialClient;
  let backoff = NO_BACKOFF;
  let isDown = false;

  function handle(operation: Operation, dueMs: number): Promise<void> {
    if (operation.kind === "vrrp") return attempt(operation, dueMs);
    // Asked before the wait for a slot as well: a dead appliance's tests must not queue behind each other.
    if (isDown) return Promise.resolve(observeUnsent(operation, UNSENT_DOWN));
    return slots(() => fleetSlots(() => attempt(operation, dueMs)));
  }

  async function attempt(operation: Operation, dueMs: number): Promise<void> {
    const asked = client;
    if (asked === undefined) return;
    if (operation.kind === "website_test" && isDown) return observeUnsent(operation, UNSENT_DOWN);
    const poll = pollOf(operation);
    if (poll === undefined) return;
    const isResting = await rests(operation, asked);
    if (asked !== client) return;
    if (isResting) return skip(operation);
    const startedMs = clock.monotonicMs();
    events.started(operation.kind, Math.max(0, startedMs - dueMs) / 1000);
    const result = await poll(asked);
    const endedMs = clock.monotonicMs();
    const durationSeconds = toSeconds(endedMs - startedMs);
    events.ended(operation.kind, durationSeconds);
    if (asked === client) settle(result, { startedMs, endedMs, durationSeconds });
  }

  /** Nothing for a website that was taken away while its test waited for a slot. */
  function pollOf(operation: Operation): ((asked: ApplianceClient) => Promise<PollResult>) | undefined {
    const { timeoutMs } = timingOf(operation);
    if (operation.kind === "vrrp") return (asked) => pollVrrp(asked, timeoutMs);
    const website = appliance.websites.find(({ id }) => id === operation.websiteId);
    return website && ((asked) => pollWebsite(asked, website, timeoutMs));
  }

  async function rests(operation: Operation, asked: ApplianceClient): Promise<boolean> {
    const key = operationKey(operation);
    const { timeoutMs } = timingOf(operation);
    if (pausedUntilMs(backoff, key, clock.monotonicMs()) === undefined) return false;
    if (backoff.auth !== undefined && (await asked.hasNewCredentials(timeoutMs)))
      backoff = withoutAuthPause(backoff);
    return pausedUntilMs(backoff, key, clock.monotonicMs()) !== undefined;
  }

  function skip(operation: Operation): void {
    events.skipped(operation.kind, "backoff", 1);
    const nextTurnMs = clock.monotonicMs() + gapMs(operation);
    const untilMs = latestUntilMs.get(operationKey(operation)) ?? 0;
    // It would grow stale before its next turn, as if polling were stuck; it ends here, for its true reason.
    if (untilMs <= nextTurnMs)
      observeUnsent(operation, backoff.auth === undefined ? UNSENT_DEFERRED : UNSENT_AUTH);
  }

  function settle(result: PollResult, { startedMs, endedMs, durationSeconds }: Timespan): void {
    const { outcome } = result;
    const finished = { operation: operationKey(result), outcome, startedMs, endedMs };
    backoff = backoffAfter(backoff, { ...finished, intervalMs: gapMs(result) });
    observe(result, durationSeconds);
    if (result.kind !== "vrrp") return;
    const wasDown = isDown;
    isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    deps.onVrrpPolled(appliance, wasDown && !isDown);
  }

  function observeUnsent(operation: Operation, failure: Failure): void {
    observe(unsent(operation, failure), undefined);
  }

  function observe(result: PollResult, durationSeconds: number | undefined): void {
    const key = operationKey(result);
    const nowMs = clock.monotonicMs();
    const restsUntilMs = result.outcome.ok ? nowMs : (pausedUntilMs(backoff, key, nowMs) ?? nowMs);
    const expiresAtMs = restsUntilMs + 2 * gapMs(result) + timingOf(result).timeoutMs;
    latestUntilMs.set(key, expiresAtMs);
    events.observed({
      ...result,
      appliance: appliance.name,
      completedAtMs: clock.wallMs(),
      durationSeconds,
      expiresAtMs,
      certificate: client?.certificate(),
    });
  }

  function timingOf({ kind }: Operation): OperationTiming {
    return kind === "vrrp" ? appliance.polling.vrrp : appliance.polling.websites;
  }

  function gapMs(operation: Operation): number {
    return deps.twoGapsMs(timingOf(operation)) / 2;
  }

  return {
    due: (operation, dueMs) => {
      const key = operationKey(operation);
      if (inFlight.has(key)) {
        events.skipped(operation.kind, "overlap", 1);
        return;
      }
      inFlight.add(key);
      void handle(operation, dueMs).finally(() => inFlight.delete(key));
    },
    update: (next, nextClient) => {
      if (client !== nextClient) client?.close();
      appliance = next;
      client = nextClient;
      backoff = withoutAuthPause(backoff);
      slots.concurrency = next.polling.maxConcurrentWebsiteTests;
    },
    close: () => {
      client?.close();
      client = undefined;
    },
  };
}

/** A poll from start to end, by the monotonic clock. */
interface Timespan {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly durationSeconds: number;
}

const UNSENT_DEFERRED: Failure = {
  reason: "http_status",
  message: "not sent: the appliance asked for a pause",
};

const UNSENT_AUTH: Failure = {
  reason: "auth",
  message: "not sent: the appliance refused the credentials for another operation",
};
