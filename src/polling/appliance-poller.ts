import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import type { ApplianceClient } from "../client/client.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import type { PollEvents } from "./events.ts";
import { meansApplianceDown, type Failure } from "../client/failure.ts";
import { createFlights, type Flight, type Landing } from "./flights.ts";
import { expiresAtMs, firstPace, mustBeginByMs, waitEndsMs, verdictLastsMs, type Pace } from "./freshness.ts";
import { operationKey, type Observation, type Operation, type PollResult } from "./observation.ts";
import { createPauses } from "./pauses.ts";
import {
  pollVrrp,
  pollWebsite,
  unsent,
  UNSENT_AUTH,
  UNSENT_DEFERRED,
  UNSENT_DOWN,
  unsentForSlot,
  type PollOptions,
} from "./poll.ts";
import type { ShortOf, Slots } from "./slots.ts";
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
  readonly slots: Slots;
  /** Whether the polls that are asked for are observed; else they are answered alone. */
  readonly observesAsked: boolean;
  /** @see Timetable.twoGapsMs */
  readonly twoGapsMs: (timing: OperationTiming) => number;
  /** A VRRP list was observed; `isBack`: the appliance could be neither reached nor entered before, and now can. */
  readonly onVrrpPolled: (appliance: ApplianceConfig, isBack: boolean) => void;
}

/** Whether the appliance could be neither reached nor entered when its list was polled, at the monotonic instant `atMs`. */
interface Verdict {
  readonly isDown: boolean;
  readonly atMs: number;
}

const LIST: Operation = { kind: "vrrp" };
const REACHABLE: Verdict = { isDown: false, atMs: 0 };

type SendPoll = (client: ApplianceClient, options: PollOptions) => Promise<PollResult>;

