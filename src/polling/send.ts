import { toSeconds } from "../support/clock.ts";
import type { FinishedPoll } from "./backoff.ts";
import type { PollResult } from "./observation.ts";
import { connectionWaitMs, expiresAtMs } from "./pace.ts";
import { poll, unsent, type UnsentReason } from "./poll.ts";
import { lateSeconds, type Task, type TaskDeps } from "./task.ts";

type Span = Pick<FinishedPoll, "startedMs" | "endedMs">;

/** Polls the operation now. Its result counts for the backoff, and is observed. Never rejects. */
export async function send(deps: TaskDeps, task: Task): Promise<void> {
  const { clock, events, client, backoff } = deps;
  const { operation, latestUntilMs } = task;
  const { kind } = operation;
  const pace = deps.paceOf(operation);
  task.isOverdue = false;
  // If the client is closed before, the poll has not started, and is neither counted nor measured.
  let startedMs: number | undefined;
  let credentials: symbol | undefined;
  const result = await poll(client, operation, pace.timeoutMs, {
    // Without a result that expires, the poll waits for as long as it takes.
    connectionWaitMs: latestUntilMs && connectionWaitMs(latestUntilMs, pace, clock.monotonicMs()),
    onStarted: () => {
      startedMs = clock.monotonicMs();
      events.started(kind, lateSeconds(task, clock));
    },
    onCredentials: (sent) => (credentials = sent),
    turn: deps.turn,
  });
  const endedMs = clock.monotonicMs();
  if (startedMs !== undefined) events.ended(kind, toSeconds(endedMs - startedMs));
  if (!task.isPlanned) return;
  const { outcome } = result;
  const span = { startedMs: startedMs ?? endedMs, endedMs };
  backoff.settle({ operation, outcome, credentials, ...span, intervalMs: deps.paceOf(operation).gapMs });
  observe(deps, task, result, span);
  deps.onPolled(result, task.isOutOfTurn);
}

/** Observes a due poll that is not sent. */
export function fail(deps: TaskDeps, task: Task, why: UnsentReason): void {
  const failure = unsent(why, lateSeconds(task, deps.clock));
  observe(deps, task, { ...task.operation, outcome: { ok: false, failure } });
}

/** `span`: of a poll that was sent. */
function observe(deps: TaskDeps, task: Task, result: PollResult, span?: Span): void {
  const { clock } = deps;
  const nowMs = clock.monotonicMs();
  const countsFromMs = result.outcome.ok ? nowMs : (deps.backoffOf(task.operation)?.untilMs ?? nowMs);
  task.latestUntilMs = expiresAtMs(countsFromMs, deps.paceOf(task.operation));
  deps.events.observed({
    ...result,
    appliance: deps.appliance,
    completedAtMs: clock.wallMs(),
    isOutOfTurn: task.isOutOfTurn,
    sentAtMs: span?.startedMs,
    durationSeconds: span && toSeconds(span.endedMs - span.startedMs),
    expiresAtMs: task.latestUntilMs,
    certificate: deps.client.certificate(),
  });
}
