import { createTask, parse } from "node-cron";
import type { DuePoll } from "./schedule.ts";

/** The instants of a cron expression by the wall clock: Unix time in milliseconds. Has no timer. */
export interface Cron {
  /** The next two instants after `nowMs`. */
  next(nowMs: number): readonly [number, number];
  /** The poll to make at `nowMs` for an entry that is due at `dueMs`. Very many missed instants are not counted exactly. */
  takeDue(dueMs: number, nowMs: number): DuePoll;
  close(): void;
}

/** Limit of looking back; a step takes 10 µs. Covers three days of a schedule in minutes, or an hour of one in seconds. */
const MAX_STEPS = 5000;

/** Six fields, seconds first; the wall clock's local time. The expression must be valid and have a next instant. */
export function createCron(expression: string): Cron {
  // Never started: its timer would iterate over the whole time by which a clock is set forward.
  const task = createTask(expression, () => undefined);
  const stepMs = parse(expression).second.length === 1 ? 60_000 : 1000;
  let known = { fromMs: 0, runs: [0, 0] as readonly [number, number] };
  let passed = { dueMs: 0, steps: 0, instants: [] as readonly number[] };

  function next(nowMs: number): readonly [number, number] {
    if (nowMs < known.fromMs || nowMs >= known.runs[0]) {
      const [first, second] = task.getNextRuns(2).map((date) => date.getTime());
      const never = Number.POSITIVE_INFINITY;
      known = { fromMs: nowMs, runs: [first ?? never, second ?? never] };
    }
    return known.runs;
  }

  /** All instants after `dueMs`, which many entries share, up to so many steps later. */
  function after(dueMs: number, steps: number): readonly number[] {
    if (passed.dueMs === dueMs && passed.steps === steps) return passed.instants;
    const looked = Math.min(steps, MAX_STEPS);
    const all = Array.from({ length: looked }, (_, i) => dueMs + (steps - looked + 1 + i) * stepMs);
    passed = { dueMs, steps, instants: all.filter((atMs) => task.match(new Date(atMs))) };
    return passed.instants;
  }

  return {
    next,
    takeDue: (dueMs, nowMs) => {
      const missed = after(dueMs, Math.floor((nowMs - dueMs) / stepMs));
      return { dueMs: missed.at(-1) ?? dueMs, missed: missed.length, nextDueMs: next(nowMs)[0] };
    },
    close: () => void task.destroy(),
  };
}
