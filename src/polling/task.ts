import type { LimitFunction } from "p-limit";
import type { LimitName } from "../api/operation.ts";
import type { Operation } from "../api/operations.ts";
import type { ApplianceClient } from "../client/client.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import type { Backoff, BackoffPeriod } from "./backoff.ts";
import type { Circumstances, PollState } from "./decide.ts";
import type { PollEvents, PollResult } from "./observation.ts";
import type { Pace } from "./pace.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** An operation that is polled again and again. */
export interface Task extends Mutable<PollState> {
  /** Without a plan nothing begins and nothing is observed. */
  isPlanned: boolean;
  /** The monotonic instant at which its latest poll was due. */
  dueMs: number;
  /** Timers that end its wait for a slot, and that begin a confirming poll. */
  waiting?: NodeJS.Timeout;
  confirming?: NodeJS.Timeout | undefined;
}

/** The tasks of an appliance share these. */
export interface TaskDeps {
  readonly clock: Clock;
  readonly events: PollEvents;
  readonly client: ApplianceClient;
  readonly limits: Readonly<Record<LimitName, LimitFunction>>;
  /** @see PollOptions */
  readonly turn: () => Promise<void>;
  /** Its name. */
  readonly appliance: string;
  /** `isFirst`: before the first result. */
  readonly paceOf: (operation: Operation, isFirst?: boolean) => Pace;
  readonly backoff: Pick<Backoff, "settle" | "end">;
  readonly backoffOf: (operation: Operation) => BackoffPeriod | undefined;
  /** The health of the appliance, by its VRRP list. */
  readonly health: () => Pick<Circumstances, "downUntilMs" | "listDueMs">;
  /** A poll was sent, and its result was observed. */
  readonly onPolled: (result: PollResult, isOutOfTurn: boolean) => void;
}

/** A task before its first poll. */
export const NEW = {
  isPlanned: true,
  progress: "idle",
  dueMs: 0,
  isOutOfTurn: false,
  isOverdue: false,
} as const;

/** Ends the plan of a task. A poll in line or in flight ends without an observation. */
export function end(task: Task): void {
  clearTimeout(task.waiting);
  clearTimeout(task.confirming);
  task.confirming = undefined;
  if (task.progress === "in_line") task.progress = "unserved";
  task.isPlanned = false;
  task.isOverdue = false;
  task.latestUntilMs = undefined;
}

export function lateSeconds({ dueMs }: Task, clock: Clock): number {
  return toSeconds(Math.max(0, clock.monotonicMs() - dueMs));
}
