import type { ConfigError } from "./config.ts";

/** Where a value stands in a file's data: map keys and list indexes, from the outermost in. */
export type JsonPath = readonly (string | number)[];

type Checked = { readonly ok: true } | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** Everything that is wrong with any of them. */
export function errorsOf(...results: readonly Checked[]): readonly ConfigError[] {
  return results.flatMap((result) => (result.ok ? [] : result.errors));
}

/** The error as one line: `config.yaml:12:9: clusters[2].appliances[0].base_url: expected ...`. */
export function formatConfigError(error: ConfigError): string {
  const place = error.position ? `:${error.position.line}:${error.position.column}` : "";
  const path = error.path === "" ? "" : `${error.path}: `;
  return `${error.file}${place}: ${path}${error.message}`;
}

/** The path as `clusters[2].base_url`; a key that is no plain word stands as `labels["a b"]`; empty for the root. */
export function formatPath(path: JsonPath): string {
  return path.map(formatSegment).join("").replace(/^\./, "");
}

function formatSegment(segment: string | number): string {
  if (typeof segment === "number") return `[${segment}]`;
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}

/** The errors by file in the order of `files`, then by position, each once. */
export function sortErrors(files: readonly string[], errors: readonly ConfigError[]): readonly ConfigError[] {
  const once = new Map(errors.map((error) => [formatConfigError(error), error]));
  return [...once.values()].toSorted(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      (a.position?.line ?? 0) - (b.position?.line ?? 0) ||
      (a.position?.column ?? 0) - (b.position?.column ?? 0),
  );
}
