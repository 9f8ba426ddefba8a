import { isDeepStrictEqual } from "node:util";
import type { SlotKind } from "../api/operation.ts";
import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceClient } from "../client/client.ts";
import { meaningOf, type Failure } from "../client/failure.ts";
import type { ApplianceConfig, OperationTiming } from "../config/config.ts";
import { digestOf } from "../config/load-in-thread.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import { createBackoff, type Backoff, type FinishedPoll } from "./backoff.ts";
import { operationKey, type Operation, type PollEvents, type PollResult } from "./observation.ts";
import { poll, unsent, unsentForSlot } from "./poll.ts";
import { expiresAtMs, firstPace, MAX_WAIT_MS, mustBeginByMs, waitEndsMs, type Pace } from "./pace.ts";
import type { Turns } from "../support/turns.ts";
import type { Slots } from "./slots.ts";
import type { Timetable } from "./timetable.ts";

/** Polls one appliance, one poll of each operation at a time. */
export interface AppliancePoller {
  /** Polls what is planned now, and nothing else. */
  arrange(): void;
  /** Polls the operation, unless it is in flight or backs off, or the appliance is known to be down. Returns at once. */
  due(operation: Operation, dueMs: number): void;
  /** @see Runner.confirm */
  confirm(operation: Operation, afterMs: number): void;
  /** @see Runner.nextPollMs */
  nextPollMs(operation: Operation): number | undefined;
  /** Whether it polls an appliance at this address with these settings; any other needs another poller. */
  canPoll(appliance: ApplianceConfig): boolean;
  /**
   * Applies a new configuration of the appliance, if it is another one, and ends a backoff for refused credentials. Polls at
   * once what the appliance lacked, in any case: it may have been updated.
   */
  update(appliance: ApplianceConfig): void;
  /** Ends all polls; nothing is observed from here on, and nothing planned. */
  close(): void;
}

export interface AppliancePollerDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly slots: Readonly<Record<SlotKind, Slots>>;
  /** For long answers, by appliance. */
  readonly turns: Turns;
  readonly timetable: Pick<Timetable<Task>, "put" | "remove" | "nextDueMs" | "gapMs">;
  /** The websites of an enabled appliance of the latest configuration. */
  readonly planOf: (appliance: ApplianceConfig) => WebsitePlan;
}

/** Ids of the websites whose details are polled, and of those that are tested. */
export interface WebsitePlan {
  readonly details: readonly number[];
  readonly tests: readonly number[];
}

/** An operation that is polled again and again. Instants are monotonic. */
export interface Task {
  readonly poller: Pick<AppliancePoller, "due">;
  readonly operation: Operation;
  /** If not, it is kept until its poll in flight has ended. */
  isPlanned: boolean;
  /** When the poll in flight was due, from the wait for a slot on. */
  inFlightDueMs?: number | undefined;
  /** Whether its latest poll is out of turn. */
  isOutOfTurn: boolean;
  /** Since when it has waited for a slot, also in waits that ended without one. */
  waitingSinceMs?: number | undefined;
  /** Until when the latest observation counts. */
  latestUntilMs?: number | undefined;
  /** Timer of a confirming poll. */
  confirming?: NodeJS.Timeout | undefined;
}

const LIST: Operation = { kind: "vrrp" };
const WEBSITE_LIST: Operation = { kind: "website_list" };
const FIRST_IN_LINE = 0;

type Span = Pick<FinishedPoll, "startedMs" | "endedMs">;