/** One try at a poll that was due; `fleet`, `appliance`: no slot came free in time. */
interface Attempt {
  readonly operation: Operation;
  readonly flight: Flight;
  readonly slot: "none needed" | "needed" | "slot" | ShortOf;
}

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  initialClient: ApplianceClient,
): AppliancePoller {
  const { clock, events } = deps;
  const slots = deps.slots.forAppliance(initial.polling.maxConcurrentWebsiteTests);
  const flights = createFlights();
  const pauses = createPauses(clock);
  /** Until when the latest observation of an operation counts. */
  const latestUntilMs = new Map<string, number>();
  /** When website tests became due that have found no free slot since. They keep their place over a failed wait. */
  const slotlessSinceMs = new Map<string, number>();
  let appliance = initial;
  let client: ApplianceClient | undefined = initialClient;
  /** By the latest list that was observed. */
  let verdict: Verdict = REACHABLE;
  /** By the latest list of all. */
  let verdictForAskers: Verdict = REACHABLE;

  function begin(operation: Operation, dueMs: number, isObserved: boolean): Flight {
    const slot = operation.kind === "vrrp" ? "none needed" : "needed";
    return flights.begin(operation, { dueMs, isObserved }, (flight) => attempt({ operation, flight, slot }));
  }

  async function attempt(tried: Attempt): Landing {
    const { operation, flight, slot } = tried;
    const asked = client;
    const poll = pollOf(operation);
    if (asked === undefined || poll === undefined) return undefined;
    if (isInVain(operation, flight)) return tell(notSent(operation, UNSENT_DOWN), flight);
    const { timeoutMs } = timingOf(operation);
    const isResting = await pauses.rests(operationKey(operation), () => asked.hasNewCredentials(timeoutMs));
    if (asked !== client) return attempt(tried);
    if (isResting) return rest(operation, flight);
    // What is not sent anyway has been sorted out before the wait for a slot, and is again after it.
    if (slot === "needed") return attemptWithSlot(tried);
    const waitedSeconds = (): number => toSeconds(Math.max(0, clock.monotonicMs() - flight.dueMs));
    if (slot === "fleet" || slot === "appliance")
      return tell(notSent(operation, unsentForSlot(slot, waitedSeconds())), flight);
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(asked, {
      connectionWaitMs: connectionWaitMs(operation),
      onStarted: () => {
        startedMs = clock.monotonicMs();
        events.started(operation.kind, waitedSeconds());
      },
      onCredentials: (sent) => (credentials = sent),
    });
    const endedMs = clock.monotonicMs();
    const span = timespan(startedMs ?? endedMs, endedMs);
    if (startedMs !== undefined) events.ended(operation.kind, span.durationSeconds);
    // What a client had under way tells nothing once another has taken over; the poll is still due.
    return asked === client ? settle(result, credentials, span, flight) : attempt(tried);
  }

  async function attemptWithSlot(tried: Attempt): Landing {
    const { operation, flight } = tried;
    const { dueMs } = flight;
    const key = operationKey(operation);
    const sinceMs = slotlessSinceMs.get(key) ?? dueMs;
    const slot = await slots.take({ sinceMs, untilMs: slotWaitEnds(operation, dueMs) });
    if (slot !== "slot") {
      slotlessSinceMs.set(key, sinceMs);
      return attempt({ ...tried, slot });
    }
    slotlessSinceMs.delete(key);
    try {
      return await attempt({ ...tried, slot });
    } finally {
      slots.release();
    }
  }

  /** What was never polled counts as polled from its first answer on, however long that takes. */
  function connectionWaitMs(operation: Operation): number | undefined {
    const known = latestUntilMs.get(operationKey(operation));
    const nowMs = clock.monotonicMs();
    return known === undefined ? undefined : waitEndsMs(nowMs, known, paceOf(operation)) - nowMs;
  }

  function slotWaitEnds(operation: Operation, dueMs: number): number {
    const known = latestUntilMs.get(operationKey(operation));
    if (known !== undefined) return waitEndsMs(dueMs, known, paceOf(operation));
    const pace = firstPace(timingOf(operation));
    return waitEndsMs(dueMs, expiresAtMs(dueMs, pace), pace);
  }

  /** A list that was only asked for takes no test away that is due. */
  function isInVain(operation: Operation, { isObserved }: Flight): boolean {
    if (operation.kind === "vrrp") return false;
    const { isDown, atMs } = isObserved ? verdict : verdictForAskers;
    // It does not age while the list rests after a refusal, or its next poll is in flight: that one is about to tell.
    const fromMs = Math.max(atMs, pauses.allUntilMs());
    const nowMs = flights.get(LIST)?.dueMs ?? clock.monotonicMs();
    return isDown && nowMs < fromMs + verdictMs();
  }

  function verdictMs(): number {
    const { vrrp, websites } = appliance.polling;
    return verdictLastsMs(deps.twoGapsMs(vrrp), deps.twoGapsMs(websites) / 2);
  }

  /** `undefined` for a website that was taken away while its test waited for a slot. */
  function pollOf(operation: Operation): SendPoll | undefined {
    const { timeoutMs } = timingOf(operation);
    if (operation.kind === "vrrp") return (asked, options) => pollVrrp(asked, timeoutMs, options);
    const website = appliance.websites.find(({ id }) => id === operation.websiteId);
    return website && ((asked, options) => pollWebsite(asked, website, timeoutMs, options));
  }

  function rest(operation: Operation, flight: Flight): Observation {
    const observation = notSent(
      operation,
      pauses.isRefused(operationKey(operation)) ? UNSENT_AUTH : UNSENT_DEFERRED,
    );
    if (!flight.isObserved) return observation;
    events.skipped(operation.kind, "backoff", 1);
    const pace = paceOf(operation);
    const nextTurnMs = clock.monotonicMs() + pace.gapMs;
    const untilMs = latestUntilMs.get(operationKey(operation)) ?? 0;
    // A poll at the next turn could come too late: the latest result would expire as if polling were stuck. It ends here,
    // for its true reason.
    const isLate = mustBeginByMs(untilMs, pace) <= nextTurnMs;
    return deps.observesAsked || isLate ? tell(observation, flight) : observation;
  }

  function settle(
    result: PollResult,
    credentials: symbol | undefined,
    span: Timespan,
    flight: Flight,
  ): Observation {
    const { outcome } = result;
    const operation = operationKey(result);
    const intervalMs = paceOf(result).gapMs;
    const listFirstMs = outcome.ok ? 0 : verdictMs();
    pauses.ended({ operation, outcome, credentials, ...span, intervalMs, listFirstMs });
    const observation = tell(dated(result, span.durationSeconds), flight);
    if (result.kind !== "vrrp") return observation;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    verdictForAskers = { isDown, atMs: span.endedMs };
    if (!flight.isObserved) return observation;
    const wasDown = verdict.isDown;
    verdict = verdictForAskers;
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
      expiresAtMs: expiresAtMs(restsUntilMs, paceOf(result)),
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

  function paceOf(operation: Operation): Pace {
    const timing = timingOf(operation);
    return { gapMs: deps.twoGapsMs(timing) / 2, timeoutMs: timing.timeoutMs };
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
    isDown: () => verdictForAskers.isDown,
    restsUntilMs: (operation) => pauses.untilMs(operationKey(operation)),
    update: (next, nextClient) => {
      if (client !== nextClient) client?.close();
      appliance = next;
      client = nextClient;
      pauses.forgetRefusals();
      slots.setLimit(next.polling.maxConcurrentWebsiteTests);
    },
    close: () => {
      client?.close();
      client = undefined;
      slots.close();
    },
  };
}
