import { isDeepStrictEqual } from "node:util";
import pLimit, { type LimitFunction } from "p-limit";
import type { PollPlan, TimingName } from "../api/operation.ts";
import { operationKey, OPERATIONS, operationsOf, type Operation } from "../api/operations.ts";
import type { ApplianceClient } from "../client/client.ts";
import { meaningOf } from "../client/failure.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import { digestOf } from "../config/load-in-thread.ts";
import { createBackoff, type BackoffPeriod } from "./backoff.ts";
import type { OutOfTurn } from "./decide.ts";
import type { PollResult } from "./observation.ts";
import { firstPace } from "./pace.ts";
import { drive, end, NEW, type Limit, type Task, type TaskDeps } from "./task.ts";
import type { Timetable } from "./timetable.ts";

/** Polls one appliance, one poll of each operation at a time. */
export interface AppliancePoller {
  /** Polls what is planned now, and nothing else. */
  arrange(): void;
  /** Applies the configured timing, or that of a hastened appliance. */
  schedule(): void;
  /** An operation is due, since the monotonic instant `dueMs`. Returns at once. */
  due(operation: Operation, dueMs: number): void;
  /** Counts missed instants of an operation; those of a hastened operation do not count. */
  missed(operation: Operation, count: number): void;
  /** @see Runner.confirm */
  confirm(operation: Operation, occasion: OutOfTurn, afterMs: number): void;
  /** @see Runner.nextPollMs */
  nextPollMs(operation: Operation): number | undefined;
  /** Whether it polls an appliance at this address with these settings; any other needs another poller. */
  canPoll(appliance: ApplianceConfig): boolean;
  /**
   * Applies a new configuration of the appliance, if it is another one, and ends a backoff for refused credentials. Polls at
   * once what the appliance lacked, in any case: it may have been updated. Applies the limits of the fleet.
   */
  update(appliance: ApplianceConfig): void;
  /** Ends all polls; nothing is observed from here on, and nothing planned. */
  close(): void;
}

export interface AppliancePollerDeps extends Pick<TaskDeps, "clock" | "events" | "turns"> {
  /** These limits count the polls of all appliances. */
  readonly limits: Readonly<Record<"website_tests" | "discovery", LimitFunction>>;
  readonly timetable: Pick<Timetable<PlannedTask>, "put" | "remove" | "nextDueMs" | "gapMs">;
  /** The plan for an enabled appliance of the latest configuration. */
  readonly planOf: (appliance: ApplianceConfig) => PollPlan;
  /** @see Runner.hasten */
  readonly isHastened: (appliance: string) => boolean;
}

/** The timetable has these. */
export interface PlannedTask extends Task {
  readonly poller: Pick<AppliancePoller, "due" | "missed">;
}

/** Intervals by the timing of an operation. With lists this often, the time without a master is known to a second. */
const HASTENED_MS: Readonly<Partial<Record<TimingName, number>>> = {
  vrrp: 500,
  websites: 1000,
};
/** A hastened poll that waited for a slot begins late. The next one follows after at least this part of the interval: timers are late, too. */
const LEAST_APART = 0.9;
const LIST = operationKey({ kind: "vrrp" });

