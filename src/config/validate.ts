import { z } from "zod";
import type { ConfigError } from "./config.ts";
import { sortErrors, type Checked, type JsonPath } from "./errors.ts";
import type { SourceReader } from "./sources.ts";
import { errorAt, readYamlFile, type YamlFile } from "./yaml.ts";

/** Reads and validates a YAML file. */
export async function loadYaml<T>(
  path: string,
  schema: z.ZodType<T>,
  reader: SourceReader,
): Promise<Checked<{ readonly file: YamlFile; readonly value: T }>> {
  const read = await readYamlFile(path, reader);
  if (!read.ok) return read;
  const validated = validateYaml(read.file, schema);
  return validated.ok ? { ...validated, file: read.file } : validated;
}

/** Validates the file's data. Errors show values only if the schema's own messages do. */
export function validateYaml<T>(file: YamlFile, schema: z.ZodType<T>): Checked<{ readonly value: T }> {
  try {
    const parsed = schema.safeParse(file.data, { error: describeIssue });
    if (parsed.success) return { ok: true, value: parsed.data };
    const errors = parsed.error.issues.flatMap((issue) => issueErrors(file, [], issue));
    return { ok: false, errors: sortErrors(errors) };
  } catch (error) {
    // zod passes issues as arguments of a call: a hundred thousand of them overflow the stack.
    if (!(error instanceof RangeError)) throw error;
    return { ok: false, errors: [errorAt(file, [], "too many errors to list")] };
  }
}

function issueErrors(file: YamlFile, base: JsonPath, issue: z.core.$ZodIssue): readonly ConfigError[] {
  const path = [...base, ...issue.path.map((segment) => (typeof segment === "symbol" ? "" : segment))];
  if (issue.code === "unrecognized_keys") {
    const known = issue.message.split(" ");
    return issue.keys.map((key) => {
      const message = describeUnknownKey(key, valueAt(file.data, [...path, key]), known);
      return { ...errorAt(file, path, message), position: file.locate([...path, key]) };
    });
  }
  if (issue.code === "invalid_union") {
    // The alternative with nested errors is the one that was intended.
    const intended = issue.errors.find((alternative) =>
      alternative.some(({ code, path: inner }) => inner.length > 0 || code === "unrecognized_keys"),
    );
    if (intended !== undefined) return intended.flatMap((inner) => issueErrors(file, path, inner));
  }
  const { message } = issue.code === "invalid_key" ? (issue.issues[0] ?? issue) : issue;
  return [errorAt(file, path, message)];
}

function describeUnknownKey(key: string, value: unknown, known: readonly string[]): string {
  // Without a space, `{ password:hunter2 }` makes the secret a key.
  if (!/^[A-Za-z][\w-]{0,63}$/.test(key) || value === null) return "unknown key";
  const suggestion = closestTo(key, known);
  return `unknown key "${key}"${suggestion === undefined ? "" : `; did you mean "${suggestion}"?`}`;
}

/** The known word that differs by one or two letters, if there is one. */
function closestTo(word: string, known: readonly string[]): string | undefined {
  const limit = Math.min(2, Math.floor(word.length / 2));
  const [closest] = known
    .filter(({ length }) => Math.abs(length - word.length) <= limit)
    .map((each) => ({ each, distance: editDistance(word, each) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance);
  return closest?.each;
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  const initial = Array.from({ length: b.length + 1 }, (_, index) => index);
  const last = Array.from(a).reduce<readonly number[]>((row, letter, index) => {
    const next = [index + 1];
    for (let at = 1; at <= b.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (letter === b[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    return next;
  }, initial);
  return last.at(-1) ?? 0;
}

/** The value at `path` of a file's data; `undefined` if there is none. */
export function valueAt(data: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? Reflect.get(value, segment)
        : undefined,
    data,
  );
}

const MISSING = "required key is missing";
/** Errors cut longer texts. */
const MAX_SHOWN = 80;

/** A type error that shows the value; only for keys that never contain a secret. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? MISSING : `expected ${what}, got ${show(input)}`);
}

/** The value as JSON, cut; only for keys that never contain a secret. */
export function show(value: unknown): string {
  if (value === null || typeof value === "object") return kindOf(value);
  return cut(typeof value === "number" ? String(value) : JSON.stringify(value));
}

/** Shortens a long text. */
export function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

/** The message for an issue without one of its own; shows no value. For unknown keys, the list of known keys. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "unrecognized_keys") {
    return issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape).join(" ") : "";
  }
  if (issue.input === undefined) return MISSING;
  if (issue.code === "invalid_type") {
    const hint = issue.expected === "string" ? quotesHint(issue.input) : "";
    return `expected ${KINDS[issue.expected] ?? "a map"}, got ${kindOf(issue.input)}${hint}`;
  }
  if (issue.code === "invalid_value") return `expected one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_small") return `expected at least ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
  if (issue.code === "too_big") return `expected at most ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
  return "invalid value";
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
};

const UNITS: Readonly<Record<string, string>> = { string: " character(s)", array: " item(s)" };

/** The type of a value, without the value. */
function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "boolean") return "true or false";
  return KINDS[typeof value] ?? "a map";
}

/** A hint if YAML parses the value as another type than a string. */
export function quotesHint(input: unknown): string {
  return typeof input === "number" || typeof input === "boolean" ? "; put it in quotes" : "";
}
