import { validateHeaderValue } from "node:http";
import { z } from "zod";
import { expected, expectedText, show } from "../../config/yaml/wording.ts";

/** A key that may be left out, or stand there without a value, which is the same in files for programs written in Go. */
export function setting<T>(schema: z.ZodType<T>) {
  return z.preprocess((value) => value ?? undefined, schema.optional());
}

/** A text for which the empty one means the same as none. */
export function textSetting<T>(schema: z.ZodType<T>) {
  return z.preprocess((value) => (value === "" ? undefined : (value ?? undefined)), schema.optional());
}

export const text = z.string({ error: expectedText("a text") });

/** A text that is never shown. */
export const secretText = z.string();

/** Words that YAML 1.1 takes for a truth value and YAML 1.2 does not. */
const TRUTHS: ReadonlyMap<unknown, boolean> = new Map([
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

export const truth = z.preprocess((value) => TRUTHS.get(value) ?? value, z.boolean());

const MAX_COUNT = 1_000_000_000;

export const count = z.custom<number>(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT,
  { error: expected(`a whole number from 0 to ${MAX_COUNT}`) },
);

/** One of Go's names, turned into what it stands for. */
export function named<T>(names: ReadonlyMap<string, T>) {
  const what = `one of ${[...names.keys()].join(", ")}`;
  return z.string({ error: expected(what) }).transform((name, context): T => {
    const value = names.get(name);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `expected ${what}, got ${show(name)}` });
    return z.NEVER;
  });
}

const GO_DURATION = /^(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)/;
const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["μs", 1e-3],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** A duration as Go writes it (`1s`, `1.5h`, `1m30s`, `0`), in milliseconds; `undefined` for anything else. */
export function parseGoDuration(given: string): number | undefined {
  if (given === "0") return 0;
  let rest = given;
  let sumMs = 0;
  do {
    const [part] = GO_DURATION.exec(rest) ?? [];
    if (part === undefined) return undefined;
    const unit = part.replace(/^[\d.]+/, "");
    sumMs += Number(part.slice(0, -unit.length)) * (UNITS_MS.get(unit) ?? 0);
    rest = rest.slice(part.length);
  } while (rest !== "");
  return sumMs;
}

/** In milliseconds. */
export const goDuration = z.unknown().transform((input, context): number => {
  const durationMs = input === 0 ? 0 : typeof input === "string" ? parseGoDuration(input) : undefined;
  if (durationMs !== undefined) return durationMs;
  context.addIssue({
    code: "custom",
    message: expected("a duration such as 100ms, 1s or 1m30s")({ input }),
  });
  return z.NEVER;
});

/** A header's value on one line. */
export const headerValue = z.unknown().transform((input, context): string => {
  const line = typeof input === "string" ? oneLine(input) : undefined;
  if (line !== undefined && isHeaderValue(line)) return line;
  const message = expected("a text that may stand in an HTTP header")({ input });
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

function oneLine(given: string): string {
  return given.replaceAll(/[\r\n]+/g, " ").trim();
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue("x", value);
    return true;
  } catch {
    return false;
  }
}
