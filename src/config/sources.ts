import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { readPasswordFile } from "./password-file.ts";
import { NO_SUCH_FILE, readFailure, readTextFile, type TextResult } from "./read-file.ts";

/** A file, or a pattern of file names, that a load has read. */
export interface Source {
  /** `names`: `path` ends with a pattern; its content is the list of the matching names. */
  readonly kind: "text" | "password" | "names";
  /** Absolute. */
  readonly path: string;
  /** The state at that load. */
  readonly state: SourceState;
}

/** Equal for equal content, which it does not reveal; `undefined` if a system error prevents reading. */
export type SourceState = string | undefined;

/** Reads the content of a source. Never rejects. */
export function readSource({ kind, path }: Omit<Source, "state">): Promise<TextResult> {
  return READERS[kind](path);
}

export function stateOf(result: TextResult): SourceState {
  if (result.ok) return createHash("sha256").update(result.text).digest("base64");
  return result.isSystemError ? undefined : `invalid: ${result.message}`;
}

/** The files that were read before and do not exist now. */
export function goneSince(before: readonly Source[], now: readonly Source[]): readonly string[] {
  const existed = new Set(before.filter(({ state }) => state !== MISSING).map(({ path }) => path));
  return now.flatMap(({ path, state }) => (state === MISSING && existed.has(path) ? [path] : []));
}

/** The names in a list of matching names. */
export function splitNames(text: string): readonly string[] {
  return text === "" ? [] : text.split("/");
}

const READERS = {
  text: readTextFile,
  password: readPasswordFile,
  names: matchingNames,
} as const;

const MISSING: SourceState = `invalid: ${NO_SUCH_FILE}`;

/** The matching names, sorted, separated by slashes. */
async function matchingNames(path: string): Promise<TextResult> {
  try {
    const expression = expressionOf(basename(path));
    const names = await readdir(dirname(path));
    return {
      ok: true,
      text: names
        .filter((name) => expression.test(name))
        .toSorted()
        .join("/"),
    };
  } catch (error) {
    return readFailure(error);
  }
}

/** As in a shell, `*` at the start matches no name that starts with a dot: Kubernetes mounts have such links. */
function expressionOf(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.startsWith("*") ? String.raw`(?!\.)` : ""}${parts.join(".*")}$`, "s");
}
