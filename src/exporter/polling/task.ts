import type { KindName } from "../api/kinds.ts";
import type { Operation } from "../api/operation.ts";
import type { ApplianceClient } from "../client/client.ts";
import { meaningOf, type Outcome } from "../api/failure.ts";
import { toSeconds, type Clock } from "../../support/clock.ts";
import type { Turns } from "../../support/turns.ts";
import type { Backoff, BackoffPeriod } from "./backoff.ts";
import {
  decide,
  type Circumstances,
  type Decision,
  type Failing,
  type Occasion,
  OUT_OF_TURN,
  type OutOfTurn,
  type Task,
} from "./decide.ts";
import type { ApplianceLimits } from "./limits.ts";
import type { Observation, PollEvents } from "./observation.ts";
import { connectionWaitMs, expiresAtMs, waitEndsMs, type End } from "./instants.ts";
import { poll, unsent } from "./poll.ts";
import { POLL_RULES } from "./rules.ts";

/** The tasks of an appliance share these. */
export interface TaskDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  /** Work for long answers takes turns, by appliance. */
  readonly turns: Turns;
  readonly client: ApplianceClient;
  readonly limits: ApplianceLimits;
  /** Its name. */
  readonly appliance: string;
  readonly kind: KindName;
  /** @see PollOptions */
  readonly isAlone: () => boolean;
  readonly timeoutMsOf: (operation: Operation) => number;
  /** `isFirst`: before the first result. */
  readonly gapMsOf: (operation: Operation, isFirst?: boolean) => number;
  /** The end of a result that counts from a monotonic instant. */
  readonly endOf: (operation: Operation, fromMs: number) => End;
  /** The interval of a hastened operation; `undefined` where it is polled as configured. */
  readonly hasteMsOf: (operation: Operation) => number | undefined;
  /** The monotonic instant, `fromMs` or later, at which the task is due next; `undefined` if it is not scheduled. */
  nextDueMs(task: Task, fromMs: number): number | undefined;
  readonly backoff: Pick<Backoff, "settle" | "end">;
  readonly backoffOf: (operation: Operation) => BackoffPeriod | undefined;
  /** The health of the appliance, by its VRRP list. */
  readonly health: () => Pick<Circumstances, "downUntilMs" | "returnedMs" | "listDueMs">;
  /** A poll was sent, and its result was observed. */
  readonly onPolled: (result: Observation<unknown>, isOutOfTurn: boolean) => void;
}

/** A task before its first poll. */
export const NEW = {
  isPlanned: true,
  progress: "idle",
  dueMs: 0,
  outOfTurn: [],
} as const;

/** Ends the plan of a task. A poll in line or in flight ends without an observation. */
export function end(task: Task): void {
  clearTimeout(task.waiting);
  task.waiting = undefined;
  for (const occasion of OUT_OF_TURN) {
    clearTimeout(task[occasion]);
    task[occasion] = undefined;
  }
  if (task.progress === "in_line") task.progress = "unserved";
  task.isPlanned = false;
  task.failing = undefined;
  task.latestUntilMs = undefined;
}

/** Calls for a poll out of turn after this delay, unless one is due soon in any case, or the first turn is still to come. */
export function callFor(deps: TaskDeps, task: Task, occasion: OutOfTurn, afterMs: number): void {
  const nowMs = deps.clock.monotonicMs();
  // A poll that is due soon, as after a start, sees only one half of a change that members make one after the other.
  const dueMs = deps.nextDueMs(task, occasion === "second_look" ? nowMs + afterMs / 2 : nowMs);
  if (dueMs === undefined || dueMs <= nowMs + afterMs) return;
  task[occasion] ??= setTimeout(() => {
    task[occasion] = undefined;
    drive(deps, task, occasion);
  }, afterMs);
}

