import { createTask, parse, validateDetailed } from "node-cron";
import { cut } from "./validate.ts";

/** Longer than an expression that lists each value of each field. */
const MAX_LENGTH = 1_000;

/** Fields in order; `cycle`: a step is even only if it divides this number. Months differ in length anyway. */
const FIELDS: readonly { readonly name: string; readonly cycle?: number }[] = [
  { name: "second", cycle: 60 },
  { name: "minute", cycle: 60 },
  { name: "hour", cycle: 24 },
  { name: "day of month" },
  { name: "month" },
  { name: "week day" },
];

/**
 * Checks a node-cron expression and returns an error or `undefined`. It needs six fields, seconds first, and dates that
 * recur. A step that does not divide its field's cycle is an error (`*`/45 seconds would run at 0 and 45), and so is a
 * step beyond its range.
 */
export function checkSchedule(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH) {
    return `expected a node-cron expression of at most ${MAX_LENGTH} characters`;
  }
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  }
  // node-cron expands every range: a large number would exhaust the memory.
  if (/\d{3}/.test(expression)) return "expected a node-cron expression with numbers of at most two digits";
  const { valid, errors } = validateDetailed(expression);
  if (!valid) {
    const messages = errors.map(({ message }) => cut(message.replace(" is a invalid ", " is an invalid ")));
    return `expected a node-cron expression: ${messages.join("; ")}`;
  }
  return checkSteps(fields) ?? (recurs(expression) ? undefined : "expected a date that recurs");
}

function checkSteps(fields: readonly string[]): string | undefined {
  return FIELDS.flatMap(({ name, cycle }, index) =>
    cycle === undefined ? [] : (fields[index] ?? "").split(",").map((part) => checkStep(name, cycle, part)),
  ).find((message) => message !== undefined);
}

function checkStep(name: string, cycle: number, part: string): string | undefined {
  const [, from, to, step] = /^(?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(part) ?? [];
  if (step === undefined) return undefined;
  const length = from === undefined ? cycle : ((Number(to) - Number(from) + cycle) % cycle) + 1;
  // The gap after an explicit range is intended, unless the step never fits into the range.
  if (length < cycle ? Number(step) < length : cycle % Number(step) === 0) return undefined;
  const wanted = length < cycle ? "is smaller than the range" : `divides ${cycle}`;
  return `expected a step that ${wanted}, got ${part} for ${name}`;
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
