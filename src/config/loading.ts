import { formatConfigError, type Checked, type ConfigError, type Report } from "./errors.ts";
import type { TextResult } from "./read-file.ts";
import { readSource, stateOf, type Source } from "./sources.ts";

/** A load of a configuration in progress: it records what is read and which errors are found. */
export interface Loading {
  /** `path`: absolute. Never rejects. */
  read(kind: Source["kind"], path: string): Promise<TextResult>;
  /** Equal errors, which several rules may find, count once. */
  readonly report: Report;
  hasErrors(): boolean;
}

/**
 * A loaded configuration, or all its errors; and what was read. Of password files only the invalid ones: polls read changed
 * passwords themselves.
 */
export type Loaded<T extends object> = Checked<T> & { readonly sources: readonly Source[] };

/** Loads what `work` returns. It returns `undefined` if errors prevent it from going on. */
export async function load<T extends object>(
  work: (loading: Loading) => Promise<T | undefined>,
): Promise<Loaded<T>> {
  const sources: Source[] = [];
  const errors = new Map<string, ConfigError>();
  const value = await work({
    read: async (kind, path) => {
      const result = await readSource({ kind, path });
      if (kind !== "password" || !result.ok) sources.push({ kind, path, state: stateOf(result) });
      return result;
    },
    report: (error) => errors.set(formatConfigError(error), error),
    hasErrors: () => errors.size > 0,
  });
  if (value === undefined || errors.size > 0) return { ok: false, errors: [...errors.values()], sources };
  return { ok: true, ...value, sources };
}
