import { createTask, parse, validateDetailed } from "node-cron";

const FIELD_COUNT = 6;

/**
 * Checks a node-cron expression and returns an error or `undefined`. It needs six fields, seconds first, and dates that
 * recur.
 */
export function checkSchedule(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELD_COUNT) {
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  }
  // node-cron expands every range; Node.js aborts at an array of a billion.
  if (/\d{3}/.test(expression)) return "expected a node-cron expression with numbers of two digits";
  const { valid, errors } = validateDetailed(expression);
  if (!valid) return `expected a node-cron expression: ${errors.map(({ message }) => message).join("; ")}`;
  return recurs(expression) ? undefined : "expected a date that recurs";
}

function recurs(expression: string): boolean {
  const task = createTask(expression, () => undefined);
  try {
    return task.getNextRuns(2).length === 2;
  } catch {
    return false;
  } finally {
    void task.destroy();
  }
}

/**
 * The shortest time between two runs of a valid expression, in milliseconds: 1 s to a day. Assumes that it runs on
 * consecutive days of 24 hours.
 */
export function shortestGapMs(expression: string): number {
  const { second, minute, hour } = parse(expression);
  const hours = shortestGap(hour, 24);
  const minutes = shortestGap(minute, hours * 60);
  return shortestGap(second, minutes * 60) * 1_000;
}

/** The shortest distance between two successive values, or from the last one to the first one of the next round. */
function shortestGap(values: readonly number[], roundLength: number): number {
  const sorted = [...new Set(values)].toSorted((a, b) => a - b);
  const next = (sorted[0] ?? 0) + roundLength;
  return sorted.reduce((gap, value, index) => Math.min(gap, (sorted[index + 1] ?? next) - value), Infinity);
}
