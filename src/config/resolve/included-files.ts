import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { ConfigError } from "../config.ts";
import { patternSchema } from "../schema/config-file.ts";
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
 * A pattern that finds nothing is an error, and so is one that finds the main file itself.
 */
export async function readIncludedFiles(main: YamlFile): Promise<IncludedFiles> {
  const found = await Promise.all(patternsOf(main).map((pattern) => findFiles(main, pattern)));
  const paths = [
    ...new Map(found.flatMap((each) => each.paths).map((path) => [resolve(path), path])).values(),
  ];
  const read = [];
  for (const path of paths) read.push(await readYamlFile(path));
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
  return (Array.isArray(list) ? list : []).flatMap((item: unknown, index) => {
    const { data } = patternSchema.safeParse(item);
    return data === undefined ? [] : [{ index, text: data }];
  });
}

async function findFiles(
  main: YamlFile,
  { index, text }: Pattern,
): Promise<{ readonly paths: readonly string[]; readonly errors: readonly ConfigError[] }> {
  const folder = isAbsolute(text) ? dirname(text) : join(dirname(main.file), dirname(text));
  const matcher = matcherOf(basename(text));
  const names = (await namesIn(folder)).filter((name) => matcher.test(name)).toSorted();
  const found = names.map((name) => join(folder, name));
  const paths = found.filter((path) => resolve(path) !== resolve(main.file));
  const error = (message: string) => ({ paths, errors: [errorAt(main, ["config_files", index], message)] });
  if (paths.length < found.length) return error("expected other files than this one");
  return paths.length === 0 ? error(`no file matches ${show(text)}`) : { paths, errors: [] };
}

/** As in a shell, `*` finds no name that starts with a dot: mounted folders of Kubernetes hold such links. */
function matcherOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(String.raw`\*`, ".*");
  return new RegExp(`^${pattern.startsWith("*") ? String.raw`(?!\.)` : ""}${escaped}$`, "su");
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}
