import type { ConfigError } from "../config.ts";
import { formatPath, type JsonPath } from "../errors.ts";
import { readTextFile } from "../read-file.ts";
import { readYamlData, scalarText, type YamlProblem } from "./data.ts";
import { createLineIndex, locateOffset, nodeAt, type Position } from "./locate.ts";
import { parseYamlText } from "./syntax.ts";

const MAX_YAML_BYTES = 4 * 1024 * 1024;

/** A YAML file of ours: its plain values, and where each of them stands. */
export interface YamlFile {
  /** As it was given. */
  readonly file: string;
  readonly data: unknown;
  /** The key or list item at `path`; for a missing key the map that lacks it. */
  locate(path: JsonPath): Position;
  /** The text, number or truth value at `path` as it is written: `1.0`, not `1`; `undefined` for anything else. */
  textAt(path: JsonPath): string | undefined;
}

export type YamlFileResult =
  | { readonly ok: true; readonly file: YamlFile }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/**
 * Reads and parses a YAML file, or says everything that is wrong with its form: unreadable, above 4 MiB, not UTF-8, bad
 * syntax, several documents, nested deeper than 64 levels, aliases that grow out of hand. No error quotes the text.
 */
export async function readYamlFile(file: string, readText = readTextFile): Promise<YamlFileResult> {
  const read = await readText(file, MAX_YAML_BYTES);
  return read.ok
    ? parseYaml(file, read.text)
    : { ok: false, errors: [{ file, path: "", message: read.message }] };
}

function parseYaml(file: string, text: string): YamlFileResult {
  const positionOf = createLineIndex(text);
  const parsed = parseYamlText(text);
  if (!parsed.ok) return { ok: false, errors: placeProblems(file, parsed.problems, positionOf) };
  const { data, targets, problems } = readYamlData(parsed.document);
  if (problems.length > 0) return { ok: false, errors: placeProblems(file, problems, positionOf) };
  const locate = (path: JsonPath): Position =>
    positionOf(locateOffset(parsed.document.contents, targets, path));
  const textAt = (path: JsonPath): string | undefined =>
    scalarText(nodeAt(parsed.document.contents, targets, path));
  return { ok: true, file: { file, data, locate, textAt } };
}

function placeProblems(
  file: string,
  problems: readonly YamlProblem[],
  positionOf: (offset: number) => Position,
): readonly ConfigError[] {
  return problems.map(({ offset, message }) => ({ file, position: positionOf(offset), path: "", message }));
}

/** An error at the key or item that `path` leads to. */
export function errorAt(file: YamlFile, path: JsonPath, message: string): ConfigError {
  return { file: file.file, position: file.locate(path), path: formatPath(path), message };
}
