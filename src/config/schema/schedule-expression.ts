import { createTask, parse, validateDetailed } from "node-cron";
import { cut } from "../yaml/wording.ts";
import { canComeRound } from "./schedule-days.ts";

/** Longer than any that lists each value of each field. */
const MAX_LENGTH = 1_000;

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of values, the first one `min`'s. */
  readonly names?: readonly string[];
  /** Further values that node-cron knows. */
  readonly special?: RegExp;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const LONG_MONTHS =
  "january february march april may june july august september october november december".split(" ");
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const LONG_DAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
const DAY = `[0-7]|${[...LONG_DAYS, ...DAYS].join("|")}`;

const FIELDS: readonly Field[] = [
  { name: "second", min: 0, max: 59 },
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31, special: /^(?:\?|L|LW|L-\d{1,2}|\d{1,2}W)$/i },
  { name: "month", min: 1, max: 12, names: [...MONTHS, ...LONG_MONTHS] },
  {
    name: "week day",
    min: 0,
    max: 7,
    names: [...DAYS, ...LONG_DAYS],
    special: new RegExp(`^(?:\\?|(?:${DAY})(?:L|#[1-5]))$`, "i"),
  },
];

/** The values of the fields whose steps repeat evenly only if they divide them; days and months differ in length anyway. */
const CYCLES: Readonly<Record<string, number>> = { second: 60, minute: 60, hour: 24 };

/**
 * What is wrong with a node-cron expression, or `undefined`: it has six fields, seconds first, comes round again, and
 * means what it seems to. Refused as misleading: a step that does not divide its field's cycle (every 45 seconds runs
 * at 0 and 45), and one beyond the range it steps through. Takes little time for any text: node-cron, which writes every
 * range out, sees the expression only when its length and each of its numbers are within bounds.
 */
export function checkScheduleExpression(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH)
    return `expected a node-cron expression of at most ${MAX_LENGTH} characters`;
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  }
  if (!/^[\w*/,#? -]+$/.test(expression)) {
    return "expected a node-cron expression: pattern includes illegal characters";
  }
  return (
    checkFields(fields) ?? checkValidity(expression) ?? checkSteps(fields) ?? checkComesRound(expression)
  );
}

function checkFields(fields: readonly string[]): string | undefined {
  const wrong = FIELDS.flatMap((field, index) => {
    const text = fields[index] ?? "";
    const isValid = text.split(",").every((part) => isPart(field, part));
    return isValid ? [] : [`${cut(text)} is an invalid expression for ${field.name}`];
  });
  return wrong.length === 0 ? undefined : `expected a node-cron expression: ${wrong.join("; ")}`;
}

/** One of a field's parts between commas: `*`, a value or a range, with a step or without, or a special value. */
function isPart(field: Field, part: string): boolean {
  if (field.special?.test(part) === true) return true;
  const [, range = "", step] = /^([^/]*)(?:\/(\d{1,4}))?$/.exec(part) ?? [];
  if (step !== undefined && Number(step) === 0) return false;
  if (range === "*") return true;
  const [from = "", to, ...more] = range.split("-");
  if (!isValue(field, from) || more.length > 0) return false;
  return to === undefined ? step === undefined : isValue(field, to);
}

function isValue({ min, max, names = [] }: Field, text: string): boolean {
  if (/^\d{1,2}$/.test(text)) return Number(text) >= min && Number(text) <= max;
  return names.includes(text.toLowerCase());
}

function checkValidity(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression);
  if (valid) return undefined;
  const messages = errors.map(({ message }) => message.replace(" is a invalid ", " is an invalid "));
  return `expected a node-cron expression: ${messages.join("; ")}`;
}

function checkSteps(fields: readonly string[]): string | undefined {
  const parts = FIELDS.flatMap(({ name }, index) =>
    (fields[index] ?? "").split(",").map((part) => ({ name, part })),
  );
  return parts.map(({ name, part }) => checkStep(name, part)).find((message) => message !== undefined);
}

function checkStep(name: string, part: string): string | undefined {
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
  // node-cron looks for a date by walking through a century, day by day.
  if (!canComeRound(parse(expression))) return NEVER_COMES;
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
