import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { createAppliancePoller, type AppliancePoller, type AppliancePollerDeps } from "./appliance-poller.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { CreateClient } from "../client/clients.ts";
import type { Clock } from "../support/clock.ts";
import { inSlices } from "../support/slices.ts";
import { type PollEvents, operationKey, type Operation } from "./observation.ts";
import { createSlots } from "./slots.ts";
import { startTimetable, type TimetableEntry } from "./timetable.ts";

/** Polls the enabled appliances of a configuration until it is stopped. */
export interface Runner {
  /**
   * Makes everything that this configuration needs, touching nothing that runs; the function that it returns is to be
   * called at once. From then on nothing is polled at an address or with credentials that are gone; what is polled when
   * follows in slices. An appliance that stays as it was keeps its instants, connections and backoff; another address makes
   * it a new one. Clients that are needed come from `createClient`.
   */
  prepare(config: Config, createClient: CreateClient): () => Promise<void>;
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
}

const LIST: Operation = { kind: "vrrp" };
const WEBSITE_LIST: Operation = { kind: "website_list" };
/** Simultaneous polls of lists and details of websites, over the fleet. */
const MAX_CONCURRENT_DISCOVERY = 64;

const NO_PLAN: WebsitePlan = { details: [], tests: [] };

interface Entry extends TimetableEntry {
  readonly subject: AppliancePoller;
  readonly operation: Operation;
}

/** What is polled of an appliance by one plan. */
interface Arrangement {
  readonly owner: ScheduledAppliance;
  readonly plan: WebsitePlan;
  readonly entries: readonly Entry[];
}

export function startRunner({ clock, events, onClockJump, planOf }: RunnerDeps): Runner {
  const slots = { website_tests: createSlots(clock), discovery: createSlots(clock) };
  slots.discovery.setLimit(MAX_CONCURRENT_DISCOVERY);
  let scheduled: ReadonlyMap<string, ScheduledAppliance> = new Map();
  /** What the timetable follows, by appliance. */
  const arranged = new Map<string, Arrangement>();
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
    for (const entry of arranged.get(name)?.entries ?? []) {
      if (since === "first poll") timetable.put(entry);
      else if (entry.operation.kind !== "vrrp") timetable.dueNow(entry.key);
    }
  }

  /** Polls what is now planned for an appliance, and nothing else of it. */
  function arrange(name: string): void {
    const owner = scheduled.get(name);
    const before = arranged.get(name);
    const plan = owner === undefined ? NO_PLAN : planOf(owner.appliance);
    if (before?.owner === owner && before?.plan === plan) return;
    const entries = owner === undefined ? [] : entriesOf(owner, plan);
    if (owner === undefined) arranged.delete(name);
    else arranged.set(name, { owner, plan, entries });
    const begun = entries.filter(
      ({ subject, operation }) => operation.kind === "vrrp" || subject.wasPolled(),
    );
    const wanted = new Set(begun.map(({ key }) => key));
    for (const { key, subject, operation } of before?.entries ?? []) {
      if (wanted.has(key)) continue;
      timetable.remove(key);
      subject.forget(operation);
    }
    for (const entry of begun) timetable.put(entry);
    // A new client may succeed where the old one failed.
    const { client, poller } = owner ?? {};
    if (before?.owner.poller === poller && before?.owner.client !== client)
      timetable.dueNow(keyOf(name, LIST));
  }

  function confirmNow({ poller }: ScheduledAppliance, operation: Operation, key: string): void {
    confirming.delete(key);
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
        slots.website_tests.setLimit(config.maxConcurrentWebsiteTests);
        for (const [name, owner] of before) handOver(owner, next.get(name));
        scheduled = next;
        return inSlices(new Set([...before.keys(), ...next.keys()]), (name) => {
          arrange(name);
          if (next.get(name)?.poller.retryUnsupported() === true) timetable.dueNow(keyOf(name, WEBSITE_LIST));
        });
      };
    },
    nextPollMs: (name, operation) => {
      const owner = scheduled.get(name);
      if (owner === undefined) return undefined;
      const fromMs = owner.poller.backoffUntilMs(operation) ?? clock.monotonicMs();
      return timetable.nextDueMs(keyOf(name, operation), fromMs);
    },
    replan: arrange,
    confirm: ({ appliances, operation, afterMs }) => {
      const nowMs = clock.monotonicMs();
      for (const name of appliances) {
        const owner = scheduled.get(name);
        const key = keyOf(name, operation);
        const nextDueMs = timetable.nextDueMs(key, nowMs);
        if (owner === undefined || nextDueMs === undefined || nextDueMs <= nowMs + afterMs) continue;
        if (confirming.has(key)) continue;
        const timer = setTimeout(() => confirmNow(owner, operation, key), afterMs);
        confirming.set(key, timer);
      }
    },
    lastTickMs: timetable.lastTickMs,
    stop: () => {
      for (const timer of confirming.values()) clearTimeout(timer);
      timetable.stop();
      for (const { poller } of scheduled.values()) poller.close();
      scheduled = new Map();
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
