import { z } from "zod";
import { HIDDEN, type JsonPath } from "./errors.ts";
import { choiceOf, describeIssue, keysAt } from "./issue-words.ts";
import type { Collector } from "./sources.ts";
import { readYamlFile, type YamlFile } from "./yaml.ts";
import { meantIn } from "../../support/text.ts";

/** Settings, and their place. */
export interface Place<T> {
  readonly file: YamlFile;
  readonly path: JsonPath;
  readonly settings: T;
}

/** Reads and validates a YAML file; `undefined` after errors. */
export async function loadYaml<T>(
  path: string,
  schema: z.ZodType<T>,
  collector: Collector,
): Promise<Place<T> | undefined> {
  const file = await readYamlFile(path, collector);
  return file && validateYaml(file, schema);
}

/** Validates the file's data. Errors show values only if the schema's own messages do. */
export function validateYaml<T>(file: YamlFile, schema: z.ZodType<T>): Place<T> | undefined {
  const parsed = schema.safeParse(file.data, { error: describeOrListKeys });
  if (parsed.success) return { file, path: [], settings: parsed.data };
  const keys = new Set(keysIn(schema));
  for (const issue of parsed.error.issues) reportIssue(file, keys, issue);
  return undefined;
}

/** Returns the keys of all maps in a schema, or in a part of its definition. */
function keysIn(part: unknown): readonly string[] {
  if (Array.isArray(part)) return part.flatMap((each) => keysIn(each));
  if (part instanceof z.ZodObject) return [...Object.keys(part.shape), ...keysIn(Object.values(part.shape))];
  return part instanceof z.ZodType ? keysIn(Object.values(part.def)) : [];
}

/** Returns the known keys for unknown ones, as `reportIssue` expects them. */
function describeOrListKeys(issue: z.core.$ZodRawIssue): string {
  return issue.code === "unrecognized_keys" ? keysAt(issue).join(" ") : describeIssue(issue);
}

/**
 * Reports an issue. The message shows `keys` and words that resemble one of them. Any other word may be a password: `{ password:hunter2 }`
 * lacks a space and is a key.
 */
function reportIssue(file: YamlFile, keys: ReadonlySet<string>, issue: z.core.$ZodIssue): void {
  const path = issue.path.map((part) => (typeof part === "symbol" ? "" : part));
  const shown = path.map((part) => (typeof part === "number" || keys.has(part) ? part : HIDDEN));
  if (issue.code === "unrecognized_keys") {
    const known = issue.message.split(" ");
    for (const key of issue.keys) file.report([...path, key], describeUnknownKey(key, keys, known), shown);
    return;
  }
  // The alternative with nested errors is the one that was intended.
  const alternatives = issue.code === "invalid_union" ? issue.errors : [];
  const intended = alternatives.find((issues) =>
    issues.some(({ code, path: inner }) => inner.length > 0 || code === "unrecognized_keys"),
  );
  for (const inner of intended ?? []) reportIssue(file, keys, { ...inner, path: [...path, ...inner.path] });
  if (intended !== undefined) return;
  const { message } = issue.code === "invalid_key" ? (issue.issues[0] ?? issue) : issue;
  file.report(path, message, shown);
}

/** Top-level keys of files of other programs, which are no secrets. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ...["global", "scrape_configs", "rule_files", "alerting", "remote_write", "remote_read", "groups"].map(
    (key) => [key, "Prometheus"] as const,
  ),
  ...["route", "receivers", "inhibit_rules", "templates"].map((key) => [key, "Alertmanager"] as const),
  ...["modules"].map((key) => [key, "blackbox_exporter"] as const),
]);

function describeUnknownKey(key: string, keys: ReadonlySet<string>, known: readonly string[]): string {
  const meant = /^[\w-]{1,64}$/.test(key) ? meantIn(key, known) : undefined;
  if (meant !== undefined) return `unknown key "${key}"; did you mean "${meant}"?`;
  const expected = `expected ${choiceOf(known)}`;
  const program = FOREIGN.get(key);
  if (program !== undefined) return `unknown key "${key}": is this file for ${program}? ${expected}`;
  return keys.has(key) ? `unknown key "${key}" here; ${expected}` : `unknown key; ${expected}`;
}

/** Returns the value at `path` of a file's data; `undefined` if there is none. */
export function valueAt(data: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? Reflect.get(value, segment)
        : undefined,
    data,
  );
}

/** Returns the items of a list of settings, with their places. */
export function items<T>({ file, path }: Place<unknown>, key: string, list: readonly T[] = []) {
  return list.map((settings, index): Place<T> => ({ file, path: [...path, key, index], settings }));
}

/** Returns the outer settings, overridden by those inner ones that are not undefined. */
export function override<T extends object>(
  outer: T,
  inner: { readonly [K in keyof T]?: T[K] | undefined },
): T {
  const given = Object.entries(inner).filter(([, value]) => value !== undefined);
  return { ...outer, ...Object.fromEntries(given) };
}
