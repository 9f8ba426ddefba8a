import { dirname, isAbsolute, join, resolve } from "node:path";
import type { ConfigError } from "./config.ts";
import { patternsSchema } from "./schema.ts";
import { splitNames, type SourceReader } from "./sources.ts";
import { show, valueAt } from "./validate.ts";
import { errorAt, type YamlFile } from "./yaml.ts";

export interface IncludedFiles {
  /** Relative like the main file's path. */
  readonly paths: readonly string[];
  readonly errors: readonly ConfigError[];
}

/**
 * The files that `config_files` of the main file matches, without duplicates: in the order of the patterns, sorted within
 * each. A pattern that matches no file, or the main file, is an error.
 */
export async function findIncludedFiles(main: YamlFile, reader: SourceReader): Promise<IncludedFiles> {
  // Errors in other files are reported with those of the main file, whose other settings may be invalid.
  const patterns = patternsSchema.safeParse(valueAt(main.data, ["config_files"])).data ?? [];
  const paths = new Map<string, string>();
  const errors: ConfigError[] = [];
  for (const [index, pattern] of patterns.entries()) {
    const path = isAbsolute(pattern) ? pattern : join(dirname(main.file), pattern);
    const fail = (message: string) => errors.push(errorAt(main, ["config_files", index], message));
    const listed = await reader.read("names", resolve(path));
    if (!listed.ok && listed.isSystemError) fail(`the folder ${listed.message}`);
    const names = listed.ok ? splitNames(listed.text) : [];
    const found = names.map((name) => join(dirname(path), name));
    const others = found.filter((each) => resolve(each) !== resolve(main.file));
    for (const each of others) paths.set(resolve(each), each);
    if (others.length < found.length) fail("the pattern matches this file itself");
    else if (found.length === 0 && (listed.ok || !listed.isSystemError))
      fail(`no file matches ${show(pattern)}`);
  }
  return { paths: [...paths.values()], errors };
}
