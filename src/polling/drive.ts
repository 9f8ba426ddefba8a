import { OPERATIONS } from "../api/operations.ts";
import { decide, type Decision, type Occasion } from "./decide.ts";
import { expiresAtMs, waitEndsMs } from "./pace.ts";
import { fail, send } from "./send.ts";
import type { Task, TaskDeps } from "./task.ts";

/** Polls the operation, or not, as `decide` says: it is due, or something calls for it out of turn. Returns at once. */
export function drive(deps: TaskDeps, task: Task, occasion: "due" | "out_of_turn", dueMs: number): void {
  const decision = decideNow(deps, task, occasion);
  if (decision.action !== "ignore") {
    task.dueMs = dueMs;
    task.isOutOfTurn = occasion === "out_of_turn";
  }
  void carryOut(deps, task, occasion, decision);
}

function decideNow(deps: TaskDeps, task: Task, occasion: Occasion, isChecked = false): Decision {
  const { operation, isPlanned } = task;
  if (!isPlanned) return { action: "ignore" };
  const nowMs = deps.clock.monotonicMs();
  const now = { nowMs, pace: deps.paceOf(operation), backoff: deps.backoffOf(operation), isChecked };
  return decide(occasion, task, { ...now, ...deps.health() });
}

async function carryOut(deps: TaskDeps, task: Task, occasion: Occasion, decision: Decision): Promise<void> {
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
      task.isOverdue ||= failure === "appliance_down";
      if (skipped !== undefined) deps.events.skipped(task.operation.kind, skipped, 1);
      if (failure !== undefined) fail(deps, task, failure);
    }
  }
}

async function check(deps: TaskDeps, task: Task, occasion: Occasion): Promise<void> {
  const { progress, operation } = task;
  task.progress = "in_flight";
  const areNew = await deps.client.hasNewCredentials(deps.paceOf(operation).timeoutMs);
  if (areNew) deps.backoff.end("auth");
  task.progress = progress;
  await carryOut(deps, task, occasion, decideNow(deps, task, occasion, true));
}

/** Takes its place in line for a slot of each limit, or waits again in the one that it has. */
function queue(deps: TaskDeps, task: Task): void {
  const { operation, dueMs, latestUntilMs } = task;
  const pace = deps.paceOf(operation, latestUntilMs === undefined);
  const endsMs = waitEndsMs(dueMs, latestUntilMs ?? expiresAtMs(dueMs, pace), pace);
  const waitMs = Math.max(0, endsMs - deps.clock.monotonicMs());
  task.waiting = setTimeout(() => {
    task.progress = "unserved";
    void carryOut(deps, task, "wait_over", decideNow(deps, task, "wait_over"));
  }, waitMs);
  const isInLine = task.progress === "unserved";
  task.progress = "in_line";
  if (isInLine) return;
  const enter = OPERATIONS[operation.kind].limits.reduceRight<() => Promise<void>>(
    (next, name) => () => {
      task.waitsFor = name;
      return deps.limits[name](next);
    },
    () => serve(deps, task),
  );
  void enter();
}

async function serve(deps: TaskDeps, task: Task): Promise<void> {
  clearTimeout(task.waiting);
  task.progress = "in_flight";
  await carryOut(deps, task, "slot", decideNow(deps, task, "slot"));
  task.progress = "idle";
}