/** Polls the operation, or not, as `decide` says: it is due, or something calls for it out of turn. Returns at once. */
export function drive(
  deps: TaskDeps,
  task: Task,
  occasion: Occasion,
  dueMs = deps.clock.monotonicMs(),
): void {
  const decision = decideNow(deps, task, occasion);
  if (decision.action !== "ignore") {
    task.dueMs = lateFromMs(deps, task, dueMs);
    task.outOfTurn = occasion === "due" ? NEW.outOfTurn : [...task.outOfTurn, occasion];
  }
  if (occasion === "returned" && decision.action === "queue") deps.backoff.end("unsupported");
  void carryOut(deps, task, occasion, decision);
}

/** A hastened test has as much time to begin as without haste, and is late only then. */
function lateFromMs({ hasteMsOf, gapMsOf }: TaskDeps, { operation, sentAtMs }: Task, dueMs: number): number {
  if (operation.kind === "vrrp" || sentAtMs === undefined || hasteMsOf(operation) === undefined) return dueMs;
  return Math.max(dueMs, sentAtMs + gapMsOf(operation));
}

function decideNow(deps: TaskDeps, task: Task, occasion: Occasion, isChecked = false): Decision {
  const { operation, isPlanned } = task;
  if (!isPlanned) return { action: "ignore" };
  return decide(occasion, task, {
    nowMs: deps.clock.monotonicMs(),
    gapMs: deps.gapMsOf(operation),
    timeoutMs: deps.timeoutMsOf(operation),
    hasteMs: deps.hasteMsOf(operation),
    backoff: deps.backoffOf(operation),
    isChecked,
    ...deps.health(),
  });
}

async function carryOut(
  deps: TaskDeps,
  task: Task,
  occasion: Occasion,
  decision = decideNow(deps, task, occasion),
): Promise<void> {
  const { operation } = task;
  switch (decision.action) {
    case "queue":
      return queue(deps, task);
    case "send":
      return send(deps, task);
    case "check":
      return check(deps, task, occasion);
    case "ignore":
    case "reject": {
      const { skipped, failure } = decision;
      if (skipped !== undefined) deps.events.skipped(operation.kind, skipped, 1);
      if (failure === undefined) return undefined;
      if (failure === "appliance_down") task.failing = UNSENT;
      const outcome = { ok: false, failure: unsent(failure, lateSeconds(deps, task)) } as const;
      return observe(deps, task, { outcome, ...operation });
    }
  }
}

/** Lets the backoff after a refusal end, if there are other credentials. */
async function check(deps: TaskDeps, task: Task, occasion: Occasion): Promise<void> {
  const { progress, operation } = task;
  task.progress = "in_flight";
  const areNew = await deps.client.hasNewCredentials(deps.timeoutMsOf(operation));
  if (areNew) deps.backoff.end("auth");
  task.progress = progress;
  await carryOut(deps, task, occasion, decideNow(deps, task, occasion, true));
}

/** Takes its place in line for a slot of each limit, or waits again in the one that it has. */
function queue(deps: TaskDeps, task: Task): void {
  const { operation, dueMs, latestUntilMs, progress } = task;
  const timeoutMs = deps.timeoutMsOf(operation);
  const gapMs = deps.gapMsOf(operation, latestUntilMs === undefined);
  const untilMs = latestUntilMs ?? expiresAtMs(dueMs, gapMs, timeoutMs);
  const endsMs = waitEndsMs(dueMs, untilMs, gapMs, timeoutMs);
  const endWait = (): void => {
    task.progress = "unserved";
    void carryOut(deps, task, "wait_over");
  };
  task.waiting = setTimeout(endWait, Math.max(0, endsMs - deps.clock.monotonicMs()));
  task.progress = "in_line";
  if (progress === "unserved") return;
  const serve = async (): Promise<void> => {
    clearTimeout(task.waiting);
    task.waiting = undefined;
    task.progress = "in_flight";
    await carryOut(deps, task, "slot");
    task.progress = "idle";
  };
  const enter = POLL_RULES[operation.kind].limits.reduceRight<() => Promise<void>>(
    (next, name) => () => {
      task.waitsFor = name;
      return deps.limits[name](next);
    },
    serve,
  );
  void enter();
}

