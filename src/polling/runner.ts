import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { createAppliancePoller, type AppliancePoller } from "./appliance-poller.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { CreateClient } from "../client/clients.ts";
import type { Clock } from "../support/clock.ts";
import { once } from "../support/once.ts";
import { type PollEvents, operationKey, type Operation } from "./observation.ts";
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
  /** Makes polls out of turn, except of operations that are due by then anyway, back off, or are in flight then. */
  confirm(polls: ConfirmingPolls): void;
  /** The monotonic instant at which the scheduler last ticked. */
  lastTickMs(): number;
  /** Ends all polls at once. */
  stop(): void;
}

/** Polls out of turn that confirm or refute what the latest answers seem to say. */
export interface ConfirmingPolls {
  readonly appliances: readonly string[];
  readonly operation: Operation;
  /** From now. */
  readonly afterMs: number;
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

const LIST: Operation = { kind: "vrrp" };

interface Target {
  readonly owner: ScheduledAppliance;
  readonly operation: Operation;
  readonly entry: TimetableEntry;
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
  const pollerDeps = { clock, events, slots, gapMs: timetable.gapMs, onVrrpPolled };

  /** Website tests begin when it is known whether the appliance can be reached, and again as soon as it can. */
  function onVrrpPolled({ name }: ApplianceConfig, isBack: boolean): void {
    const owner = scheduled.get(name);
    if (owner === undefined) return;
    const isFirst = !polled.has(name);
    polled.add(name);
    for (const { entry, operation } of targetsOf(owner)) {
      if (isFirst) timetable.add(entry);
      else if (isBack && operation.kind !== "vrrp") timetable.dueNow(entry.key);
    }
  }

  function confirm({ appliance, poller }: ScheduledAppliance, operation: Operation, afterMs: number): void {
    const key = targetKey(appliance, operation);
    const nowMs = clock.monotonicMs();
    const nextDueMs = timetable.nextDueMs(key, nowMs);
    const isDueByThen = nextDueMs !== undefined && nextDueMs <= nowMs + afterMs;
    if (isDueByThen || confirming.has(key) || poller.backoffUntilMs(operation) !== undefined) return;
    const timer = setTimeout(() => confirmNow(key), afterMs);
    confirming.set(key, timer);
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
    if (old.appliance === appliance) return old;
    const isSameHttp = old.appliance.http.fingerprint === appliance.http.fingerprint;
    const client = isSameHttp ? old.client : createClient(appliance);
    return { appliance, client, poller: old.poller };
  }

  /** Ends the poller, or updates it. */
  function handOver(owner: ScheduledAppliance, next: ScheduledAppliance | undefined): void {
    if (next?.poller !== owner.poller) owner.poller.close();
    else if (next !== owner) next.poller.update(next.appliance, next.client);
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
        const all = [...next.values()].flatMap(targetsOf);
        targets = new Map(all.map((target) => [target.entry.key, target]));
        polled = new Set(
          [...polled].filter((name) => scheduled.get(name)?.poller === before.get(name)?.poller),
        );
        const begun = all.filter(
          ({ owner, operation }) => operation.kind === "vrrp" || polled.has(owner.appliance.name),
        );
        timetable.set(begun.map(({ entry }) => entry));
        for (const [name, { appliance, client, poller }] of next) {
          const old = before.get(name);
          // A new client may succeed where the old one failed.
          if (old?.poller === poller && old.client !== client) timetable.dueNow(targetKey(appliance, LIST));
        }
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

/** The VRRP list, then a test of each website; made once. */
const targetsOf = once((owner: ScheduledAppliance): readonly Target[] => {
  const tests = owner.appliance.websites.map(({ id }) => ({ kind: "website_test", websiteId: id }) as const);
  return [LIST, ...tests].map((operation) => ({
    owner,
    operation,
    entry: entryOf(owner.appliance, operation),
  }));
});

function targetKey({ name }: ApplianceConfig, operation: Operation): string {
  return `${name}/${operationKey(operation)}`;
}

function entryOf(appliance: ApplianceConfig, operation: Operation): TimetableEntry {
  const { cluster, polling, baseUrl: subject } = appliance;
  const timing = polling[OPERATIONS[operation.kind].timing];
  // Members of a cluster are polled at the same moment. Each website has a phase of its own, so that an appliance does not
  // get all tests at once.
  const phaseKey = operation.kind === "vrrp" ? cluster : `${cluster}/${operationKey(operation)}`;
  return { key: targetKey(appliance, operation), subject, phaseKey, timing };
}
