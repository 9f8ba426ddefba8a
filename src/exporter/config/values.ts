import { parse as parseCron, validateDetailed } from "node-cron";
import { z } from "zod";
import { parseDuration } from "../../support/duration.ts";
import { createSchedule } from "../../support/schedule.ts";
import { printable } from "../../support/text.ts";

interface ParsedOptions {
  /** Whether a number is a text too, since YAML reads `200` as a number; default: not. */
  readonly acceptsNumbers?: boolean;
  /** Returns what to write in place of an invalid text, to append to what is expected. */
  readonly hint?: (text: string) => string;
}

/**
 * Returns a schema for a text that `parse` converts. For any other text, the error says what was expected, without the text, which may be a
 * secret.
 */
export function parsed<T>(
  what: string,
  parse: (text: string) => T | undefined,
  { acceptsNumbers = false, hint = () => "" }: ParsedOptions = {},
) {
  const expected = `expected ${what}`;
  const error: z.core.$ZodErrorMap = ({ input }) =>
    input === undefined ? undefined : expected + (typeof input === "number" ? hint(String(input)) : "");
  const text: z.ZodType<string, string | number> = acceptsNumbers
    ? z.union([z.number(), z.string()], { error }).transform(String)
    : z.string({ error });
  return text.transform((given, context): T => {
    const value = parse(given);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `${expected}${hint(given)}` });
    return z.NEVER;
  });
}

/** A path, but not PEM or base64, since a key may have been written in place of its path. */
export const fileSchema = z
  .string()
  .min(1, "expected the path of a file")
  .refine((path) => !/-----|\p{Cc}|^[a-z0-9+/=]{100,}$/iu.test(path), "expected the path of a file");

/** Returns a schema for a duration in milliseconds, from `min` to `max`. */
export function durationSchema(min: string, max: string) {
  const [minMs = 0, maxMs = 0] = [parseDuration(min), parseDuration(max)];
  const parse = (text: string): number | undefined => {
    const ms = parseDuration(text) ?? -1;
    return ms >= minMs && ms <= maxMs ? ms : undefined;
  };
  return parsed(`a duration of ${min} to ${max}, such as 1m30s`, parse, {
    hint: (text) => (/^\d+$/.test(text) && parse(`${text}s`) !== undefined ? `: write ${text}s` : ""),
  });
}

/** A line that people read. A text with lone surrogates is invalid. */
export const commentSchema = parsed(
  "1 to 200 characters, none of them a control character or invisible",
  (text) => {
    const comment = text.trim();
    return /^\P{Cs}{1,200}$/u.test(comment) && printable(comment) === comment ? comment : undefined;
  },
);

/** What a field of a node-cron expression is not. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ["second", "not a second"],
  ["minute", "not a minute"],
  ["hour", "not an hour"],
  ["dayOfMonth", "not a day of the month"],
  ["month", "not a month"],
  ["dayOfWeek", "not a day of the week"],
]);
const UNREADABLE = "single spaces between its fields; digits, * / , - and names of days and months in them";

/** Returns the error in a node-cron expression, if any. The expression needs six fields, seconds first, and dates that recur. */
export function checkSchedule(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 6)
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  // node-cron expands every range; Node.js aborts at an array of a billion.
  if (/\d{3}/.test(expression)) return "expected a node-cron expression with numbers of two digits";
  const { valid, errors } = validateDetailed(expression);
  if (!valid) {
    const wrong = errors.map(({ field, value = "" }) => {
      const what = FIELDS.get(field);
      return what === undefined ? UNREADABLE : `${value} is ${what}`;
    });
    return `expected a node-cron expression: ${wrong.join("; ")}`;
  }
  return recurs(expression) ? undefined : "expected a date that recurs";
}

function recurs(expression: string): boolean {
  const { nextMs } = createSchedule(expression, "UTC");
  return nextMs(nextMs(0)) < Number.POSITIVE_INFINITY;
}

/** Returns the shortest time between two runs of a valid expression, 1 s to a day, as if it ran on all days and all had 24 hours. */
export function shortestGapMs(expression: string): number {
  const { second, minute, hour } = parseCron(expression);
  const hours = shortestGap(hour, 24);
  const minutes = shortestGap(minute, hours * 60);
  return shortestGap(second, minutes * 60) * 1_000;
}

/** Returns the shortest distance between two successive values, or from the last one to the first one of the next round. */
function shortestGap(values: readonly number[], roundLength: number): number {
  const sorted = [...new Set(values)].toSorted((a, b) => a - b);
  const next = (sorted[0] ?? 0) + roundLength;
  return sorted.reduce((gap, value, index) => Math.min(gap, (sorted[index + 1] ?? next) - value), Infinity);
}

export const scheduleSchema = z.string().superRefine((text, context) => {
  const message = checkSchedule(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});