/** Polls the operation now. Its result counts for the backoff, and is observed. Never rejects. */
async function send(deps: TaskDeps, task: Task): Promise<void> {
  const { clock, events, client, backoff, appliance } = deps;
  const { operation, latestUntilMs } = task;
  const { kind } = operation;
  const gapMs = deps.gapMsOf(operation);
  // If the client is closed before, the poll has not started, and is neither counted nor measured.
  let startedMs: number | undefined;
  let credentials: symbol | undefined;
  let isAbandoned = false;
  const polled = await poll(client, deps.kind, operation, deps.timeoutMsOf(operation), {
    // Without a result that expires, the poll waits for as long as it takes.
    connectionWaitMs: latestUntilMs && connectionWaitMs(latestUntilMs, gapMs, clock.monotonicMs()),
    onStarted: (endRequest) => {
      task.abandon = () => {
        isAbandoned = true;
        endRequest();
      };
      startedMs = clock.monotonicMs();
      task.sentAtMs = startedMs;
      events.started(kind, lateSeconds(deps, task));
    },
    onCredentials: (sent) => (credentials = sent),
    isAlone: deps.isAlone(),
    turn: () => deps.turns(appliance),
  });
  task.abandon = undefined;
  const endedMs = clock.monotonicMs();
  if (startedMs !== undefined) events.ended(kind, toSeconds(endedMs - startedMs));
  if (!task.isPlanned) return;
  const result = isAbandoned && !polled.outcome.ok ? { outcome: ABANDONED, ...operation } : polled;
  const { outcome } = result;
  startedMs ??= endedMs;
  task.failing = failingAfter(task.failing, outcome, startedMs, endedMs);
  backoff.settle({
    operation,
    outcome,
    credentials,
    startedMs,
    endedMs,
    intervalMs: deps.gapMsOf(operation),
  });
  observe(deps, task, result, startedMs);
  deps.onPolled(result, isOutOfTurn(task));
}

const ABANDONED = {
  ok: false,
  failure: { reason: "appliance_down", message: "ended without an answer: the appliance is unreachable" },
} as const;

/** The latest poll was not sent, since the appliance was down. */
const UNSENT: Failing = { latestMs: -Infinity, cutOffMs: -Infinity };

function failingAfter(
  before: Failing = UNSENT,
  outcome: Outcome<unknown>,
  startedMs: number,
  endedMs: number,
): Failing | undefined {
  if (outcome.ok) return undefined;
  const wasCutOff = before.cutOffMs !== -Infinity;
  const isCutOff = !wasCutOff && meaningOf(outcome.failure.reason).isCutOff === true;
  return { latestMs: startedMs, cutOffMs: isCutOff ? endedMs : before.cutOffMs };
}

/** `sentAtMs`: the beginning of a poll that was sent, which ends now. */
function observe(deps: TaskDeps, task: Task, result: Observation<unknown>, sentAtMs?: number): void {
  const { clock, appliance, client } = deps;
  const nowMs = clock.monotonicMs();
  const countsFromMs = result.outcome.ok ? nowMs : (deps.backoffOf(task.operation)?.untilMs ?? nowMs);
  const ends = deps.endOf(task.operation, countsFromMs);
  // A rest is no reason for haste: the poll after it waits for as long as any other.
  task.latestUntilMs = ends.rest?.stalledAtMs ?? ends.expiresAtMs;
  deps.events.observed({
    appliance,
    completedAtMs: clock.wallMs(),
    isOutOfTurn: isOutOfTurn(task),
    sentAtMs,
    sinceMs: task.observedFromMs,
    durationSeconds:
      sentAtMs === undefined || result.outcome === ABANDONED ? undefined : toSeconds(nowMs - sentAtMs),
    certificate: client.certificate(),
    ...ends,
    ...result,
  });
  task.observedFromMs = sentAtMs ?? nowMs;
}

/** Whether its latest poll is out of turn. */
function isOutOfTurn({ outOfTurn }: Task): boolean {
  return outOfTurn.length > 0;
}

function lateSeconds({ clock }: TaskDeps, { dueMs }: Task): number {
  return toSeconds(Math.max(0, clock.monotonicMs() - dueMs));
}
