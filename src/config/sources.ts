import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { readTextFile, type ReadFailure, type TextResult } from "./read-file.ts";

/** A file or a pattern that a load of the configuration depended on, and how that load found it. */
export interface Source {
  /** Its name in the log. */
  readonly name: string;
  /** As the load found it. */
  readonly state: SourceState;
  /** As it is now; never rejects. */
  readonly read: () => Promise<SourceState>;
}

/** Equal for equal content, and shows nothing of it; `undefined` where a system error hides the content. */
export type SourceState = string | undefined;

/** Records what a load reads as it reads it, so that no change between two readings is lost. */
export interface SourceRecord {
  readonly readText: typeof readTextFile;
  add(source: Source): void;
  /** Everything so far. */
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

/** The same for the same text alone. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function stateOf(result: TextResult): SourceState {
  return sourceState(result, ({ text }) => digestOf(text));
}

/** The state of a source that was read; `ofContent` gives the state of what could be used. */
export function sourceState<Success extends { readonly ok: true }>(
  result: Success | ReadFailure,
  ofContent: (success: Success) => string,
): SourceState {
  if (result.ok) return ofContent(result);
  return result.isSystemError ? undefined : `unfit: ${result.message}`;
}