/** Lets one poll of the appliance at a time wait for a slot of the fleet: appliances with many tests due take turns. */
function inLine(limit: LimitFunction): Limit {
  const turn = pLimit(1);
  return (run) =>
    new Promise((resolve, reject) => {
      const enter = (begin: () => void): void => {
        const serve = (): Promise<void> => {
          begin();
          return run();
        };
        limit(serve).then(resolve, reject);
      };
      void turn(() => new Promise<void>(enter));
    });
}

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  client: ApplianceClient,
): AppliancePoller {
  const { clock, events, turns, timetable, limits } = deps;
  const own = { appliance_website_tests: pLimit(1), appliance_details: pLimit(1) };
  const backoff = createBackoff();
  /** The keys are those of `operationKey`. A task without a plan stays until its poll in line or in flight has ended. */
  const tasks = new Map<string, PlannedTask>();
  let appliance = initial;
  let isClosed = false;
  let arranged: { readonly appliance: ApplianceConfig; readonly plan: PollPlan | undefined } | undefined;
  let isListPolled = false;
  /** @see Circumstances */
  let downUntilMs: number | undefined;

  function timingOf({ kind }: Operation): OperationTiming {
    return appliance.polling[OPERATIONS[kind].timing];
  }
  /** A failed list stops other polls for two gaps of the list, but at most for one gap of website tests. */
  function stopsForMs(): number {
    const { vrrp, websites } = appliance.polling;
    return Math.min(2 * timetable.gapMs(vrrp), timetable.gapMs(websites));
  }
  function backoffOf(operation: Operation): BackoffPeriod | undefined {
    return backoff.active(operation, clock.monotonicMs(), stopsForMs());
  }
  function onPolled({ kind, outcome }: PollResult, isOutOfTurn: boolean): void {
    if (kind !== "vrrp") return;
    const stopsOthers = !outcome.ok && meaningOf(outcome.failure.reason).stopsOtherPolls === true;
    // The failure counts from the end of the backoff that it caused.
    const fromMs = backoffOf({ kind })?.untilMs ?? clock.monotonicMs();
    downUntilMs = stopsOthers ? fromMs + stopsForMs() : undefined;
    const wasPolled = isListPolled;
    isListPolled = true;
    if (!wasPolled) schedule();
    if (!outcome.ok && meaningOf(outcome.failure.reason).appliance === "lost")
      for (const task of tasks.values()) task.abandon?.();
    // A poll out of turn never calls for others.
    if (stopsOthers || isOutOfTurn) return;
    for (const task of tasks.values()) if (task.isOverdue) dueOutOfTurn(task, "confirming");
  }
  const taskDeps: TaskDeps = {
    clock,
    events,
    turns,
    client,
    limits: { website_tests: inLine(limits.website_tests), discovery: limits.discovery, ...own },
    appliance: initial.name,
    paceOf: (operation, isFirst = false) => {
      const timing = timingOf(operation);
      return isFirst ? firstPace(timing) : { gapMs: timetable.gapMs(timing), timeoutMs: timing.timeoutMs };
    },
    backoff,
    backoffOf,
    health: () => {
      const list = tasks.get(LIST);
      return { downUntilMs, listDueMs: list?.progress === "idle" ? undefined : list?.dueMs };
    },
    onPolled,
  };

  function dueOutOfTurn(task: Task | undefined, occasion: OutOfTurn): void {
    if (task !== undefined) drive(taskDeps, task, occasion, clock.monotonicMs());
  }
  /** `undefined` where the operation is polled as configured. */
  function hastenedMs({ kind }: Operation): number | undefined {
    return deps.isHastened(initial.name) ? HASTENED_MS[OPERATIONS[kind].timing] : undefined;
  }
  /** Polls again if the poll before has ended. A test has as much time to begin as without haste, and is late only then. */
  function dueInHaste(task: PlannedTask, dueMs: number, everyMs: number): void {
    const { operation, progress, sentAtMs = -Infinity } = task;
    const isBusy = progress === "in_line" || progress === "in_flight";
    if (isBusy || clock.monotonicMs() - sentAtMs < LEAST_APART * everyMs) return;
    const configuredMs = operation.kind === "vrrp" ? dueMs : sentAtMs + timetable.gapMs(timingOf(operation));
    drive(taskDeps, task, "due", Math.max(dueMs, configuredMs));
  }
  /** Other operations begin when it is known whether the appliance can be reached. */
  function schedule(): void {
    for (const [key, task] of tasks) {
      const { operation } = task;
      const { kind } = operation;
      if (!task.isPlanned || (kind !== "vrrp" && !isListPolled)) continue;
      // Members of a cluster are polled at the same moment. An appliance does not get all tests of its websites at once.
      const phaseKey = kind === "vrrp" ? appliance.cluster : `${appliance.cluster}/${key}`;
      const timing = timingOf(operation);
      const intervalMs = hastenedMs(operation);
      const { timeoutMs } = timing;
      timetable.put(
        task,
        phaseKey,
        intervalMs === undefined ? timing : { kind: "interval", intervalMs, timeoutMs },
      );
    }
  }
  /** Nothing that is known of a website remains: its id may belong to another one later. */
  function drop(key: string, task: PlannedTask): void {
    timetable.remove(task);
    backoff.forget(task.operation);
    end(task);
    if (task.progress === "idle") tasks.delete(key);
  }

  const self: AppliancePoller = {
    arrange: () => {
      const plan = isClosed ? undefined : deps.planOf(appliance);
      if (arranged?.appliance === appliance && isDeepStrictEqual(arranged.plan, plan)) return;
      arranged = { appliance, plan };
      const operations = plan === undefined ? [] : operationsOf(plan);
      const wanted = new Map(operations.map((operation) => [operationKey(operation), operation]));
      for (const [key, task] of tasks) if (!wanted.has(key)) drop(key, task);
      for (const [key, operation] of wanted) {
        const task = tasks.get(key) ?? { operation, poller: self, ...NEW };
        task.isPlanned = true;
        tasks.set(key, task);
      }
      schedule();
    },
    due: (operation, dueMs) => {
      const task = tasks.get(operationKey(operation));
      if (task === undefined) return;
      const everyMs = hastenedMs(operation);
      if (everyMs === undefined) drive(taskDeps, task, "due", dueMs);
      else dueInHaste(task, dueMs, everyMs);
    },
    missed: (operation, count) => {
      if (hastenedMs(operation) === undefined) events.skipped(operation.kind, "missed", count);
    },
    schedule,
    confirm: (operation, occasion, afterMs) => {
      const task = tasks.get(operationKey(operation));
      const nowMs = clock.monotonicMs();
      // A poll that is due soon, as after a start, sees only one half of a change that members make one after the other.
      const isLook = occasion === "second_look";
      const dueMs = task && timetable.nextDueMs(task, isLook ? nowMs + afterMs / 2 : nowMs);
      if (task === undefined || (dueMs ?? (isLook ? Infinity : 0)) <= nowMs + afterMs) return;
      task[occasion] ??= setTimeout(() => {
        task[occasion] = undefined;
        dueOutOfTurn(task, occasion);
      }, afterMs);
    },
    nextPollMs: (operation) => {
      const task = tasks.get(operationKey(operation));
      return task && timetable.nextDueMs(task, backoffOf(operation)?.untilMs ?? clock.monotonicMs());
    },
    canPoll: ({ baseUrl, http }) => baseUrl === initial.baseUrl && digestOf(http) === digestOf(initial.http),
    update: (next) => {
      // An appliance never holds all slots of the fleet, unless there is only one.
      const most = Math.max(1, limits.website_tests.concurrency - 1);
      own.appliance_website_tests.concurrency = Math.min(next.polling.maxConcurrentWebsiteTests, most);
      for (const key of backoff.end("unsupported")) dueOutOfTurn(tasks.get(key), "confirming");
      if (next === appliance) return;
      appliance = next;
      backoff.end("auth");
    },
    close: () => {
      isClosed = true;
      client.close();
      for (const limit of Object.values(own)) limit.clearQueue();
      for (const task of tasks.values()) end(task);
    },
  };
  return self;
}
