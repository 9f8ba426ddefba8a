import pLimit, { type LimitFunction } from "p-limit";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import type { ApplianceClient } from "./client/client.ts";
import { toSeconds, type Clock } from "./clock.ts";
import type { PollEvents } from "./events.ts";
import { meansApplianceDown, type Failure } from "./failure.ts";
import { createFlights, type Flight, type Landing } from "./flights.ts";
import { operationKey, type Observation, type Operation, type PollResult } from "./observation.ts";
import { createPauses } from "./pauses.ts";
import { pollVrrp, pollWebsite, unsent, UNSENT_AUTH, UNSENT_DEFERRED, UNSENT_DOWN } from "./poll.ts";
import { timespan, type Timespan } from "./timespan.ts";

/** Polls one appliance whenever told that an operation of it is due, or asked for one. */
export interface AppliancePoller {
  /** Polls the operation, unless it is in flight, rests, or would reach nobody. Returns at once. */
  due(operation: Operation, dueMs: number): void;
  /**
   * What a poll of the operation yields that is made now, or is in flight already; what rests or would reach nobody is
   * answered without one. `undefined` once the appliance or the website is gone. Never rejects.
   */
  ask(operation: Operation): Promise<Observation | undefined>;
  /** Whether the appliance could be neither reached nor entered when its list was last polled, observed or not. */
  isDown(): boolean;
  /** Until when the operation rests, monotonic; `undefined` where it does not. */
  restsUntilMs(operation: Operation): number | undefined;
  /**
   * Goes on with another configuration of the same appliance; `client` may be the one it has. A pause for refused
   * credentials is over; polls that an abandoned client has under way are made again by the new one.
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
  /** Whether the polls that are asked for are observed; else they are answered alone. */
  readonly observesAsked: boolean;
  /** @see Timetable.twoGapsMs */
  readonly twoGapsMs: (timing: OperationTiming) => number;
  /** A VRRP list was observed; `isBack`: the appliance could be neither reached nor entered before, and now can. */
  readonly onVrrpPolled: (appliance: ApplianceConfig, isBack: boolean) => void;
}

