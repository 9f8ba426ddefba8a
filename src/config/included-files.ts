import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { ConfigError } from "./config.ts";
import { readFailure, type ReadFailure } from "./read-file.ts";
import { patternsSchema } from "./schema.ts";
import { digestOf, sourceState, type SourceRecord, type SourceState } from "./sources.ts";
import { show, valueAt } from "./validate.ts";
import { errorAt, type YamlFile } from "./yaml.ts";

export interface IncludedFiles {
  /** Relative like the main file's path. */
  readonly paths: readonly string[];
  readonly errors: readonly ConfigError[];
}

/**
 * The files that `config_files` of the main file matches, without duplicates: in the order of the patterns, sorted within
 * each. A pattern that matches no file, or the main file, is an error. Records the matches as sources.
 */
export async function findIncludedFiles(main: YamlFile, record: SourceRecord): Promise<IncludedFiles> {
  // Errors in other files are reported with those of the main file, whose other settings may be invalid.
  const patterns = patternsSchema.safeParse(valueAt(main.data, ["config_files"])).data ?? [];
  const found: IncludedFiles[] = [];
  // Sequentially: thousands of folders at once would exhaust memory and descriptors.
  for (const [index, pattern] of patterns.entries())
    found.push(await matchFiles(main, index, pattern, record));
  const paths = found.flatMap((each) => each.paths);
  return {
    paths: [...new Map(paths.map((path) => [resolve(path), path])).values()],
    errors: found.flatMap(({ errors }) => errors),
  };
}

async function matchFiles(
  main: YamlFile,
  index: number,
  pattern: string,
  record: SourceRecord,
): Promise<IncludedFiles> {
  const folder = isAbsolute(pattern) ? dirname(pattern) : join(dirname(main.file), dirname(pattern));
  const list = () => matchingNames(folder, basename(pattern));
  const listing = await list();
  record.add({
    name: resolve(folder, basename(pattern)),
    state: stateOf(listing),
    read: async () => stateOf(await list()),
  });
  const found = listing.ok ? listing.names.map((name) => join(folder, name)) : [];
  const paths = found.filter((path) => resolve(path) !== resolve(main.file));
  const fail = (message: string) => ({ paths, errors: [errorAt(main, ["config_files", index], message)] });
  if (!listing.ok && listing.isSystemError) return fail(`the folder ${listing.message}`);
  if (paths.length < found.length) return fail("the pattern matches this file itself");
  return paths.length === 0 ? fail(`no file matches ${show(pattern)}`) : { paths, errors: [] };
}

type Listing = { readonly ok: true; readonly names: readonly string[] } | ReadFailure;

function stateOf(listing: Listing): SourceState {
  return sourceState(listing, ({ names }) => digestOf(JSON.stringify(names)));
}

async function matchingNames(folder: string, pattern: string): Promise<Listing> {
  try {
    const names = await readdir(folder);
    return { ok: true, names: names.filter((name) => matchesPattern(name, pattern)).toSorted() };
  } catch (error) {
    return readFailure(error);
  }
}

/**
 * Whether the pattern, in which `*` matches any text, matches the name. As in a shell, a leading `*` matches no name that
 * starts with a dot: Kubernetes mounts have such links. A regular expression could take exponential time.
 */
export function matchesPattern(name: string, pattern: string): boolean {
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
