import type { Config } from "../config/config.ts";
import pLimit from "p-limit";
import type { Operation } from "../api/operation.ts";
import { createAppliancePoller, type AppliancePoller, type AppliancePollerDeps } from "./appliance-poller.ts";
import type { CreateClient } from "../client/client.ts";
import type { OutOfTurn, Task } from "./decide.ts";
import type { PollEvents } from "./observation.ts";
import { inSlices } from "../../support/slices.ts";
import { createTurns } from "../../support/turns.ts";
import { startTimetable } from "./timetable.ts";

/** Polls the enabled appliances of a configuration until it is stopped. */
export interface Runner {
  /**
   * Makes everything that this configuration needs, touching nothing that runs; the function that it returns is to be
   * called at once. From then on nothing is polled at an address or with credentials that are gone; what is polled when
   * follows in slices. An appliance at the same address with the same credentials and TLS settings keeps its instants,
   * connections and backoff; any other is polled as a new one, by a client from `createClient`, and `events` receives what comes of that.
   */
  prepare(config: Config, createClient: CreateClient, events: PollEvents): () => Promise<void>;
  /** The monotonic instant at which an operation is polled next, backoff included; `undefined` where it is not planned. */
  nextPollMs(appliance: string, operation: Operation): number | undefined;
  /** Polls what is now planned for an appliance's websites. */
  replan(appliance: string): void;
  /** Makes polls out of turn: only a few between two in turn, and none of what is due shortly before, backs off or is in flight then. */
  confirm(polls: ConfirmingPolls): void;
  /**
   * From now on polls the VRRP lists of these appliances every half second and tests their websites every second, and polls all others
   * as configured. Tests wait for slots as always. Timeouts, backoff, and how long results count stay as configured.
   */
  hasten(appliances: ReadonlySet<string>): void;
  /** The monotonic instant at which the first of all operations is due next; infinite if none is. */
  soonestMs(): number;
  /** The monotonic instant at which the scheduler last ticked. */
  lastTickMs(): number;
  /** Ends all polls at once. */
  stop(): void;
}

/** Polls out of turn that confirm or refute what the latest answers seem to say. */
export interface ConfirmingPolls {
  readonly appliances: readonly string[];
  readonly operation: Operation;
  readonly occasion: OutOfTurn;
  /** The delay from now on. */
  readonly afterMs: number;
}

export interface RunnerDeps extends Pick<AppliancePollerDeps, "clock" | "operationsOf"> {
  readonly onClockJump: (jumpMs: number) => void;
}

/** Simultaneous polls of lists and details of websites, over the fleet. */
const MAX_CONCURRENT_DISCOVERY = 64;
/** Work for long answers takes so much of one turn of the event loop. */
const LONG_ANSWERS_MS = 10;

export function startRunner({ clock, onClockJump, operationsOf }: RunnerDeps): Runner {
  const limits = { website_tests: pLimit(1), discovery: pLimit(MAX_CONCURRENT_DISCOVERY) };
  const turns = createTurns(LONG_ANSWERS_MS);
  /** The keys are names of appliances. */
  let pollers: ReadonlyMap<string, AppliancePoller> = new Map();
  let hastened: ReadonlySet<string> = new Set();

  const timetable = startTimetable<Task>({
    clock,
    onClockJump,
    onDue: ({ poller, operation }, dueMs) => poller.due(operation, dueMs),
    onMissed: ({ poller, operation }, count) => poller.missed(operation, count),
  });
  const pollerDeps: Omit<AppliancePollerDeps, "events"> = {
    clock,
    limits,
    turns,
    timetable,
    operationsOf,
    isHastened: (name) => hastened.has(name),
  };

  return {
    prepare: (config, createClient, events) => {
      const appliances = config.appliances.filter(({ enabled }) => enabled);
      const next = new Map(
        appliances.map((appliance) => {
          const known = pollers.get(appliance.name);
          if (known?.canPoll(appliance) === true) return [appliance.name, known] as const;
          const poller = createAppliancePoller({ ...pollerDeps, events }, appliance, createClient(appliance));
          return [appliance.name, poller] as const;
        }),
      );
      return () => {
        const before = pollers;
        pollers = next;
        limits.website_tests.concurrency = config.maxConcurrentWebsiteTests;
        for (const [name, poller] of before) if (next.get(name) !== poller) poller.close();
        for (const appliance of appliances) next.get(appliance.name)?.update(appliance);
        return inSlices(new Set([...before.values(), ...next.values()]), (poller) => poller.arrange());
      };
    },
    nextPollMs: (name, operation) => pollers.get(name)?.nextPollMs(operation),
    replan: (name) => pollers.get(name)?.arrange(),
    confirm: ({ appliances, operation, occasion, afterMs }) => {
      for (const name of appliances) pollers.get(name)?.confirm(operation, occasion, afterMs);
    },
    hasten: (appliances) => {
      const concerned = new Set([...hastened, ...appliances]);
      hastened = appliances;
      for (const name of concerned) pollers.get(name)?.schedule();
    },
    soonestMs: timetable.soonestMs,
    lastTickMs: timetable.lastTickMs,
    stop: () => {
      timetable.stop();
      for (const poller of pollers.values()) poller.close();
      pollers = new Map();
    },
  };
}
