import { startCron, type CronTask } from "./cron.ts";

/** The running cron expressions: one task for each distinct one, however many entries follow it. */
export interface Schedules {
  /** Makes these the expressions that run; those that run already go on. */
  set(expressions: ReadonlySet<string>): void;
  /** Sets all timers anew, after the wall clock has jumped. */
  restart(): void;
  /** The next `count` instants of a running expression, Unix time in milliseconds; none for any other. */
  nextRunsMs(expression: string, count: number): readonly number[];
}

export interface SchedulesDeps {
  readonly onTick: (expression: string) => void;
  readonly onMissed: (expression: string) => void;
}

export function createSchedules({ onTick, onMissed }: SchedulesDeps): Schedules {
  const tasks = new Map<string, CronTask>();
  return {
    set: (expressions) => {
      for (const [expression, task] of tasks) {
        if (expressions.has(expression)) continue;
        task.stop();
        tasks.delete(expression);
      }
      for (const expression of expressions) {
        if (tasks.has(expression)) continue;
        const handlers = { onTick: () => onTick(expression), onMissed: () => onMissed(expression) };
        tasks.set(expression, startCron(expression, handlers));
      }
    },
    restart: () => {
      for (const task of tasks.values()) task.restart();
    },
    nextRunsMs: (expression, count) => tasks.get(expression)?.nextRunsMs(count) ?? [],
  };
}
