import { createTask, parse } from "node-cron";

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
