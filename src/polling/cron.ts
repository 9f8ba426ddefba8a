import { createTask } from "node-cron";

/** The instants of a cron expression by the wall clock: Unix time in milliseconds. Has no timer. */
export interface Cron {
  /** The next two instants after `nowMs`. */
  next(nowMs: number): readonly [number, number];
  close(): void;
}

/** Six fields, seconds first; the wall clock's local time. The expression must be valid and have a next instant. */
export function createCron(expression: string): Cron {
  // Never started: its timer would iterate over the whole time by which a clock is set forward.
  const task = createTask(expression, () => undefined);
  let known = { fromMs: 0, runs: [0, 0] as readonly [number, number] };
  return {
    next: (nowMs) => {
      if (nowMs < known.fromMs || nowMs >= known.runs[0]) {
        const [first, second] = task.getNextRuns(2).map((date) => date.getTime());
        const never = Number.POSITIVE_INFINITY;
        known = { fromMs: nowMs, runs: [first ?? never, second ?? never] };
      }
      return known.runs;
    },
    close: () => void task.destroy(),
  };
}
