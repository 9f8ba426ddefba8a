import { isDeepStrictEqual } from "node:util";
import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { createAppliancePoller, type AppliancePoller } from "./appliance-poller.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { CreateClient } from "../client/clients.ts";
import type { Clock } from "../support/clock.ts";
import { type PollEvents, operationKey, type Operation } from "./observation.ts";
import { needsConfirmingPoll, type ConfirmingPolls } from "./confirming.ts";
import { createSlots } from "./slots.ts";
import { startTimetable, type TimetableEntry } from "./timetable.ts";

/** Polls the enabled appliances of a configuration until it is stopped. */
export interface Runner {
  /**
   * Makes everything that this configuration needs, touching nothing that runs; the function that it returns is to be
   * called at once, and polls by the configuration from then on. An appliance that stays as it was keeps its instants,
   * connections and backoff; another address makes it a new one. Clients that are needed come from `createClient`.
   */
  prepare(config: Config, createClient: CreateClient): () => void;
  /**
   * The monotonic instant at which an operation of an appliance is polled next, backoff included; `undefined` where it is
   * not planned.
   */
  nextPollMs(appliance: string, operation: Operation): number | undefined;
  /** Makes polls out of turn, unless they are in flight or not needed by then. @see needsConfirmingPoll */
  confirm(polls: ConfirmingPolls): void;
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

/** An appliance that is polled, and what polls it. */
interface ScheduledAppliance {
  readonly appliance: ApplianceConfig;
  readonly client: ApplianceClient;
  readonly poller: AppliancePoller;
}

interface Target {
  readonly owner: ScheduledAppliance;
  readonly operation: Operation;
}

export function startRunner({ clock, events, onClockJump }: RunnerDeps): Runner {
  const slots = createSlots(clock);
  let scheduled: ReadonlyMap<string, ScheduledAppliance> = new Map();
  let targets: ReadonlyMap<string, Target> = new Map();
  /** Appliances whose VRRP list was polled; their website tests need not wait for it. */
  let polled = new Set<string>();
  /** Timers of confirming polls, by target. */
  const confirming = new Map<string, NodeJS.Timeout>();

  const timetable = startTimetable({
    clock,
    onClockJump,
    onDue: (key, dueMs) => {
      const target = targets.get(key);
      target?.owner.poller.due(target.operation, dueMs);
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
    for (const operation of operationsOf(appliance).filter(waitsForList)) {
      const key = targetKey(appliance, operation);
      const hasBegun = timetable.release(key);
      if (isBack && !hasBegun) timetable.dueNow(key);
    }
  }

  function confirm({ appliance, poller }: ScheduledAppliance, operation: Operation, afterMs: number): void {
    const key = targetKey(appliance, operation);
    const nowMs = clock.monotonicMs();
    const nextDueMs = timetable.nextDueMs(key, nowMs);
    const backoffUntilMs = poller.backoffUntilMs(operation);
    const turn = { nowMs, nextDueMs, backoffUntilMs, isPlanned: confirming.has(key) };
    if (needsConfirmingPoll(turn, afterMs))
      confirming.set(
        key,
        setTimeout(() => confirmNow(key), afterMs),
      );
  }

  function confirmNow(key: string): void {
    confirming.delete(key);
    const { owner, operation } = targets.get(key) ?? {};
    if (owner === undefined || operation === undefined) return;
    const { poller } = owner;
    if (!poller.isInFlight(operation) && poller.backoffUntilMs(operation) === undefined)
      timetable.dueNow(key);
  }

  function scheduledFor(appliance: ApplianceConfig, createClient: CreateClient): ScheduledAppliance {
    const old = scheduled.get(appliance.name);
    if (old === undefined || old.appliance.baseUrl !== appliance.baseUrl) {
      const client = createClient(appliance);
      return { appliance, client, poller: createAppliancePoller(pollerDeps, appliance, client) };
    }
    if (isDeepStrictEqual(old.appliance, appliance)) return old;
    const isSameHttp = old.appliance.http.fingerprint === appliance.http.fingerprint;
    const client = isSameHttp ? old.client : createClient(appliance);
    return { appliance, client, poller: old.poller };
  }

  /** Ends the poller, or updates it. */
  function handOver(owner: ScheduledAppliance, next: ScheduledAppliance | undefined): void {
    if (next?.poller !== owner.poller) owner.poller.close();
    else if (next !== owner) next.poller.update(next.appliance, next.client);
  }

  /** Polls what a reload changed at once: new websites, and the VRRP list over a new client. */
  function begin(key: string, { owner, operation }: Target, before: ScheduledAppliance | undefined): void {
    if (polled.has(owner.appliance.name)) timetable.release(key);
    const hasNewClient = before?.poller === owner.poller && before.client !== owner.client;
    if (hasNewClient && operation.kind === "vrrp") timetable.dueNow(key);
  }

  return {
    prepare: (config, createClient) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      const next = new Map(
        enabled.map((appliance) => [appliance.name, scheduledFor(appliance, createClient)]),
      );
      return () => {
        const before = scheduled;
        slots.setLimit(config.maxConcurrentWebsiteTests);
        for (const [name, owner] of before) handOver(owner, next.get(name));
        scheduled = next;
        targets = new Map([...next.values()].flatMap(targetsOf));
        polled = new Set(
          [...polled].filter((name) => scheduled.get(name)?.poller === before.get(name)?.poller),
        );
        timetable.set([...targets].map(entryOf));
        for (const [key, target] of targets) begin(key, target, before.get(target.owner.appliance.name));
      };
    },
    nextPollMs: (name, operation) => {
      const owner = scheduled.get(name);
      if (owner === undefined) return undefined;
      const fromMs = owner.poller.backoffUntilMs(operation) ?? clock.monotonicMs();
      return timetable.nextDueMs(targetKey(owner.appliance, operation), fromMs);
    },
    confirm: ({ appliances, operation, afterMs }) => {
      for (const name of appliances) {
        const owner = scheduled.get(name);
        if (owner !== undefined) confirm(owner, operation, afterMs);
      }
    },
    lastTickMs: timetable.lastTickMs,
    stop: () => {
      for (const timer of confirming.values()) clearTimeout(timer);
      timetable.stop();
      for (const { poller } of scheduled.values()) poller.close();
    },
  };
}

/** The VRRP list, then a test of each website. */
function operationsOf({ websites }: ApplianceConfig): readonly Operation[] {
  return [{ kind: "vrrp" }, ...websites.map(({ id }) => ({ kind: "website_test", websiteId: id }) as const)];
}

/** Whether the operation is polled only once it is known whether the appliance can be reached. */
function waitsForList({ kind }: Operation): boolean {
  return kind !== "vrrp";
}

function targetsOf(owner: ScheduledAppliance): readonly (readonly [string, Target])[] {
  const { appliance } = owner;
  return operationsOf(appliance).map((operation) => [targetKey(appliance, operation), { owner, operation }]);
}

function targetKey({ name }: ApplianceConfig, operation: Operation): string {
  return `${name}/${operationKey(operation)}`;
}

function entryOf([key, { owner, operation }]: readonly [string, Target]): TimetableEntry {
  const { cluster, polling, baseUrl: subject } = owner.appliance;
  const timing = polling[OPERATIONS[operation.kind].timing];
  // Members of a cluster are polled at the same moment. Each website has a phase of its own, so that an appliance does not
  // get all tests at once.
  return waitsForList(operation)
    ? { key, subject, phaseKey: `${cluster}/${operationKey(operation)}`, timing, first: "on_release" }
    : { key, subject, phaseKey: cluster, timing, first: "at_once" };
}
