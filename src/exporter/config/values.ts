import { parse as parseCron, validateDetailed } from "node-cron";
import { z } from "zod";
import { parseDuration } from "../../support/duration.ts";
import { createSchedule } from "../../support/schedule.ts";
import { printable } from "../../support/text.ts";

/**
 * Returns a schema for a text that `parse` converts. For any other text, the error says what was expected, without the text, which may be a
 * secret.
 */
export function parsed<T>(
  what: string,
  parse: (text: string) => T | undefined,
  base?: z.ZodType<string, string | number>,
) {
  const message = `expected ${what}`;
  const error: z.core.$ZodErrorMap = ({ input }) => (input === undefined ? undefined : message);
  return (base ?? z.string({ error })).transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });
}

/** The text of a string or a number, since YAML reads `200` as a number. */
export const textOrNumber = z
  .union([z.number(), z.string()], {
    error: ({ input }) => (input === undefined ? undefined : "expected a string or a number"),
  })
  .transform(String);

/** A path, but not PEM or base64, since a key may have been written in place of its path. */
export const fileSchema = z
  .string()
  .min(1, "expected the path of a file")
  .refine((path) => !/-----|\p{Cc}|^[a-z0-9+/=]{100,}$/iu.test(path), "expected the path of a file");

/** Returns a schema for a duration in milliseconds, from `min` to `max`. */
export function durationSchema(min: string, max: string) {
  const [minMs = 0, maxMs = 0] = [parseDuration(min), parseDuration(max)];
  return parsed(`a duration of ${min} to ${max}, such as 1m30s`, (text) => {
    const ms = parseDuration(text) ?? -1;
    return ms >= minMs && ms <= maxMs ? ms : undefined;
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

/** Returns the error in a node-cron expression, if any. The expression needs six fields, seconds first, and dates that recur. */
export function checkSchedule(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 6)
    return `expected six fields, seconds first, such as "*/10 * * * * *", got ${fields.length}`;
  // node-cron expands every range; Node.js aborts at an array of a billion.
  if (/\d{3}/.test(expression)) return "expected a node-cron expression with numbers of two digits";
  const { valid, errors } = validateDetailed(expression);
  if (!valid) return `expected a node-cron expression: ${errors.map(({ message }) => message).join("; ")}`;
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
