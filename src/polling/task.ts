import type { LimitFunction } from "p-limit";
import type { LimitName } from "../api/operation.ts";
import { OPERATIONS, type Operation } from "../api/operations.ts";
import type { ApplianceClient } from "../client/client.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import type { Backoff, BackoffPeriod, FinishedPoll } from "./backoff.ts";
import { decide, type Decision, type Occasion, type Progress, type Situation } from "./decide.ts";
import type { PollEvents, PollResult } from "./observation.ts";
import { connectionWaitMs, expiresAtMs, firstPace, waitEndsMs, type Pace } from "./pace.ts";
import { poll, unsent } from "./poll.ts";
import type { Timetable } from "./timetable.ts";

/** An operation that is polled again and again, one poll at a time, as `decide` says. */
export interface Task {
  readonly operation: Operation;
  /** Its instant has come, at `dueMs`. Returns at once. */
  due(dueMs: number): void;
  /** Something else calls for a poll, now. Returns at once. */
  dueOutOfTurn(): void;
  /** The same after this time, unless its instant comes before. */
  confirm(afterMs: number): void;
  /** When it is polled next, backoff included; `undefined` while it is not in the timetable. */
  nextPollMs(): number | undefined;
  /** When its poll was due that is in line or in flight. */
  pendingSinceMs(): number | undefined;
  /** Whether its latest poll was not sent because the appliance was down. */
  isOverdue(): boolean;
  /** Polls it from here on. */
  plan(): void;
  isPlanned(): boolean;
  /** Observes nothing from here on. Nothing that is known remains: its id may belong to another website later. */
  drop(): void;
}

/** What the tasks of an appliance share. */
export interface TaskDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly client: ApplianceClient;
  readonly limits: Readonly<Record<LimitName, LimitFunction>>;
  /** @see PollOptions */
  readonly turn: () => Promise<void>;
  readonly timetable: Pick<Timetable<Task>, "nextDueMs" | "gapMs">;
  readonly backoff: Pick<Backoff, "settle" | "end">;
  readonly backoffOf: (operation: Operation) => BackoffPeriod | undefined;
  /** The latest configuration. */
  readonly appliance: () => ApplianceConfig;
  readonly list: () => Pick<Situation, "downUntilMs" | "listDueMs">;
  /** A poll was sent, and its result was observed. */
  readonly onPolled: (result: PollResult, isOutOfTurn: boolean) => void;
}

