import { operationKey, type Operation } from "../api/operation.ts";
import type { ApplianceClient } from "../client/client.ts";
import { meaningOf, type Outcome } from "../api/failure.ts";
import { isSameAppliance, type ApplianceConfig, type OperationTiming } from "../config/config.ts";
import { digestOf } from "../config/load-in-thread.ts";
import { HASTENED_MS } from "./hastened.ts";
import { createBackoff, type BackoffPeriod } from "./backoff.ts";
import type { OutOfTurn, Task } from "./decide.ts";
import { limitsOfAppliance, type FleetLimits } from "./limits.ts";
import type { Observation } from "./observation.ts";
import { POLL_RULES } from "./rules.ts";
import { firstGapMs } from "./instants.ts";
import { callFor, drive, end, NEW, type TaskDeps } from "./task.ts";
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
  /** Whether it polls this appliance with these settings of the client; any other needs another poller. */
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
  readonly limits: FleetLimits;
  readonly timetable: Pick<Timetable<Task>, "put" | "remove" | "nextDueMs" | "gapMs" | "endOf">;
  /** The operations that are polled of an enabled appliance of the latest configuration; the same list while they are the same. */
  readonly operationsOf: (appliance: ApplianceConfig) => readonly Operation[];
  /** @see Runner.hasten */
  readonly isHastened: (appliance: string) => boolean;
}

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  client: ApplianceClient,
): AppliancePoller {
  const { clock, events, turns, timetable } = deps;
  const limits = limitsOfAppliance(deps.limits);
  const backoff = createBackoff();
  /** The keys are those of `operationKey`. A task without a plan stays until its poll in line or in flight has ended. */
  const tasks = new Map<string, Task>();
  let appliance = initial;
  let isClosed = false;
  /** The appliance and the operations for which the tasks are there. */
  let arranged: readonly unknown[] = [];
  /** The health by the latest poll of the VRRP list; `undefined` before the first. */
  let health: Health | undefined;

  function timingOf({ kind }: Operation): OperationTiming {
    return appliance.polling[POLL_RULES[kind].timing];
  }
  /** `undefined` where the operation is polled as configured. */
  function hasteMsOf({ kind }: Operation): number | undefined {
    return deps.isHastened(initial.name) ? HASTENED_MS[POLL_RULES[kind].timing] : undefined;
  }
  function backoffOf(operation: Operation): BackoffPeriod | undefined {
    return backoff.active(operation, clock.monotonicMs(), stopsForMs(appliance, timetable));
  }
  function taskOf(operation: Operation): Task | undefined {
    return tasks.get(operationKey(operation));
  }
  function onPolled({ kind, outcome }: Observation<unknown>, isOutOfTurn: boolean): void {
    if (kind !== "vrrp") return;
    const isFirst = health === undefined;
    // The failure counts from the end of the backoff that it caused.
    const fromMs = backoffOf({ kind })?.untilMs ?? clock.monotonicMs();
    health = healthAfter(health, outcome, clock.monotonicMs(), fromMs + stopsForMs(appliance, timetable));
    if (isFirst) schedule();
    if (health.isLost) for (const task of tasks.values()) task.abandon?.();
    // A poll out of turn never calls for others.
    if (health.downUntilMs !== undefined || isOutOfTurn) return;
    for (const task of tasks.values()) if (task.failing !== undefined) drive(taskDeps, task, "returned");
  }
  const taskDeps: TaskDeps = {
    clock,
    events,
    turns,
    client,
    limits,
    appliance: initial.name,
    kind: initial.kind,
    isAlone: () => appliance.isAlone,
    timeoutMsOf: (operation) => timingOf(operation).timeoutMs,
    gapMsOf: (operation, isFirst = false) => {
      const timing = timingOf(operation);
      return isFirst ? firstGapMs(timing) : timetable.gapMs(timing);
    },
    endOf: (operation, fromMs) => timetable.endOf(timingOf(operation), fromMs),
    hasteMsOf,
    nextDueMs: timetable.nextDueMs,
    backoff,
    backoffOf,
    health: () => {
      const list = taskOf({ kind: "vrrp" });
      const listDueMs = list?.progress === "idle" ? undefined : list?.dueMs;
      const { downUntilMs, returnedMs = -Infinity } = health ?? {};
      return { downUntilMs, returnedMs, listDueMs };
    },
    onPolled,
  };

  /** Other operations begin when it is known whether the appliance can be reached. */
  function schedule(): void {
    for (const task of tasks.values()) {
      const { operation, isPlanned } = task;
      if (!isPlanned || (operation.kind !== "vrrp" && health === undefined)) continue;
      const timing = hastened(timingOf(operation), hasteMsOf(operation));
      timetable.put(task, phaseKeyOf(appliance.cluster, operation), timing);
    }
  }
  /** Nothing that is known of a website remains: its id may belong to another one later. */
  function drop(key: string, task: Task): void {
    timetable.remove(task);
    backoff.forget(task.operation);
    end(task);
    if (task.progress === "idle") tasks.delete(key);
  }

  const self: AppliancePoller = {
    arrange: () => {
      const operations = isClosed ? [] : deps.operationsOf(appliance);
      if (arranged[0] === appliance && arranged[1] === operations) return;
      arranged = [appliance, operations];
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
      const task = taskOf(operation);
      if (task !== undefined) drive(taskDeps, task, "due", dueMs);
    },
    missed: (operation, count) => {
      if (hasteMsOf(operation) === undefined) events.skipped(operation.kind, "missed", count);
    },
    schedule,
    confirm: (operation, occasion, afterMs) => {
      const task = taskOf(operation);
      if (task !== undefined) callFor(taskDeps, task, occasion, afterMs);
    },
    nextPollMs: (operation) => {
      const task = taskOf(operation);
      return task && timetable.nextDueMs(task, backoffOf(operation)?.untilMs ?? clock.monotonicMs());
    },
    canPoll: (next) => isSameAppliance(next, initial) && digestOf(next.http) === digestOf(initial.http),
    update: (next) => {
      // An appliance never holds all slots of the fleet, unless there is only one.
      const most = Math.max(1, deps.limits.website_tests.concurrency - 1);
      limits.appliance_website_tests.concurrency = Math.min(next.polling.maxConcurrentWebsiteTests, most);
      for (const key of backoff.end("unsupported")) {
        const task = tasks.get(key);
        if (task !== undefined) drive(taskDeps, task, "confirming");
      }
      if (next === appliance) return;
      appliance = next;
      backoff.end("auth");
    },
    close: () => {
      isClosed = true;
      client.close();
      for (const task of tasks.values()) end(task);
    },
  };
  return self;
}

