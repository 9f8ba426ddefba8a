import type { ConfigError } from "./config.ts";

/** Errors to report; further ones are counted. */
export const MAX_ERRORS = 100;

/** The location of a value in a file's data: map keys and list indexes, outermost first. */
export type JsonPath = readonly (string | number)[];

type Checked = { readonly ok: true } | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** All errors of the results: at most 100, then one that counts the rest. */
export function errorsOf(...results: readonly Checked[]): readonly ConfigError[] {
  return limitErrors(results.flatMap((result) => (result.ok ? [] : result.errors)));
}

/** The number of errors, including those that are not shown. */
export function countErrors(errors: readonly ConfigError[]): number {
  return errors.reduce((sum, { more = 1 }) => sum + more, 0);
}

/** An error that represents `more` errors that are not shown. */
export function moreErrors(file: string, more: number): ConfigError {
  return { file, path: "", message: `${more} more ${more === 1 ? "error" : "errors"}`, more };
}

/** The error as one line: `config.yaml:12:9: clusters[2].appliances[0].base_url: expected ...`. */
export function formatConfigError(error: ConfigError): string {
  const place = error.position ? `:${error.position.line}:${error.position.column}` : "";
  const path = error.path === "" ? "" : `${error.path}: `;
  return `${error.file}${place}: ${path}${error.message}`;
}

/** The path as `clusters[2].base_url`, or `labels["a b"]` if a key is not a plain word; empty for the root. */
export function formatPath(path: JsonPath): string {
  return path.map(formatSegment).join("").replace(/^\./, "");
}

function formatSegment(segment: string | number): string {
  if (typeof segment === "number") return `[${segment}]`;
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}

/**
 * The first 100 errors without duplicates, then one that counts the rest. Sorted by file in the order of `files`, then by
 * position; without `files`, they keep their order.
 */
export function limitErrors(
  errors: readonly ConfigError[],
  files: readonly string[] = [],
): readonly ConfigError[] {
  const order = new Map(files.map((file, index) => [file, index]));
  const compare = (a: ConfigError, b: ConfigError): number =>
    (order.get(a.file) ?? -1) - (order.get(b.file) ?? -1) ||
    (a.position?.line ?? 0) - (b.position?.line ?? 0) ||
    (a.position?.column ?? 0) - (b.position?.column ?? 0);
  const shown = errors.filter(({ more }) => more === undefined);
  const distinct = [...new Map(shown.map((error) => [formatConfigError(error), error])).values()];
  const sorted = (files.length === 0 ? distinct : distinct.toSorted(compare)).slice(0, MAX_ERRORS);
  const counted = countErrors(errors.filter(({ more }) => more !== undefined));
  const more = counted + distinct.length - sorted.length;
  return more === 0 ? sorted : [...sorted, moreErrors(sorted.at(-1)?.file ?? "", more)];
}
