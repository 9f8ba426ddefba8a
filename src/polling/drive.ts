import type { LimitFunction } from "p-limit";
import type { LimitName } from "../api/operation.ts";
import { OPERATIONS, type Operation } from "../api/operations.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import type { Backoff, BackoffPeriod, FinishedPoll } from "./backoff.ts";
import { decide, type Circumstances, type Decision, type Occasion, type PollState } from "./decide.ts";
import type { PollEvents, PollResult } from "./observation.ts";
import { connectionWaitMs, expiresAtMs, firstPace, waitEndsMs, type Pace } from "./pace.ts";
import { poll, unsent } from "./poll.ts";

/** An operation that is polled again and again. */
export interface Task extends PollState {
  progress: PollState["progress"];
  isOutOfTurn: boolean;
  isOverdue: boolean;
  waitsFor: LimitName | undefined;
  latestUntilMs: number | undefined;
  /** Without a plan nothing begins and nothing is observed. */
  isPlanned: boolean;
  /** The monotonic instant at which its latest poll was due. */
  dueMs: number;
  /** Timers that end its wait for a slot, and that begin a confirming poll. */
  waiting: NodeJS.Timeout | undefined;
  confirming: NodeJS.Timeout | undefined;
}

/** Before its first poll. */
export const NEW = {
  isPlanned: true,
  progress: "idle",
  dueMs: 0,
  isOutOfTurn: false,
  isOverdue: false,
  waitsFor: undefined,
  waiting: undefined,
  latestUntilMs: undefined,
  confirming: undefined,
} as const satisfies Omit<Task, "operation">;

/** Ends its plan. A poll in line or in flight ends without an observation. */
export function end(task: Task): void {
  clearTimeout(task.waiting);
  clearTimeout(task.confirming);
  task.confirming = undefined;
  if (task.progress === "in_line") task.progress = "unserved";
  task.isPlanned = false;
  task.isOverdue = false;
  task.latestUntilMs = undefined;
}

export interface DriverDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly client: ApplianceClient;
  readonly limits: Readonly<Record<LimitName, LimitFunction>>;
  /** @see PollOptions */
  readonly turn: () => Promise<void>;
  readonly gapMs: (timing: OperationTiming) => number;
  readonly backoff: Pick<Backoff, "settle" | "end">;
  readonly backoffOf: (operation: Operation) => BackoffPeriod | undefined;
  /** The latest configuration. */
  readonly appliance: () => ApplianceConfig;
  /** What the VRRP list says of the appliance. */
  readonly health: () => Pick<Circumstances, "downUntilMs" | "listDueMs">;
  /** A poll was sent, and its result was observed. */
  readonly onPolled: (result: PollResult, isOutOfTurn: boolean) => void;
}

/** Polls a task, or not, as `decide` says. Returns at once. */
export type Drive = (task: Task, occasion: "due" | "out_of_turn", dueMs: number) => void;

