import { isDeepStrictEqual } from "node:util";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { createAppliancePoller, type AppliancePoller } from "./appliance-poller.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { CreateClient } from "../client/clients.ts";
import type { Clock } from "../support/clock.ts";
import type { PollEvents } from "./events.ts";
import { operationKey, type Operation } from "./observation.ts";
import { createSlots } from "./slots.ts";
import { startTimetable, type TimetableEntry } from "./timetable.ts";

/** Polls the enabled appliances of a configuration until it is stopped. */
export interface Runner {
  /**
   * Makes everything that this configuration needs, touching nothing that runs; the function that it returns is to be
   * called at once, and polls by the configuration from then on. An appliance that stays as it was keeps its instants,
   * connections and pauses; another address makes it a new one. Clients that are needed come from `createClient`.
   */
  prepare(config: Config, createClient: CreateClient): () => void;
  /**
   * The monotonic instant at which an operation of an appliance is polled next, pauses included; `undefined` where it is
   * not planned.
   */
  nextPollMs(appliance: string, operation: Operation): number | undefined;
  /** The monotonic instant at which the scheduler last ticked. */
  lastTickMs(): number;
  /** Ends all polls at once. */
  stop(): void;
}

export interface RunnerDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly onClockJump: (jumpMs: number) => void;
}

interface Seat {
  readonly appliance: ApplianceConfig;
  readonly client: ApplianceClient;
  readonly poller: AppliancePoller;
}

interface Target {
  readonly seat: Seat;
  readonly operation: Operation;
}

export function startRunner({ clock, events, onClockJump }: RunnerDeps): Runner {
  const slots = createSlots(clock);
  let seats: ReadonlyMap<string, Seat> = new Map();
  let targets: ReadonlyMap<string, Target> = new Map();
  /** Appliances whose VRRP list was polled; their website tests need not wait for it. */
  let polled = new Set<string>();

  const timetable = startTimetable({
    clock,
    onClockJump,
    onDue: (key, dueMs) => {
      const target = targets.get(key);
      target?.seat.poller.due(target.operation, dueMs);
    },
    onMissed: (key, count) => {
      const kind = targets.get(key)?.operation.kind;
      if (kind !== undefined) events.skipped(kind, "missed", count);
    },
  });
  const { twoGapsMs } = timetable;
  const pollerDeps = { clock, events, slots, twoGapsMs, onVrrpPolled };

  /** Website tests begin when it is known whether the appliance can be reached, and again as soon as it can. */
  function onVrrpPolled(appliance: ApplianceConfig, isBack: boolean): void {
    polled.add(appliance.name);
    for (const { id } of appliance.websites) {
      const key = targetKey(appliance, { kind: "website_test", websiteId: id });
      const hasBegun = timetable.release(key);
      if (isBack && !hasBegun) timetable.dueNow(key);
    }
  }

  function seatFor(appliance: ApplianceConfig, createClient: CreateClient): Seat {
    const old = seats.get(appliance.name);
    if (old === undefined || old.appliance.baseUrl !== appliance.baseUrl) {
      const client = createClient(appliance);
      return { appliance, client, poller: createAppliancePoller(pollerDeps, appliance, client) };
    }
    if (isDeepStrictEqual(old.appliance, appliance)) return old;
    const isSameHttp = old.appliance.http.fingerprint === appliance.http.fingerprint;
    const client = isSameHttp ? old.client : createClient(appliance);
    return { appliance, client, poller: old.poller };
  }

  /** The poller ends, or goes on with what is new. */
  function hand(seat: Seat, next: Seat | undefined): void {
    if (next?.poller !== seat.poller) seat.poller.close();
    else if (next !== seat) next.poller.update(next.appliance, next.client);
  }

  /** What a change brings is tried at once: new websites, and the VRRP list over a client that is new. */
  function begin(key: string, { seat, operation }: Target, before: Seat | undefined): void {
    if (polled.has(seat.appliance.name)) timetable.release(key);
    const hasNewClient = before?.poller === seat.poller && before.client !== seat.client;
    if (hasNewClient && operation.kind === "vrrp") timetable.dueNow(key);
  }

  return {
    prepare: (config, createClient) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      const next = new Map(enabled.map((appliance) => [appliance.name, seatFor(appliance, createClient)]));
      return () => {
        const before = seats;
        slots.setLimit(config.maxConcurrentWebsiteTests);
        for (const [name, seat] of before) hand(seat, next.get(name));
        seats = next;
        targets = new Map([...next.values()].flatMap(targetsOf));
        polled = new Set([...polled].filter((name) => seats.get(name)?.poller === before.get(name)?.poller));
        timetable.set([...targets].map(entryOf));
        for (const [key, target] of targets) begin(key, target, before.get(target.seat.appliance.name));
      };
    },
    nextPollMs: (name, operation) => {
      const seat = seats.get(name);
      if (seat === undefined) return undefined;
      const fromMs = seat.poller.restsUntilMs(operation) ?? clock.monotonicMs();
      return timetable.nextDueMs(targetKey(seat.appliance, operation), fromMs);
    },
    lastTickMs: timetable.lastTickMs,
    stop: () => {
      timetable.stop();
      for (const { poller } of seats.values()) poller.close();
    },
  };
}

function targetsOf(seat: Seat): readonly (readonly [string, Target])[] {
  const { appliance } = seat;
  const operations: readonly Operation[] = [
    { kind: "vrrp" },
    ...appliance.websites.map(({ id }) => ({ kind: "website_test", websiteId: id }) as const),
  ];
  return operations.map((operation) => [targetKey(appliance, operation), { seat, operation }]);
}

function targetKey({ name }: ApplianceConfig, operation: Operation): string {
  return `${name}/${operationKey(operation)}`;
}

function entryOf([key, { seat, operation }]: readonly [string, Target]): TimetableEntry {
  const { cluster, polling, baseUrl: subject } = seat.appliance;
  if (operation.kind === "vrrp") {
    return { key, subject, phaseKey: cluster, timing: polling.vrrp, first: "at_once" };
  }
  // Each website has a phase of its own within the cluster's, so that an appliance does not get all tests at once.
  const phaseKey = `${cluster}/${operationKey(operation)}`;
  return { key, subject, phaseKey, timing: polling.websites, first: "on_release" };
}
