import type { ConfigError } from "../config.ts";
import { formatPath, moreErrors, sortErrors, type JsonPath } from "../errors.ts";
import { readTextFile } from "../read-file.ts";
import { readYamlData, scalarText } from "./data.ts";
import { createLineIndex, createLocator, type Position } from "./locate.ts";
import { createProblems, type Problems } from "./problems.ts";
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
 * syntax, several documents, nested deeper than 64 levels, aliases that grow out of hand. At most 100 errors in the order
 * of the file, and then one that counts the rest; no error quotes the text.
 */
export async function readYamlFile(file: string, readText = readTextFile): Promise<YamlFileResult> {
  const read = await readText(file, MAX_YAML_BYTES);
  return read.ok
    ? parseYaml(file, read.text)
    : { ok: false, errors: [{ file, path: "", message: read.message }] };
}

function parseYaml(file: string, text: string): YamlFileResult {
  const positionOf = createLineIndex(text);
  const problems = createProblems();
  const document = parseYamlText(text, problems);
  if (!document || problems.count() > 0) return refuse(file, problems, positionOf);
  const { data, targets } = readYamlData(document, problems);
  if (problems.count() > 0) return refuse(file, problems, positionOf);
  const locator = createLocator(document.contents, targets);
  const locate = (path: JsonPath): Position => positionOf(locator.offsetOf(path));
  const textAt = (path: JsonPath): string | undefined => scalarText(locator.nodeAt(path));
  return { ok: true, file: { file, data, locate, textAt } };
}

function refuse(
  file: string,
  problems: Problems,
  positionOf: (offset: number) => Position,
): YamlFileResult & { readonly ok: false } {
  const first = problems.first();
  const errors = first.map(({ offset, message }) => ({
    file,
    position: positionOf(offset),
    path: "",
    message,
  }));
  const more = problems.count() - first.length;
  return { ok: false, errors: sortErrors([file], more > 0 ? [...errors, moreErrors(file, more)] : errors) };
}

/** An error at the key or item that `path` leads to. */
export function errorAt(file: YamlFile, path: JsonPath, message: string): ConfigError {
  return { file: file.file, position: file.locate(path), path: formatPath(path), message };
}
