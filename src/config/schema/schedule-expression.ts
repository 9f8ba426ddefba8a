import { createTask, parse, validateDetailed } from "node-cron";

const FIELDS = ["second", "minute", "hour", "day of month", "month", "day of week"] as const;

/** The values of the fields whose steps repeat evenly only if they divide them; days and months differ in length anyway. */
const CYCLES: Readonly<Partial<Record<(typeof FIELDS)[number], number>>> = {
  second: 60,
  minute: 60,
  hour: 24,
};

/**
 * What is wrong with a node-cron expression, or `undefined`: it has six fields, seconds first, comes round again, and
 * means what it seems to. Refused as misleading: a step that does not divide its field's cycle (every 45 seconds runs
 * at 0 and 45), and one beyond the range it steps through.
 */
export function checkScheduleExpression(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  }
  return checkValidity(expression) ?? checkSteps(fields) ?? checkComesRound(expression);
}

function checkValidity(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression);
  if (valid) return undefined;
  const messages = errors.map(({ message }) => message.replace(" is a invalid ", " is an invalid "));
  return `expected a node-cron expression: ${messages.join("; ")}`;
}

function checkSteps(fields: readonly string[]): string | undefined {
  const parts = FIELDS.flatMap((name, index) =>
    (fields[index] ?? "").split(",").map((part) => ({ name, part })),
  );
  return parts.map(({ name, part }) => checkStep(name, part)).find((message) => message !== undefined);
}

function checkStep(name: (typeof FIELDS)[number], part: string): string | undefined {
  const cycle = CYCLES[name];
  const step = Number(/\/(\d+)$/.exec(part)?.[1]);
  if (cycle === undefined || Number.isNaN(step)) return undefined;
  const [, from, to] = /^(\d+)-(\d+)\//.exec(part) ?? [];
  const length = from === undefined ? cycle : ((Number(to) - Number(from) + cycle) % cycle) + 1;
  // A range is said on purpose, its gap at the end included; not so if the step never fits in.
  const fits = length < cycle ? step < length : cycle % step === 0;
  if (fits) return undefined;
  const wanted = length < cycle ? `is smaller than the range` : `divides ${cycle}`;
  return `expected a step that ${wanted}, got ${part} for ${name}`;
}

function checkComesRound(expression: string): string | undefined {
  const task = createTask(expression, () => undefined);
  try {
    return task.getNextRuns(2).length === 2 ? undefined : NEVER_COMES;
  } catch {
    return NEVER_COMES;
  } finally {
    void task.destroy();
  }
}

const NEVER_COMES = "expected a date that comes round";

/**
 * The shortest time between two runs of an expression that `checkScheduleExpression` accepts, in milliseconds: at
 * least 1 s, at most a day. Days are taken as if they followed each other, and as 24 hours long.
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