export function createAppliancePoller(
  deps: AppliancePollerDeps,
  initial: ApplianceConfig,
  client: ApplianceClient,
): AppliancePoller {
  const { clock, events, timetable } = deps;
  const slots = {
    website_tests: deps.slots.website_tests.forAppliance(initial.polling.maxConcurrentWebsiteTests),
    discovery: deps.slots.discovery.forAppliance(1),
  };
  /** By `operationKey`. */
  const tasks = new Map<string, Task>();
  /** Those whose latest poll was not sent because the appliance was down. */
  const overdue = new Set<Task>();
  const backoff = createBackoff();
  let appliance = initial;
  let isClosed = false;
  let arranged: { readonly appliance: ApplianceConfig; readonly plan: WebsitePlan | undefined } | undefined;
  /** Whether the appliance was unreachable or unauthorized when its list was last polled, at the monotonic instant `atMs`. */
  let latestList: { readonly isDown: boolean; readonly atMs: number } | undefined;

  function arrange(): void {
    const plan = isClosed ? undefined : deps.planOf(appliance);
    if (arranged?.appliance === appliance && isDeepStrictEqual(arranged.plan, plan)) return;
    arranged = { appliance, plan };
    const operations = plan === undefined ? [] : operationsOf(appliance, plan);
    const wanted = new Map(operations.map((operation) => [operationKey(operation), operation]));
    for (const [key, task] of tasks) if (!wanted.has(key)) drop(key, task);
    for (const [key, operation] of wanted) {
      const task: Task = tasks.get(key) ?? { poller: self, operation, isPlanned: true, isOutOfTurn: false };
      task.isPlanned = true;
      tasks.set(key, task);
    }
    begin();
  }
  /** Website tests begin when it is known whether the appliance can be reached. */
  function begin(): void {
    const { cluster } = appliance;
    for (const [key, task] of tasks) {
      const { operation, isPlanned } = task;
      if (!isPlanned || (operation.kind !== "vrrp" && latestList === undefined)) continue;
      // Members of a cluster are polled at the same moment. An appliance does not get all tests of its websites at once.
      const phaseKey = operation.kind === "vrrp" ? cluster : `${cluster}/${key}`;
      timetable.put(task, phaseKey, timingOf(operation));
    }
  }
  /** Drops what is known of an operation: its id may belong to another website later. */
  function drop(key: string, task: Task): void {
    timetable.remove(task);
    clearTimeout(task.confirming);
    backoff.forget(key);
    overdue.delete(task);
    task.isPlanned = false;
    task.confirming = undefined;
    task.latestUntilMs = undefined;
    if (task.inFlightDueMs === undefined) tasks.delete(key);
  }

  function due(operation: Operation, dueMs: number): void {
    const task = tasks.get(operationKey(operation));
    if (task?.isPlanned !== true) return;
    if (task.inFlightDueMs !== undefined) {
      // An appliance with many websites takes long for a round of their details, which come one after another.
      const isInLine =
        task.waitingSinceMs !== undefined && OPERATIONS[operation.kind].takesSlot === "discovery";
      if (!isInLine) events.skipped(operation.kind, "overlap", 1);
      return;
    }
    start(task, dueMs, false);
  }

  /** Polls an operation that is not in flight and does not back off: at most once between two polls in turn. */
  function dueOutOfTurn(task: Task | undefined): void {
    if (task?.isPlanned !== true || (task.isOutOfTurn && !overdue.has(task))) return;
    if (task.inFlightDueMs !== undefined || backoffOf(task.operation) !== undefined) return;
    start(task, clock.monotonicMs(), true);
  }

  function start(task: Task, dueMs: number, isOutOfTurn: boolean): void {
    task.inFlightDueMs = dueMs;
    task.isOutOfTurn = isOutOfTurn;
    void attempt(task, dueMs).finally(() => {
      task.inFlightDueMs = undefined;
      if (!task.isPlanned) tasks.delete(operationKey(task.operation));
    });
  }

  async function attempt(task: Task, dueMs: number): Promise<void> {
    const { operation } = task;
    if (!(await mayBegin(task))) return;
    const { takesSlot } = OPERATIONS[operation.kind];
    if (takesSlot === false) return send(task, dueMs);
    // A wait that ended without a slot keeps its place in the next one. The list comes first: it says which details are of use.
    task.waitingSinceMs ??= operation.kind === "website_list" ? FIRST_IN_LINE : clock.monotonicMs();
    const slot = await slots[takesSlot].take(beginByMs(task, dueMs), task.waitingSinceMs);
    if (slot === "slot") task.waitingSinceMs = undefined;
    try {
      // Much may have happened during the wait.
      if (!(await mayBegin(task))) return;
      if (slot === "slot") await send(task, dueMs);
      else fail(task, unsentForSlot(takesSlot, slot, waitedSeconds(dueMs)));
    } finally {
      if (slot === "slot") slots[takesSlot].release();
    }
  }

  /** Whether the poll can begin now; reports why not. */
  async function mayBegin(task: Task): Promise<boolean> {
    const { operation } = task;
    if (isClosed || !task.isPlanned) return false;
    if (isKnownDown(operation)) {
      overdue.add(task);
      fail(task, unsent("appliance_down"));
      return false;
    }
    const isRefused = backoffOf(operation)?.reason === "auth";
    if (isRefused && (await client.hasNewCredentials(timingOf(operation).timeoutMs))) backoff.end("auth");
    if (isClosed) return false;
    const active = backoffOf(operation);
    if (active === undefined) return true;
    events.skipped(operation.kind, "backoff", 1);
    const pace = paceOf(operation);
    const byMs = mustBeginByMs(task.latestUntilMs ?? 0, pace);
    // The latest result must not expire as `stalled` before the next turn: it ends here, with the true reason.
    if (byMs <= clock.monotonicMs() + pace.gapMs) fail(task, unsent(active.reason));
    return false;
  }

  async function send(task: Task, dueMs: number): Promise<void> {
    const { operation } = task;
    overdue.delete(task);
    // If the client is closed before, the poll has not started, and is neither counted nor measured.
    let startedMs: number | undefined;
    let credentials: symbol | undefined;
    const result = await poll(client, operation, timingOf(operation).timeoutMs, {
      connectionWaitMs: connectionWaitMs(task),
      onStarted: () => {
        startedMs = clock.monotonicMs();
        events.started(operation.kind, waitedSeconds(dueMs));
      },
      onCredentials: (sent) => (credentials = sent),
      turn: () => deps.turns(appliance.name),
    });
    const endedMs = clock.monotonicMs();
    if (startedMs !== undefined) events.ended(operation.kind, toSeconds(endedMs - startedMs));
    if (!isClosed) settle(task, result, credentials, { startedMs: startedMs ?? endedMs, endedMs });
  }

  function waitedSeconds(dueMs: number): number {
    return toSeconds(Math.max(0, clock.monotonicMs() - dueMs));
  }

  /** The end of the wait for a slot: so early that the poll ends before the latest result expires. */
  function beginByMs({ operation, latestUntilMs }: Task, dueMs: number): number {
    const pace = latestUntilMs === undefined ? firstPace(timingOf(operation)) : paceOf(operation);
    return waitEndsMs(dueMs, latestUntilMs ?? expiresAtMs(dueMs, pace), pace);
  }

  /** Until shortly before the latest result expires; what was never polled waits for as long as it takes. */
  function connectionWaitMs({ operation, latestUntilMs }: Task): number | undefined {
    if (latestUntilMs === undefined) return undefined;
    const marginMs = paceOf(operation).gapMs / 4;
    return Math.min(Math.max(marginMs, latestUntilMs - marginMs - clock.monotonicMs()), MAX_WAIT_MS);
  }

  /** Whether the operation is a website test, which does not reach an appliance that is down. */
  function isKnownDown(operation: Operation): boolean {
    if (operation.kind === "vrrp" || latestList?.isDown !== true) return false;
    // It does not age while the list backs off after a refusal, or while its next poll is in flight.
    const fromMs = Math.max(latestList.atMs, backoff.everythingUntilMs());
    const nowMs = tasks.get(operationKey(LIST))?.inFlightDueMs ?? clock.monotonicMs();
    return nowMs < fromMs + suppressionMs();
  }

  /**
   * How long a failed poll of the list suppresses website tests: two gaps of the list, but at most one gap of the tests. Time
   * in which the next poll of the list is in flight does not count.
   */
  function suppressionMs(): number {
    const { vrrp, websites } = appliance.polling;
    return Math.min(2 * timetable.gapMs(vrrp), timetable.gapMs(websites));
  }

  function backoffOf(operation: Operation): ReturnType<Backoff["active"]> {
    return backoff.active(operationKey(operation), clock.monotonicMs(), suppressionMs());
  }

  function settle(task: Task, result: PollResult, credentials: symbol | undefined, span: Span): void {
    const { outcome } = result;
    const intervalMs = paceOf(result).gapMs;
    backoff.settle({ operation: operationKey(result), outcome, credentials, ...span, intervalMs });
    observe(task, result, span);
    if (result.kind !== "vrrp") return;
    const isDown = !outcome.ok && meaningOf(outcome.failure.reason).stopsOtherPolls === true;
    const before = latestList;
    latestList = { isDown, atMs: span.endedMs };
    if (before === undefined) begin();
    // What is polled out of turn never has others polled.
    if (!isDown && !task.isOutOfTurn) for (const each of overdue) dueOutOfTurn(each);
  }

  /** Observes a due poll that is not sent. */
  function fail(task: Task, failure: Failure): void {
    observe(task, { ...task.operation, outcome: { ok: false, failure } });
  }

  /** `span`: of a poll that was sent. */
  function observe(task: Task, result: PollResult, span?: Span): void {
    const nowMs = clock.monotonicMs();
    const countsFromMs = result.outcome.ok ? nowMs : (backoffOf(result)?.untilMs ?? nowMs);
    task.latestUntilMs = expiresAtMs(countsFromMs, paceOf(result));
    events.observed({
      ...result,
      appliance: appliance.name,
      completedAtMs: clock.wallMs(),
      isOutOfTurn: task.isOutOfTurn,
      sentAtMs: span?.startedMs,
      durationSeconds: span && toSeconds(span.endedMs - span.startedMs),
      expiresAtMs: task.latestUntilMs,
      certificate: client.certificate(),
    });
  }

  function timingOf({ kind }: Operation): OperationTiming {
    return appliance.polling[OPERATIONS[kind].timing];
  }

  function paceOf(operation: Operation): Pace {
    const timing = timingOf(operation);
    return { gapMs: timetable.gapMs(timing), timeoutMs: timing.timeoutMs };
  }

  const self: AppliancePoller = {
    arrange,
    due,
    confirm: (operation, afterMs) => {
      const task = tasks.get(operationKey(operation));
      const byMs = clock.monotonicMs() + afterMs;
      if (task?.isPlanned !== true || (timetable.nextDueMs(task, byMs - afterMs) ?? 0) <= byMs) return;
      task.confirming ??= setTimeout(() => {
        task.confirming = undefined;
        dueOutOfTurn(task);
      }, afterMs);
    },
    nextPollMs: (operation) => {
      const task = tasks.get(operationKey(operation));
      return task && timetable.nextDueMs(task, backoffOf(operation)?.untilMs ?? clock.monotonicMs());
    },
    canPoll: ({ baseUrl, http }) => baseUrl === initial.baseUrl && digestOf(http) === digestOf(initial.http),
    update: (next) => {
      if (backoff.end("unsupported")) dueOutOfTurn(tasks.get(operationKey(WEBSITE_LIST)));
      if (next === appliance) return;
      appliance = next;
      backoff.end("auth");
      slots.website_tests.setLimit(next.polling.maxConcurrentWebsiteTests);
    },
    close: () => {
      client.close();
      isClosed = true;
      for (const each of Object.values(slots)) each.close();
      for (const { confirming } of tasks.values()) clearTimeout(confirming);
    },
  };
  return self;
}

function operationsOf({ discovery }: ApplianceConfig, { details, tests }: WebsitePlan): readonly Operation[] {
  return [
    LIST,
    ...(discovery === undefined ? [] : [WEBSITE_LIST]),
    ...details.map((websiteId) => ({ kind: "website_details", websiteId }) as const),
    ...tests.map((websiteId) => ({ kind: "website_test", websiteId }) as const),
  ];
}
