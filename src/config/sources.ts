import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { readTextFile, type ReadFailure, type TextResult } from "./read-file.ts";

/** A file or pattern that a load of the configuration has read. */
export interface Source {
  /** The name to log. */
  readonly name: string;
  /** The state at that load. */
  readonly state: SourceState;
  /** Returns the current state; never rejects. */
  readonly read: () => Promise<SourceState>;
}

/** Equal for equal content, which it does not reveal; `undefined` if a system error prevents reading. */
export type SourceState = string | undefined;

/** Records what a load reads. It reads each file once, so that no change between two reads is lost. */
export interface SourceRecord {
  readonly readText: typeof readTextFile;
  add(source: Source): void;
  /** The sources recorded so far. */
  sources(): readonly Source[];
}

export function recordSources(): SourceRecord {
  const sources: Source[] = [];
  const add = (source: Source): void => void sources.push(source);
  return {
    add,
    sources: () => [...sources],
    readText: async (given, limitBytes, decoding) => {
      const path = resolve(given);
      const result = await readTextFile(path, limitBytes, decoding);
      const read = async () => stateOf(await readTextFile(path, limitBytes, decoding));
      add({ name: path, state: stateOf(result), read });
      return result;
    },
  };
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function stateOf(result: TextResult): SourceState {
  return sourceState(result, ({ text }) => digestOf(text));
}

/** The state of a source after reading it; `ofContent` returns the state of valid content. */
export function sourceState<Success extends { readonly ok: true }>(
  result: Success | ReadFailure,
  ofContent: (success: Success) => string,
): SourceState {
  if (result.ok) return ofContent(result);
  return result.isSystemError ? undefined : `invalid: ${result.message}`;
}
