import { createTask, type Logger, type ScheduledTask } from "node-cron";

/** A cron expression that ticks until it is stopped. */
export interface CronTask {
  /** Sets its timer anew, after the wall clock has jumped. */
  restart(): void;
  stop(): void;
  /** The next `count` instants, Unix time in milliseconds. */
  nextRunsMs(count: number): readonly number[];
}

/** What happens at the instants of an expression. Both return at once: the task is blocked while they run. */
export interface CronHandlers {
  readonly onTick: () => void;
  /** An instant has passed while the event loop was blocked. */
  readonly onMissed: () => void;
}

/** Six fields, seconds first; the wall clock's local time. The expression must be valid. */
export function startCron(expression: string, { onTick, onMissed }: CronHandlers): CronTask {
  let task = start();

  function start(): ScheduledTask {
    const started = createTask(expression, onTick, { logger: SILENT, suppressMissedWarning: true });
    started.on("execution:missed", onMissed);
    void started.start();
    return started;
  }
  function stop(): void {
    void task.destroy();
  }

  return {
    restart: () => {
      stop();
      task = start();
    },
    stop,
    nextRunsMs: (count) => task.getNextRuns(count).map((date) => date.getTime()),
  };
}

/** Missed instants are counted by us; the library would write them to standard output. */
const SILENT: Logger = { info() {}, warn() {}, error() {}, debug() {} };