/** The health of an appliance, by the latest poll of its VRRP list. */
interface Health {
  /** The failure stops other polls until this monotonic instant; `undefined` if it does not, or there is none. */
  readonly downUntilMs: number | undefined;
  /** Whether the appliance is out of reach. */
  readonly isLost: boolean;
  readonly isFailing: boolean;
  /** @see Circumstances.returnedMs */
  readonly returnedMs: number;
}

/** `untilMs`: the monotonic instant until which a failure of that kind stops other polls. */
function healthAfter(
  before: Health | undefined,
  outcome: Outcome<unknown>,
  nowMs: number,
  untilMs: number,
): Health {
  const { isFailing = false, returnedMs = -Infinity } = before ?? {};
  if (outcome.ok)
    return {
      downUntilMs: undefined,
      isLost: false,
      isFailing: false,
      returnedMs: isFailing ? nowMs : returnedMs,
    };
  const { stopsOtherPolls, appliance } = meaningOf(outcome.failure.reason);
  const downUntilMs = stopsOtherPolls === true ? untilMs : undefined;
  return { downUntilMs, isLost: appliance === "lost", isFailing: true, returnedMs };
}

/** A failed list stops other polls for two gaps of the list, but at most for one gap of website tests. */
function stopsForMs({ polling }: ApplianceConfig, { gapMs }: Pick<Timetable<never>, "gapMs">): number {
  return Math.min(2 * gapMs(polling.vrrp), gapMs(polling.websites));
}

function hastened(timing: OperationTiming, intervalMs: number | undefined): OperationTiming {
  if (intervalMs === undefined) return timing;
  return { kind: "interval", intervalMs, timeoutMs: timing.timeoutMs };
}

/** Members of a cluster are polled at the same moment. An appliance does not get all tests of its websites at once. */
function phaseKeyOf(cluster: string, operation: Operation): string {
  return operation.kind === "vrrp" ? cluster : `${cluster}/${operationKey(operation)}`;
}