type PollOver = (client: ApplianceClient, onStarted: () => void) => Promise<PollResult>;

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  initialClient: ApplianceClient,
): AppliancePoller {
  const { clock, events, fleetSlots } = deps;
  const slots = pLimit(initial.polling.maxConcurrentWebsiteTests);
  const flights = createFlights();
  const pauses = createPauses(clock);
  /** Until when the latest observation of an operation counts. */
  const latestUntilMs = new Map<string, number>();
  let appliance = initial;
  let client: ApplianceClient | undefined = initialClient;
  /** Whether the appliance could be neither reached nor entered: by the latest list that was observed. */
  let isDown = false;
  /** The same by the latest list of all. */
  let isDownToAskers = false;

  function begin(operation: Operation, dueMs: number, isObserved: boolean): Flight {
    return flights.begin(operation, isObserved, (flight) => handle(operation, dueMs, flight));
  }

  async function handle(operation: Operation, dueMs: number, flight: Flight): Landing {
    if (operation.kind === "vrrp") return attempt(operation, dueMs, flight);
    // Asked before the wait for a slot as well: a dead appliance's tests must not queue behind each other.
    if (isInVain(flight)) return tell(notSent(operation, UNSENT_DOWN), flight);
    return slots(() => fleetSlots(() => attempt(operation, dueMs, flight)));
  }

  /** A list that was only asked for takes no test away that is due. */
  function isInVain({ isObserved }: Flight): boolean {
    return isObserved ? isDown : isDownToAskers;
  }

  async function attempt(operation: Operation, dueMs: number, flight: Flight): Landing {
    const asked = client;
    if (asked === undefined) return undefined;
    if (operation.kind === "website_test" && isInVain(flight))
      return tell(notSent(operation, UNSENT_DOWN), flight);
    const poll = pollOf(operation);
    if (poll === undefined) return undefined;
    const { timeoutMs } = timingOf(operation);
    const isResting = await pauses.rests(operationKey(operation), () => asked.hasNewCredentials(timeoutMs));
    if (asked !== client) return attempt(operation, dueMs, flight);
    if (isResting) return rest(operation, flight);
    // Where the client is closed before, it has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    const result = await poll(asked, () => {
      startedMs = clock.monotonicMs();
      events.started(operation.kind, toSeconds(Math.max(0, startedMs - dueMs)));
    });
    const endedMs = clock.monotonicMs();
    const span = timespan(startedMs ?? endedMs, endedMs);
    if (startedMs !== undefined) events.ended(operation.kind, span.durationSeconds);
    // What a client had under way tells nothing once another has taken over; the poll is still due.
    return asked === client ? settle(result, span, flight) : attempt(operation, dueMs, flight);
  }

  /** Nothing for a website that was taken away while its test waited for a slot. */
  function pollOf(operation: Operation): PollOver | undefined {
    const { timeoutMs } = timingOf(operation);
    if (operation.kind === "vrrp") return (asked, onStarted) => pollVrrp(asked, timeoutMs, onStarted);
    const website = appliance.websites.find(({ id }) => id === operation.websiteId);
    return website && ((asked, onStarted) => pollWebsite(asked, website, timeoutMs, onStarted));
  }

  function rest(operation: Operation, flight: Flight): Observation {
    const observation = notSent(operation, pauses.isRefused() ? UNSENT_AUTH : UNSENT_DEFERRED);
    if (!flight.isObserved) return observation;
    events.skipped(operation.kind, "backoff", 1);
    const nextTurnMs = clock.monotonicMs() + gapMs(operation);
    const untilMs = latestUntilMs.get(operationKey(operation)) ?? 0;
    // It would grow stale before its next turn, as if polling were stuck; it ends here, for its true reason.
    return deps.observesAsked || untilMs <= nextTurnMs ? tell(observation, flight) : observation;
  }

  function settle(result: PollResult, span: Timespan, flight: Flight): Observation {
    const { outcome } = result;
    pauses.ended({ operation: operationKey(result), outcome, ...span, intervalMs: gapMs(result) });
    const observation = tell(dated(result, span.durationSeconds), flight);
    if (result.kind !== "vrrp") return observation;
    isDownToAskers = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    if (!flight.isObserved) return observation;
    const wasDown = isDown;
    isDown = isDownToAskers;
    deps.onVrrpPolled(appliance, wasDown && !isDown);
    return observation;
  }

  function notSent(operation: Operation, failure: Failure): Observation {
    return dated(unsent(operation, failure), undefined);
  }

  function dated(result: PollResult, durationSeconds: number | undefined): Observation {
    const nowMs = clock.monotonicMs();
    const restsUntilMs = result.outcome.ok ? nowMs : (pauses.untilMs(operationKey(result)) ?? nowMs);
    return {
      ...result,
      appliance: appliance.name,
      completedAtMs: clock.wallMs(),
      durationSeconds,
      expiresAtMs: restsUntilMs + 2 * gapMs(result) + timingOf(result).timeoutMs,
      certificate: client?.certificate(),
    };
  }

  function tell(observation: Observation, flight: Flight): Observation {
    if (!flight.isObserved) return observation;
    latestUntilMs.set(operationKey(observation), observation.expiresAtMs);
    events.observed(observation);
    return observation;
  }

  function timingOf({ kind }: Operation): OperationTiming {
    return kind === "vrrp" ? appliance.polling.vrrp : appliance.polling.websites;
  }

  function gapMs(operation: Operation): number {
    return deps.twoGapsMs(timingOf(operation)) / 2;
  }

  function ask(operation: Operation): Landing {
    const flight = flights.get(operation) ?? begin(operation, clock.monotonicMs(), deps.observesAsked);
    return flight.result;
  }

  return {
    due: (operation, dueMs) => {
      const flight = flights.get(operation);
      if (flight === undefined) begin(operation, dueMs, true);
      else if (flight.isObserved) events.skipped(operation.kind, "overlap", 1);
      else flight.isObserved = true;
    },
    ask,
    isDown: () => isDownToAskers,
    restsUntilMs: (operation) => pauses.untilMs(operationKey(operation)),
    update: (next, nextClient) => {
      if (client !== nextClient) client?.close();
      appliance = next;
      client = nextClient;
      pauses.forgetRefusal();
      slots.concurrency = next.polling.maxConcurrentWebsiteTests;
    },
    close: () => {
      client?.close();
      client = undefined;
    },
  };
}
