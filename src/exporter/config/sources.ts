import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { formatConfigError, sortErrors, type Checked, type ConfigError } from "./errors.ts";
import {
  NO_SUCH_FILE,
  readFailure,
  readPasswordFile,
  readTextFile,
  readTextOrPipe,
  type TextResult,
} from "./read-file.ts";

const READERS = {
  text: readTextFile,
  textOrPipe: readTextOrPipe,
  password: readPasswordFile,
  names: matchingNames,
} as const;

/** A file, or a pattern of file names, that a load has read. */
export interface Source {
  /** The kind of the source. For `names`, `path` ends with a pattern, and the content is the list of the matching names. */
  readonly kind: keyof typeof READERS;
  /** The absolute path. */
  readonly path: string;
  readonly state: SourceState;
}

/** A digest, which is equal for equal content and does not reveal the content; `undefined` if a system error prevents reading. */
type SourceState = string | undefined;

/** Records the sources that a load reads, and the errors that it finds. */
export interface Collector {
  /** Reads a source; `path` is absolute. Never rejects. */
  read(kind: Source["kind"], path: string): Promise<TextResult>;
  /** Whether files that settings name, such as certificates and passwords, are left unread. */
  readonly isSyntaxOnly: boolean;
  /** Reports an error. Equal errors, which several rules may find, count once. */
  report(error: ConfigError): void;
  hasErrors(): boolean;
}

/**
 * A loaded configuration, or all its errors, with the sources that were read. Password files are among these only if they are invalid,
 * since polls read changed passwords themselves.
 */
export type Loaded<T extends object> = Checked<T> & { readonly sources: readonly Source[] };

export interface LoadOptions {
  /** Whether to check the files alone, as a copy in another folder or without the secrets of the place of use; default: not. */
  readonly syntaxOnly?: boolean | undefined;
}

/** Returns what `work` loads, with all sources that it read. `work` returns `undefined` if errors prevent it from going on. */
export async function collect<T extends object>(
  work: (collector: Collector) => Promise<T | undefined>,
  { syntaxOnly: isSyntaxOnly = false }: LoadOptions = {},
): Promise<Loaded<T>> {
  const sources: Source[] = [];
  const errors = new Map<string, ConfigError>();
  const value = await work({
    isSyntaxOnly,
    read: async (kind, path) => {
      const result = await READERS[kind](path);
      if (kind !== "password" || !result.ok) sources.push({ kind, path, state: stateOf(result) });
      return result;
    },
    report: (error) => void errors.set(formatConfigError(error), error),
    hasErrors: () => errors.size > 0,
  });
  if (value === undefined || errors.size > 0)
    return { ok: false, errors: sortErrors([...errors.values()]), sources };
  return { ok: true, ...value, sources };
}

const MISSING: SourceState = `invalid: ${NO_SUCH_FILE}`;

function stateOf(result: TextResult): SourceState {
  if (result.ok) return createHash("sha256").update(result.text).digest("base64");
  return result.isSystemError ? undefined : `invalid: ${result.message}`;
}

/** Reads the states of the sources now. The sources are read one after another, so that a hanging file system blocks only one thread. */
export async function readStates(sources: readonly Source[]): Promise<readonly SourceState[]> {
  const states: SourceState[] = [];
  // An unreadable file has not changed. A file that the load could not read has changed once it is readable.
  for (const { kind, path, state } of sources) states.push(stateOf(await READERS[kind](path)) ?? state);
  return states;
}

/** Returns the files that were read before and do not exist now. */
export function goneSince(before: readonly Source[], now: readonly Source[]): readonly string[] {
  const existed = new Set(before.filter(({ state }) => state !== MISSING).map(({ path }) => path));
  return now.flatMap(({ path, state }) => (state === MISSING && existed.has(path) ? [path] : []));
}

/** Reads the names that match a pattern, sorted, separated by slashes. */
export async function matchingNames(path: string): Promise<TextResult> {
  try {
    const expression = expressionOf(basename(path));
    const names = (await readdir(dirname(path))).filter((name) => expression.test(name));
    return { ok: true, text: names.toSorted().join("/") };
  } catch (error) {
    return readFailure(error);
  }
}

/**
 * Returns the expression of a pattern. A `*` at the start matches no name that starts with a dot, as in a shell, since Kubernetes mounts
 * have such links.
 */
function expressionOf(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.startsWith("*") ? String.raw`(?!\.)` : ""}${parts.join(".*")}$`, "s");
}
