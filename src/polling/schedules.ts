import { createTask, parse } from "node-cron";
import type { Clock } from "../support/clock.ts";

const TOLERANCE_MS = 2000;

/**
 * Returns a check that calls `onJump` if the wall clock has drifted from the monotonic clock by more than 2 s since the
 * start or the last jump: the clock was set, or the machine slept.
 */
function createClockGuard(clock: Clock, onJump: (jumpMs: number) => void): () => void {
  const offset = (): number => clock.wallMs() - clock.monotonicMs();
  let baseMs = offset();
  return () => {
    const jumpMs = offset() - baseMs;
    if (Math.abs(jumpMs) <= TOLERANCE_MS) return;
    baseMs += jumpMs;
    onJump(jumpMs);
  };
}

/** The instants of a cron expression, Unix time in milliseconds. Has no timer. */
interface Cron {
  /** The next `count` instants. */
  nextMs(count: number): readonly number[];
  /** The instant `fromMs` and all later instants up to `toMs`; only the latest ones of a very long time. */
  passedMs(fromMs: number, toMs: number): readonly number[];
  close(): void;
}

/** Limit of looking back; a step takes 10 µs. Covers three days of a schedule in minutes, or an hour of one in seconds. */
const MAX_STEPS = 5000;

/** Six fields, seconds first; the wall clock's local time. The expression must be valid. */
function createCron(expression: string): Cron {
  // Never started: its timer would iterate over the whole time by which a clock is set forward.
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

/** Active cron expressions: one timer for each distinct expression, shared by all its entries. */
export interface Schedules {
  /** Sets the active expressions; unchanged ones continue. */
  set(expressions: ReadonlySet<string>): void;
  /** Must be called every second: sets timers for what is due soon. */
  beat(): void;
  /** The next `count` instants of an active expression, Unix time in milliseconds; none for any other. */
  nextMs(expression: string, count: number): readonly number[];
}

export interface SchedulesDeps {
  readonly clock: Clock;
  /** How far ahead of its instant a timer is set. */
  readonly lookaheadMs: number;
  /** The expression was due at `dueMs`, monotonic, after `missed` instants that were missed. Must return at once. */
  readonly onDue: (expression: string, dueMs: number, missed: number) => void;
  readonly onClockJump: (jumpMs: number) => void;
}

interface Plan {
  readonly expression: string;
  readonly cron: Cron;
  /** The next instant, by the wall clock. */
  nextMs: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Follows the wall clock: recomputes the instants after a jump and does not report instants that were jumped over.
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
    // First: no instant is due if the clock was set forward past it or back before it.
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

/** The configuration rejects expressions without a next instant. */
function nextOf(cron: Cron): number {
  return cron.nextMs(1)[0] ?? Number.POSITIVE_INFINITY;
}