export function createDrive(deps: DriverDeps): Drive {
  const { clock, events, client, limits, backoff, backoffOf } = deps;

  function timingOf({ operation: { kind } }: Task): OperationTiming {
    return deps.appliance().polling[OPERATIONS[kind].timing];
  }
  function paceOf(task: Task): Pace {
    const timing = timingOf(task);
    return { gapMs: deps.gapMs(timing), timeoutMs: timing.timeoutMs };
  }
  function lateSeconds({ dueMs }: Task): number {
    return toSeconds(Math.max(0, clock.monotonicMs() - dueMs));
  }

  function decideNow(task: Task, occasion: Occasion, isChecked = false): Decision {
    if (!task.isPlanned) return { action: "ignore" };
    const now = { nowMs: clock.monotonicMs(), pace: paceOf(task), backoff: backoffOf(task.operation) };
    return decide(occasion, task, { ...now, isChecked, ...deps.health() });
  }
  async function carryOut(task: Task, occasion: Occasion, decision: Decision): Promise<void> {
    switch (decision.action) {
      case "queue":
        return queue(task);
      case "send":
        return send(task);
      case "check":
        return check(task, occasion);
      case "ignore":
      case "reject": {
        const { skipped, failure } = decision;
        task.isOverdue ||= failure === "appliance_down";
        if (skipped !== undefined) events.skipped(task.operation.kind, skipped, 1);
        if (failure === undefined) return;
        const outcome = { ok: false, failure: unsent(failure, lateSeconds(task)) } as const;
        observe(task, { ...task.operation, outcome });
      }
    }
  }
  async function check(task: Task, occasion: Occasion): Promise<void> {
    const { progress } = task;
    task.progress = "in_flight";
    if (await client.hasNewCredentials(timingOf(task).timeoutMs)) backoff.end("auth");
    task.progress = progress;
    await carryOut(task, occasion, decideNow(task, occasion, true));
  }
  /** Takes its place in line, or waits again in the one that it has. */
  function queue(task: Task): void {
    const { operation, dueMs, latestUntilMs } = task;
    const pace = latestUntilMs === undefined ? firstPace(timingOf(task)) : paceOf(task);
    const endsMs = waitEndsMs(dueMs, latestUntilMs ?? expiresAtMs(dueMs, pace), pace);
    task.waiting = setTimeout(
      () => {
        task.progress = "unserved";
        void carryOut(task, "wait_over", decideNow(task, "wait_over"));
      },
      Math.max(0, endsMs - clock.monotonicMs()),
    );
    const isInLine = task.progress === "unserved";
    task.progress = "in_line";
    if (isInLine) return;
    const enter = OPERATIONS[operation.kind].limits.reduceRight<() => Promise<void>>(
      (next, name) => () => {
        task.waitsFor = name;
        return limits[name](next);
      },
      () => serve(task),
    );
    void enter();
  }
  async function serve(task: Task): Promise<void> {
    clearTimeout(task.waiting);
    task.progress = "in_flight";
    await carryOut(task, "slot", decideNow(task, "slot"));
    task.progress = "idle";
  }

  async function send(task: Task): Promise<void> {
    const { operation, latestUntilMs } = task;
    const { kind } = operation;
    task.isOverdue = false;
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(client, operation, timingOf(task).timeoutMs, {
      // What was never polled waits for as long as it takes.
      connectionWaitMs: latestUntilMs && connectionWaitMs(latestUntilMs, paceOf(task), clock.monotonicMs()),
      onStarted: () => {
        startedMs = clock.monotonicMs();
        events.started(kind, lateSeconds(task));
      },
      onCredentials: (sent) => (credentials = sent),
      turn: deps.turn,
    });
    const endedMs = clock.monotonicMs();
    if (startedMs !== undefined) events.ended(kind, toSeconds(endedMs - startedMs));
    if (!task.isPlanned) return;
    const { outcome } = result;
    const span = { startedMs: startedMs ?? endedMs, endedMs };
    backoff.settle({ operation, outcome, credentials, ...span, intervalMs: paceOf(task).gapMs });
    observe(task, result, span);
    deps.onPolled(result, task.isOutOfTurn);
  }
  /** `span`: of a poll that was sent. */
  function observe(task: Task, result: PollResult, span?: Pick<FinishedPoll, "startedMs" | "endedMs">): void {
    const nowMs = clock.monotonicMs();
    const countsFromMs = result.outcome.ok ? nowMs : (backoffOf(task.operation)?.untilMs ?? nowMs);
    task.latestUntilMs = expiresAtMs(countsFromMs, paceOf(task));
    events.observed({
      ...result,
      appliance: deps.appliance().name,
      completedAtMs: clock.wallMs(),
      isOutOfTurn: task.isOutOfTurn,
      sentAtMs: span?.startedMs,
      durationSeconds: span && toSeconds(span.endedMs - span.startedMs),
      expiresAtMs: task.latestUntilMs,
      certificate: client.certificate(),
    });
  }

  return (task, occasion, dueMs) => {
    const decision = decideNow(task, occasion);
    if (decision.action !== "ignore") {
      task.dueMs = dueMs;
      task.isOutOfTurn = occasion === "out_of_turn";
    }
    void carryOut(task, occasion, decision);
  };
}
