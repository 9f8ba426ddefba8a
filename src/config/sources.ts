import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { readPasswordFile } from "./password-file.ts";
import { NO_SUCH_FILE, readConfigText, readFailure, type TextResult } from "./read-file.ts";

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
type SourceState = string | undefined;

/** Reads the files of one load and records them. Never rejects. */
export interface SourceReader {
  /** `path`: absolute. */
  read(kind: Source["kind"], path: string): Promise<TextResult>;
  /** What was read so far. Of password files only the invalid ones: polls read changed passwords themselves. */
  sources(): readonly Source[];
}

export function createSourceReader(): SourceReader {
  const sources: Source[] = [];
  return {
    sources: () => [...sources],
    read: async (kind, path) => {
      const result = await READERS[kind](path);
      if (kind !== "password" || !result.ok) sources.push({ kind, path, state: stateOf(result) });
      return result;
    },
  };
}

/** The current state of a source. */
export async function readState({ kind, path }: Omit<Source, "state">): Promise<SourceState> {
  return stateOf(await READERS[kind](path));
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
  text: readConfigText,
  password: readPasswordFile,
  names: matchingNames,
} as const;

const MISSING: SourceState = `invalid: ${NO_SUCH_FILE}`;

function stateOf(result: TextResult): SourceState {
  if (result.ok) return createHash("sha256").update(result.text).digest("base64");
  return result.isSystemError ? undefined : `invalid: ${result.message}`;
}

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
