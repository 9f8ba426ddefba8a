import type { z } from "zod";
import type { ConfigError } from "../config.ts";
import { MAX_ERRORS, moreErrors, type JsonPath } from "../errors.ts";
import { hiddenIssues } from "./collections.ts";
import { wordIssue } from "./wording.ts";
import { errorAt, type YamlFile } from "./file.ts";

export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/**
 * The file's data in the schema's form, or every error with its position: an unknown key at the key, a missing one at
 * the map that lacks it; errors that are not shown are counted. Messages show no values but those that the schema words
 * itself.
 */
export function validateYaml<T>(file: YamlFile, schema: z.ZodType<T>): Validated<T> {
  const parsed = schema.safeParse(file.data, { error: wordIssue });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, errors: parsed.error.issues.flatMap((issue) => issueErrors(file, [], issue)) };
}

function issueErrors(file: YamlFile, base: JsonPath, issue: z.core.$ZodIssue): readonly ConfigError[] {
  const path = [...base, ...issue.path.map(toSegment)];
  if (issue.code === "unrecognized_keys") return unknownKeyErrors(file, path, issue.keys);
  const hidden = hiddenIssues(issue);
  if (hidden > 0) return [moreErrors(file.file, hidden)];
  if (issue.code === "invalid_union") return unionErrors(file, path, issue);
  const { message } = issue.code === "invalid_key" ? (issue.issues[0] ?? issue) : issue;
  return [errorAt(file, path, message)];
}

/** The errors inside of the form that was evidently meant, else that none of the forms fits. */
function unionErrors(
  file: YamlFile,
  path: JsonPath,
  issue: z.core.$ZodIssueInvalidUnion,
): readonly ConfigError[] {
  const meant = issue.errors.find((form) =>
    form.some(({ code, path: inner }) => inner.length > 0 || code === "unrecognized_keys"),
  );
  return meant
    ? meant.flatMap((inner) => issueErrors(file, path, inner))
    : [errorAt(file, path, issue.message)];
}

function unknownKeyErrors(file: YamlFile, path: JsonPath, keys: readonly string[]): readonly ConfigError[] {
  const errors = keys.slice(0, MAX_ERRORS).map((key) => unknownKeyError(file, path, key));
  const more = keys.length - errors.length;
  return more > 0 ? [...errors, moreErrors(file.file, more)] : errors;
}

function unknownKeyError(file: YamlFile, path: JsonPath, key: string): ConfigError {
  const error = errorAt(file, [...path, key], "unknown key");
  return isShowable(file, path, key)
    ? error
    : { ...errorAt(file, path, "unknown key"), position: file.locate([...path, key]) };
}

/** Whether the key is a word with a value: `{ password:hunter2 }` makes a key of the secret. */
function isShowable(file: YamlFile, path: JsonPath, key: string): boolean {
  return /^[A-Za-z][\w-]{0,63}$/.test(key) && valueAt(file.data, [...path, key]) !== null;
}

/** What stands at `path`; `undefined` if nothing does. */
export function valueAt(data: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? Reflect.get(value, segment)
        : undefined,
    data,
  );
}

function toSegment(segment: PropertyKey): string | number {
  return typeof segment === "symbol" ? String(segment) : segment;
}