export function createTask(deps: TaskDeps, operation: Operation): Task {
  const { clock, events, client, backoff, timetable } = deps;
  const { kind } = operation;
  let isPlanned = true;
  let progress: Progress = "idle";
  /** When its latest poll was due, and whether that is out of turn. */
  let latest = { dueMs: 0, isOutOfTurn: false };
  let isOverdue = false;
  /** Until when the latest observation counts. */
  let latestUntilMs: number | undefined;
  /** The limit for a slot of which it waits, and what ends the wait. */
  let waitsFor: LimitName | undefined;
  let waiting: NodeJS.Timeout | undefined;
  let confirming: NodeJS.Timeout | undefined;

  const timing = (): OperationTiming => deps.appliance().polling[OPERATIONS[kind].timing];
  const pace = (): Pace => ({ gapMs: timetable.gapMs(timing()), timeoutMs: timing().timeoutMs });
  const lateSeconds = (): number => toSeconds(Math.max(0, clock.monotonicMs() - latest.dueMs));

  function decideNow(occasion: Occasion, isChecked = false): Decision {
    if (!isPlanned) return { action: "ignore" };
    const known = {
      kind,
      progress,
      wasOutOfTurn: latest.isOutOfTurn,
      isOverdue,
      latestUntilMs,
      waitsFor,
      isChecked,
    };
    const nowMs = clock.monotonicMs();
    return decide(occasion, {
      ...known,
      nowMs,
      pace: pace(),
      backoff: deps.backoffOf(operation),
      ...deps.list(),
    });
  }
  function begin(occasion: "due" | "out_of_turn", dueMs: number): void {
    const decision = decideNow(occasion);
    if (decision.action !== "ignore") latest = { dueMs, isOutOfTurn: occasion === "out_of_turn" };
    void carryOut(decision, occasion);
  }
  function dueOutOfTurn(): void {
    begin("out_of_turn", clock.monotonicMs());
  }
  async function carryOut(decision: Decision, occasion: Occasion): Promise<void> {
    switch (decision.action) {
      case "queue":
        return queue();
      case "send":
        return send();
      case "check":
        return check(occasion);
      case "ignore":
      case "reject": {
        const { skipped, failure } = decision;
        isOverdue ||= failure === "appliance_down";
        if (skipped !== undefined) events.skipped(kind, skipped, 1);
        if (failure !== undefined)
          observe({ ...operation, outcome: { ok: false, failure: unsent(failure, lateSeconds()) } });
      }
    }
  }
  async function check(occasion: Occasion): Promise<void> {
    const before = progress;
    progress = "in_flight";
    if (await client.hasNewCredentials(timing().timeoutMs)) backoff.end("auth");
    progress = before;
    await carryOut(decideNow(occasion, true), occasion);
  }
  /** Takes its place in line, or waits again in the one that it has. */
  function queue(): void {
    const { dueMs } = latest;
    const own = latestUntilMs === undefined ? firstPace(timing()) : pace();
    const endsMs = waitEndsMs(dueMs, latestUntilMs ?? expiresAtMs(dueMs, own), own);
    waiting = setTimeout(endWait, Math.max(0, endsMs - clock.monotonicMs()));
    const isInLine = progress === "unserved";
    progress = "in_line";
    if (isInLine) return;
    const enter = OPERATIONS[kind].limits.reduceRight<() => Promise<void>>((next, name) => {
      return () => {
        waitsFor = name;
        return deps.limits[name](next);
      };
    }, serve);
    void enter();
  }
  function endWait(): void {
    progress = "unserved";
    void carryOut(decideNow("wait_over"), "wait_over");
  }
  async function serve(): Promise<void> {
    clearTimeout(waiting);
    progress = "in_flight";
    await carryOut(decideNow("slot"), "slot");
    progress = "idle";
  }

  async function send(): Promise<void> {
    isOverdue = false;
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(client, operation, timing().timeoutMs, {
      // What was never polled waits for as long as it takes.
      connectionWaitMs: latestUntilMs && connectionWaitMs(latestUntilMs, pace(), clock.monotonicMs()),
      onStarted: () => {
        startedMs = clock.monotonicMs();
        events.started(kind, lateSeconds());
      },
      onCredentials: (sent) => (credentials = sent),
      turn: deps.turn,
    });
    const endedMs = clock.monotonicMs();
    if (startedMs !== undefined) events.ended(kind, toSeconds(endedMs - startedMs));
    if (!isPlanned) return;
    const { outcome } = result;
    const span = { startedMs: startedMs ?? endedMs, endedMs };
    backoff.settle({ operation, outcome, credentials, ...span, intervalMs: pace().gapMs });
    observe(result, span);
    deps.onPolled(result, latest.isOutOfTurn);
  }
  /** `span`: of a poll that was sent. */
  function observe(result: PollResult, span?: Pick<FinishedPoll, "startedMs" | "endedMs">): void {
    const nowMs = clock.monotonicMs();
    const countsFromMs = result.outcome.ok ? nowMs : (deps.backoffOf(operation)?.untilMs ?? nowMs);
    latestUntilMs = expiresAtMs(countsFromMs, pace());
    events.observed({
      ...result,
      appliance: deps.appliance().name,
      completedAtMs: clock.wallMs(),
      isOutOfTurn: latest.isOutOfTurn,
      sentAtMs: span?.startedMs,
      durationSeconds: span && toSeconds(span.endedMs - span.startedMs),
      expiresAtMs: latestUntilMs,
      certificate: client.certificate(),
    });
  }

  const self: Task = {
    operation,
    due: (dueMs) => begin("due", dueMs),
    dueOutOfTurn,
    confirm: (afterMs) => {
      const nowMs = clock.monotonicMs();
      const nextMs = timetable.nextDueMs(self, nowMs);
      if (nextMs === undefined || nextMs <= nowMs + afterMs) return;
      confirming ??= setTimeout(() => {
        confirming = undefined;
        dueOutOfTurn();
      }, afterMs);
    },
    nextPollMs: () => {
      return timetable.nextDueMs(self, deps.backoffOf(operation)?.untilMs ?? clock.monotonicMs());
    },
    pendingSinceMs: () => (progress === "idle" ? undefined : latest.dueMs),
    isOverdue: () => isOverdue,
    plan: () => void (isPlanned = true),
    isPlanned: () => isPlanned,
    drop: () => {
      clearTimeout(waiting);
      clearTimeout(confirming);
      confirming = undefined;
      if (progress === "in_line") progress = "unserved";
      isPlanned = false;
      isOverdue = false;
      latestUntilMs = undefined;
    },
  };
  return self;
}
