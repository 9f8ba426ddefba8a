import { groupBy } from "../../support/group-by.ts";

/** One error, and its place in a file or a flag. */
export interface ConfigError {
  /** The path is as given on the command line, or as found by a pattern. */
  readonly file: string;
  /** The position, counted from 1; absent if the file cannot be read. */
  readonly position?: { readonly line: number; readonly column: number };
  /** The path `clusters[2].appliances[0].base_url`; empty for the document as a whole. */
  readonly path: string;
  /** The message, with the expected value, and with the found one unless it may be a secret. */
  readonly message: string;
}

const MAX_SHOWN = 100;

/** The location of a value in a file's data: map keys and list indexes, outermost first. */
export type JsonPath = readonly (string | number)[];

/** A result, or all errors. */
export type Checked<T extends object = object> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

export function errorsOf(...results: readonly Checked[]): readonly ConfigError[] {
  return results.flatMap((result) => (result.ok ? [] : result.errors));
}

/** Sorts the errors of each file by position; the files keep their order. */
export function sortErrors(errors: readonly ConfigError[]): readonly ConfigError[] {
  return [...groupBy(errors, ({ file }) => file).values()].flatMap((ofFile) => ofFile.toSorted(byPosition));
}

function byPosition({ position: a }: ConfigError, { position: b }: ConfigError): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

/** Returns the first 100 errors, and an error that counts the rest. */
export function limitErrors(errors: readonly ConfigError[]): readonly ConfigError[] {
  const more = errors.length - MAX_SHOWN;
  if (more <= 0) return errors;
  const shown = errors.slice(0, MAX_SHOWN);
  return [...shown, { file: shown.at(-1)?.file ?? "", path: "", message: `${more} more errors` }];
}

/** Formats the first 100 errors, a line each, and a line that counts the rest. */
export function formatErrors(errors: readonly ConfigError[]): readonly string[] {
  return limitErrors(errors).map(formatConfigError);
}

/** Formats an error as one line: `config.yaml:12:9: clusters[2].appliances[0].base_url: expected ...`. */
export function formatConfigError({ file, position, path, message }: ConfigError): string {
  const place = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  return path === "" ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

/** This text stands in place of a key of a path that may be a secret. */
export const HIDDEN = "...";

/** Writes a path as `clusters[2].base_url`, and hidden keys as `[...]`. */
export function formatPath(path: JsonPath): string {
  const parts = path.map((part) => (typeof part === "number" || part === HIDDEN ? `[${part}]` : `.${part}`));
  return parts.join("").replace(/^\./, "");
}
