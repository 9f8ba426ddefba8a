import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { createAppliancePoller, type AppliancePoller, type AppliancePollerDeps } from "./appliance-poller.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { CreateClient } from "../client/clients.ts";
import type { Clock } from "../support/clock.ts";
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
  /** Polls what is now planned for an appliance's websites. @see RunnerDeps.planOf */
  replan(appliance: string): void;
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
  /** The websites of an enabled appliance of the latest configuration. */
  readonly planOf: (appliance: ApplianceConfig) => WebsitePlan;
}

/** Ids of websites. */
export interface WebsitePlan {
  /** Those whose details are polled. */
  readonly details: readonly number[];
  readonly tests: readonly number[];
}

/** An appliance that is polled, and what polls it. */
interface ScheduledAppliance {
  readonly appliance: ApplianceConfig;
  readonly client: ApplianceClient;
  readonly poller: AppliancePoller;
  readonly plan: WebsitePlan;
  /** Made once for each plan. */
  readonly entries: readonly Entry[];
}

interface Entry extends TimetableEntry {
  readonly subject: AppliancePoller;
  readonly operation: Operation;
}

const LIST: Operation = { kind: "vrrp" };
const WEBSITE_LIST: Operation = { kind: "website_list" };
/** Simultaneous polls of lists and details of websites, over the fleet. */
const MAX_CONCURRENT_DISCOVERY = 64;

const NO_PLAN: WebsitePlan = { details: [], tests: [] };

export function startRunner({ clock, events, onClockJump, planOf }: RunnerDeps): Runner {
  const slots = { website_tests: createSlots(clock), discovery: createSlots(clock) };
  slots.discovery.setLimit(MAX_CONCURRENT_DISCOVERY);
  let scheduled = new Map<string, ScheduledAppliance>();
  /** Timers of confirming polls, by key. */
  const confirming = new Map<string, NodeJS.Timeout>();

  const timetable = startTimetable<Entry>({
    clock,
    onClockJump,
    onDue: ({ subject, operation }, dueMs) => subject.due(operation, dueMs),
    onMissed: ({ operation }, count) => events.skipped(operation.kind, "missed", count),
  });
  const pollerDeps: AppliancePollerDeps = {
    clock,
    events,
    slots,
    onReachable,
    gapMs: timetable.gapMs,
    isPlanned: (name, operation) => timetable.has(keyOf(name, operation)),
  };

  /** Website tests begin when it is known whether the appliance can be reached, and again as soon as it can. */
  function onReachable(name: string, since: "first poll" | "outage"): void {
    for (const entry of scheduled.get(name)?.entries ?? []) {
      if (since === "first poll") timetable.add(entry);
      else if (entry.operation.kind !== "vrrp") timetable.dueNow(entry.key);
    }
  }

  function confirmNow({ poller }: ScheduledAppliance, operation: Operation, key: string): void {
    confirming.delete(key);
    if (!poller.isInFlight(operation) && poller.backoffUntilMs(operation) === undefined)
      timetable.dueNow(key);
  }

  /** Without entries yet: their plan is made when it is handed over. */
  function scheduledFor(appliance: ApplianceConfig, createClient: CreateClient): ScheduledAppliance {
    const old = scheduled.get(appliance.name);
    if (old?.appliance === appliance) return old;
    const nothing = { plan: NO_PLAN, entries: [] };
    if (old === undefined || old.appliance.baseUrl !== appliance.baseUrl) {
      const client = createClient(appliance);
      return { appliance, client, poller: createAppliancePoller(pollerDeps, appliance, client), ...nothing };
    }
    const isSameHttp = old.appliance.http.fingerprint === appliance.http.fingerprint;
    const client = isSameHttp ? old.client : createClient(appliance);
    return { appliance, client, poller: old.poller, ...nothing };
  }

  /** The same appliance by its present plan. */
  function planned(owner: ScheduledAppliance): ScheduledAppliance {
    const plan = planOf(owner.appliance);
    return plan === owner.plan ? owner : { ...owner, plan, entries: entriesOf(owner, plan) };
  }

  /** Ends the poller, or updates it. */
  function handOver(owner: ScheduledAppliance, next: ScheduledAppliance | undefined): void {
    if (next?.poller !== owner.poller) owner.poller.close();
    else if (next.appliance !== owner.appliance) next.poller.update(next.appliance, next.client);
  }

  return {
    prepare: (config, createClient) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      const prepared = enabled.map((appliance) => scheduledFor(appliance, createClient));
      return () => {
        const before = scheduled;
        slots.website_tests.setLimit(config.maxConcurrentWebsiteTests);
        scheduled = new Map(prepared.map((owner) => [owner.appliance.name, planned(owner)]));
        for (const [name, owner] of before) handOver(owner, scheduled.get(name));
        const all = [...scheduled.values()].flatMap(({ entries }) => entries);
        timetable.set(
          all.filter(({ subject, operation }) => operation.kind === "vrrp" || subject.wasPolled()),
        );
        for (const [name, { client, poller }] of scheduled) {
          const old = before.get(name);
          // A new client may succeed where the old one failed.
          if (old?.poller === poller && old.client !== client) timetable.dueNow(keyOf(name, LIST));
          if (poller.retryUnsupported()) timetable.dueNow(keyOf(name, WEBSITE_LIST));
        }
      };
    },
    nextPollMs: (name, operation) => {
      const owner = scheduled.get(name);
      if (owner === undefined) return undefined;
      const fromMs = owner.poller.backoffUntilMs(operation) ?? clock.monotonicMs();
      return timetable.nextDueMs(keyOf(name, operation), fromMs);
    },
    replan: (name) => {
      const before = scheduled.get(name);
      if (before === undefined) return;
      const owner = planned(before);
      if (owner === before) return;
      scheduled.set(name, owner);
      const wanted = new Set(owner.entries.map(({ key }) => key));
      for (const { key } of before.entries) if (!wanted.has(key)) timetable.remove(key);
      if (owner.poller.wasPolled()) for (const entry of owner.entries) timetable.add(entry);
    },
    confirm: ({ appliances, operation, afterMs }) => {
      const nowMs = clock.monotonicMs();
      for (const name of appliances) {
        const owner = scheduled.get(name);
        const key = keyOf(name, operation);
        const nextDueMs = timetable.nextDueMs(key, nowMs);
        if (owner === undefined || nextDueMs === undefined || nextDueMs <= nowMs + afterMs) continue;
        if (!confirming.has(key))
          confirming.set(
            key,
            setTimeout(() => confirmNow(owner, operation, key), afterMs),
          );
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

function entriesOf(
  { appliance, poller }: ScheduledAppliance,
  { details, tests }: WebsitePlan,
): readonly Entry[] {
  const operations: readonly Operation[] = [
    LIST,
    ...(appliance.discovery === undefined ? [] : [WEBSITE_LIST]),
    ...details.map((websiteId) => ({ kind: "website_details", websiteId }) as const),
    ...tests.map((websiteId) => ({ kind: "website_test", websiteId }) as const),
  ];
  const { name, cluster, polling } = appliance;
  return operations.map((operation) => {
    // Members of a cluster are polled at the same moment. Each website has a phase of its own, so that an appliance does
    // not get all tests at once.
    const phaseKey = operation.kind === "vrrp" ? cluster : `${cluster}/${operationKey(operation)}`;
    const timing = polling[OPERATIONS[operation.kind].timing];
    return { key: keyOf(name, operation), subject: poller, phaseKey, timing, operation };
  });
}

function keyOf(appliance: string, operation: Operation): string {
  return `${appliance}/${operationKey(operation)}`;
}
