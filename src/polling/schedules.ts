import { createTask, parse } from "node-cron";
import type { Clock } from "../support/clock.ts";

const TOLERANCE_MS = 2000;

/**
 * Makes a check that calls `onJump` when wall clock and monotonic clock have parted by more than 2 s since the start or
 * the last call: the clock was set, or the machine slept.
 */
export function createClockGuard(clock: Clock, onJump: (jumpMs: number) => void): () => void {
  const offset = (): number => clock.wallMs() - clock.monotonicMs();
  let baseMs = offset();
  return () => {
    const jumpMs = offset() - baseMs;
    if (Math.abs(jumpMs) <= TOLERANCE_MS) return;
    baseMs += jumpMs;
    onJump(jumpMs);
  };
}

/** The instants of a cron expression: Unix time in milliseconds. It runs nothing and has no timer. */
export interface Cron {
  /** The `count` instants that come next. */
  nextMs(count: number): readonly number[];
  /** The instant `fromMs` and those that followed it up to `toMs`; of a very long time, the latest ones. */
  passedMs(fromMs: number, toMs: number): readonly number[];
  close(): void;
}

/** Steps of looking back, 10 µs each: more than three days of a schedule by the minute, more than an hour of one by the second. */
const MAX_STEPS = 5000;

/** Six fields, seconds first; the wall clock's local time. The expression must be valid. */
export function createCron(expression: string): Cron {
  // Never started: its own timer walks through all the time by which a clock is set forward.
  const task = createTask(expression, () => undefined);
  const stepMs = parse(expression).second.length === 1 ? 60_000 : 1000;
  return {
    nextMs: (count) => task.getNextRuns(count).map((date) => date.getTime()),
    passedMs: (fromMs, toMs) => {
      const steps = Math.floor((toMs - fromMs) / stepMs);
      const looked = Math.min(steps, MAX_STEPS);
      const later = Array.from({ length: looked }, (_, i) => fromMs + (steps - looked + 1 + i) * stepMs);
      return [fromMs, ...later.filter((atMs) => task.match(new Date(atMs)))];
    },
    close: () => void task.destroy(),
  };
}

/** The cron expressions that are followed: one timer for each distinct one, however many entries follow it. */
export interface Schedules {
  /** Makes these the expressions that are followed; those that were already go on. */
  set(expressions: ReadonlySet<string>): void;
  /** To be called every second: timers are set for what is due soon. */
  beat(): void;
  /** The next `count` instants of an expression that is followed, Unix time in milliseconds; none for any other. */
  nextMs(expression: string, count: number): readonly number[];
}

export interface SchedulesDeps {
  readonly clock: Clock;
  /** How far ahead of its instant a timer is set. */
  readonly lookaheadMs: number;
  /** An instant has come, at `dueMs`, monotonic; `missed` before it have passed unused. Must return at once. */
  readonly onDue: (expression: string, dueMs: number, missed: number) => void;
  readonly onClockJump: (jumpMs: number) => void;
}

interface Plan {
  readonly expression: string;
  readonly cron: Cron;
  /** The instant to come, by the wall clock. */
  nextMs: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Goes by the wall clock, whichever way it is set: its instants are computed anew when it has jumped, and none that was
 * jumped over is told of.
 */
export function createSchedules({ clock, lookaheadMs, onDue, onClockJump }: SchedulesDeps): Schedules {
  const plans = new Map<string, Plan>();
  const checkClock = createClockGuard(clock, (jumpMs) => {
    for (const plan of plans.values()) planAnew(plan);
    onClockJump(jumpMs);
  });

  function planAnew(plan: Plan): void {
    clearTimeout(plan.timer);
    plan.timer = undefined;
    plan.nextMs = nextOf(plan.cron);
    arm(plan);
  }

  function arm(plan: Plan): void {
    const inMs = plan.nextMs - clock.wallMs();
    if (plan.timer !== undefined || inMs >= lookaheadMs) return;
    plan.timer = setTimeout(() => fire(plan), Math.max(0, inMs));
  }

  function fire(plan: Plan): void {
    plan.timer = undefined;
    // First of all: a clock that was set forward has passed no instant, and set back, the instant has not come.
    checkClock();
    const nowMs = clock.wallMs();
    if (plan.nextMs > nowMs) {
      arm(plan);
      return;
    }
    const passed = plan.cron.passedMs(plan.nextMs, nowMs);
    const lateMs = nowMs - (passed.at(-1) ?? nowMs);
    planAnew(plan);
    onDue(plan.expression, clock.monotonicMs() - lateMs, passed.length - 1);
  }

  function follow(expression: string): void {
    const cron = createCron(expression);
    const plan: Plan = { expression, cron, nextMs: nextOf(cron), timer: undefined };
    plans.set(expression, plan);
    arm(plan);
  }

  function leave({ expression, cron, timer }: Plan): void {
    clearTimeout(timer);
    cron.close();
    plans.delete(expression);
  }

  return {
    set: (expressions) => {
      for (const plan of plans.values()) if (!expressions.has(plan.expression)) leave(plan);
      for (const expression of expressions) if (!plans.has(expression)) follow(expression);
    },
    beat: () => {
      checkClock();
      for (const plan of plans.values()) arm(plan);
    },
    nextMs: (expression, count) => plans.get(expression)?.cron.nextMs(count) ?? [],
  };
}

/** Expressions come round: the configuration takes no other. */
function nextOf(cron: Cron): number {
  return cron.nextMs(1)[0] ?? Number.POSITIVE_INFINITY;
}
