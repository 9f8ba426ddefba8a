import { createTask, parse, validateDetailed } from "node-cron";
import { cut } from "./validate.ts";

/** Longer than any that lists each value of each field. */
const MAX_LENGTH = 1_000;

/** Fields in their order; `cycle` where a step repeats evenly only if it divides that. Months differ in length anyway. */
const FIELDS: readonly { readonly name: string; readonly cycle?: number }[] = [
  { name: "second", cycle: 60 },
  { name: "minute", cycle: 60 },
  { name: "hour", cycle: 24 },
  { name: "day of month" },
  { name: "month" },
  { name: "week day" },
];

/**
 * What is wrong with a node-cron expression, or `undefined`: it has six fields, seconds first, comes round again, and
 * means what it seems to. A step that does not divide its field's cycle is refused (every 45 seconds would run at 0 and
 * 45), and so is one beyond the range that it steps through.
 */
export function checkSchedule(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH) {
    return `expected a node-cron expression of at most ${MAX_LENGTH} characters`;
  }
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  }
  // node-cron writes every range out: a large number would fill the memory.
  if (/\d{3}/.test(expression)) return "expected a node-cron expression with numbers of at most two digits";
  const { valid, errors } = validateDetailed(expression);
  if (!valid) {
    const messages = errors.map(({ message }) => cut(message.replace(" is a invalid ", " is an invalid ")));
    return `expected a node-cron expression: ${messages.join("; ")}`;
  }
  return checkSteps(fields) ?? (comesRound(expression) ? undefined : "expected a date that comes round");
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
  // A range is written on purpose, with its gap at the end; not so if the step never fits in.
  if (length < cycle ? Number(step) < length : cycle % Number(step) === 0) return undefined;
  const wanted = length < cycle ? "is smaller than the range" : `divides ${cycle}`;
  return `expected a step that ${wanted}, got ${part} for ${name}`;
}

function comesRound(expression: string): boolean {
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
 * The shortest time between two runs of an expression that `checkSchedule` accepts, in milliseconds: 1 s to a day. Days
 * are taken as if they followed each other, and as 24 hours long.
 */
export function shortestGapMs(expression: string): number {
  const { second, minute, hour } = parse(expression);
  const hours = shortestGap(hour, 24);
  const minutes = shortestGap(minute, hours * 60);
  return shortestGap(second, minutes * 60) * 1_000;
}

/** The least time from one of the values to the next, or from the last to the first of the round `roundLength` later. */
function shortestGap(values: readonly number[], roundLength: number): number {
  const sorted = [...new Set(values)].toSorted((a, b) => a - b);
  const next = (sorted[0] ?? 0) + roundLength;
  return sorted.reduce((gap, value, index) => Math.min(gap, (sorted[index + 1] ?? next) - value), Infinity);
}
