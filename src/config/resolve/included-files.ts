import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { ConfigError } from "../config.ts";
import { readFailure, type ReadFailure } from "../read-file.ts";
import { digestOf, sourceState, type SourceRecord, type SourceState } from "../sources.ts";
import { MAX_PATTERNS, patternSchema } from "../schema/config-file.ts";
import { valueAt } from "../yaml/validate.ts";
import { show } from "../yaml/wording.ts";
import { errorAt, readYamlFile, type YamlFile } from "../yaml/file.ts";

export interface IncludedFiles {
  readonly files: readonly YamlFile[];
  /** All that were found, those that are no YAML among them; relative to where the main file's path is. */
  readonly paths: readonly string[];
  readonly errors: readonly ConfigError[];
}

/**
 * The files that `config_files` of the main file finds, in the order of its patterns, sorted within each, each once.
 * A pattern that finds nothing is an error, and so is one that finds the main file itself. The patterns and what they
 * find are recorded.
 */
export async function readIncludedFiles(main: YamlFile, record: SourceRecord): Promise<IncludedFiles> {
  const found = [];
  // One after the other: thousands of folders at once would use up memory and descriptors.
  for (const pattern of patternsOf(main)) found.push(await findFiles(main, pattern, record));
  const paths = [
    ...new Map(found.flatMap((each) => each.paths).map((path) => [resolve(path), path])).values(),
  ];
  const read = [];
  for (const path of paths) read.push(await readYamlFile(path, record.readText));
  return {
    files: read.flatMap((result) => (result.ok ? [result.file] : [])),
    paths,
    errors: [
      ...found.flatMap(({ errors }) => errors),
      ...read.flatMap((result) => (result.ok ? [] : result.errors)),
    ],
  };
}

interface Pattern {
  readonly index: number;
  readonly text: string;
}

function patternsOf(main: YamlFile): readonly Pattern[] {
  const list = valueAt(main.data, ["config_files"]);
  // A longer list is refused as a whole.
  if (!Array.isArray(list) || list.length > MAX_PATTERNS) return [];
  return list.flatMap((item: unknown, index) => {
    const { data } = patternSchema.safeParse(item);
    return data === undefined ? [] : [{ index, text: data }];
  });
}

async function findFiles(
  main: YamlFile,
  { index, text }: Pattern,
  record: SourceRecord,
): Promise<{ readonly paths: readonly string[]; readonly errors: readonly ConfigError[] }> {
  const folder = isAbsolute(text) ? dirname(text) : join(dirname(main.file), dirname(text));
  const listing = await namesLike(folder, basename(text));
  record.add({
    name: resolve(folder, basename(text)),
    statPath: resolve(folder),
    state: stateOf(listing),
    read: async () => stateOf(await namesLike(folder, basename(text))),
  });
  const found = listing.ok ? listing.names.map((name) => join(folder, name)) : [];
  const paths = found.filter((path) => resolve(path) !== resolve(main.file));
  const error = (message: string) => ({ paths, errors: [errorAt(main, ["config_files", index], message)] });
  if (!listing.ok && listing.isSystemError) return error(`its folder ${listing.message}`);
  if (paths.length < found.length) return error("expected other files than this one");
  return paths.length === 0 ? error(`no file matches ${show(text)}`) : { paths, errors: [] };
}

type Listing = { readonly ok: true; readonly names: readonly string[] } | ReadFailure;

function stateOf(listing: Listing): SourceState {
  return sourceState(listing, ({ names }) => digestOf(JSON.stringify(names)));
}

async function namesLike(folder: string, pattern: string): Promise<Listing> {
  try {
    const names = await readdir(folder);
    return { ok: true, names: names.filter((name) => isLike(name, pattern)).toSorted() };
  } catch (error) {
    return readFailure(error);
  }
}

/**
 * Whether the pattern, in which `*` stands for any text, finds the name. As in a shell, `*` finds no name that starts with
 * a dot: mounted folders of Kubernetes hold such links. No regular expression: one with many `*` may take years.
 */
export function isLike(name: string, pattern: string): boolean {
  if (pattern.startsWith("*") && name.startsWith(".")) return false;
  const [start = "", ...parts] = pattern.split("*");
  const end = parts.pop();
  if (end === undefined) return name === pattern;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - end.length >= at && name.endsWith(end);
}
