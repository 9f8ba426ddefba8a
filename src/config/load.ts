import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { formatConfigError, type Checked, type ConfigError, type Report } from "./errors.ts";
import { resolveFleet } from "./inheritance.ts";
import { createNamedFiles } from "./named-files.ts";
import type { Place } from "./places.ts";
import { configSchema, fleetSchema, patternsSchema, type FleetSettings } from "./schema.ts";
import { inShard, WHOLE_FLEET, type Shard } from "./shard.ts";
import { showConfig } from "./shown.ts";
import { createSourceReader, splitNames, type SourceReader, type Source } from "./sources.ts";
import { loadYaml, validateYaml, valueAt } from "./validate.ts";
import { errorAt, readYamlFile, type YamlFile } from "./yaml.ts";

/** The result of a load, as plain data. `shown`: its text without secrets; `sources`: what it has read. */
export type ConfigResult = Loaded & { readonly sources: readonly Source[] };
type Loaded = Checked<{ readonly config: Config; readonly shown: string }>;

const DEFAULT_WEBSITE_TESTS = 64;

/**
 * Loads the configuration of a shard in `file` and all files that it names, or returns all errors. Checks syntax and schema
 * first; if they are valid, the rules between keys and the named files. Reads certificates and keys; only tries password
 * files. Never rejects because of the content or state of files.
 */
export async function loadConfig(file: string, shard = WHOLE_FLEET): Promise<ConfigResult> {
  const reader = createSourceReader();
  const result = await loadFiles(file, shard, reader);
  return { ...result, sources: reader.sources() };
}

async function loadFiles(file: string, shard: Shard, reader: SourceReader): Promise<Loaded> {
  const read = await readYamlFile(file, reader);
  if (!read.ok) return read;
  // By text: two rules may find the same error.
  const found = new Map<string, ConfigError>();
  const report: Report = (error) => found.set(formatConfigError(error), error);
  const failed = () => ({ ok: false, errors: [...found.values()] }) as const;
  const main = validateYaml(read.file, configSchema);
  if (!main.ok) main.errors.forEach(report);
  // Errors in other files are reported with those of the main file, whose other settings may be invalid.
  const paths = await findIncludedFiles(read.file, reader, report);
  const included: Place<FleetSettings>[] = [];
  for (const path of paths) {
    const loaded = await loadYaml(path, fleetSchema, reader);
    if (loaded.ok) included.push({ file: loaded.file, path: [], settings: loaded.value });
    else loaded.errors.forEach(report);
  }
  if (!main.ok || found.size > 0) return failed();

  const top = { file: read.file, path: [], settings: main.value };
  const appliances = await resolveFleet(top, included, createNamedFiles(reader, report), report);
  if (found.size > 0) return failed();
  const { max_concurrent_website_tests: tests = DEFAULT_WEBSITE_TESTS } = main.value.polling ?? {};
  return {
    ok: true,
    config: inShard({ appliances, maxConcurrentWebsiteTests: tests }, shard),
    shown: showConfig([read.file, ...included.map((place) => place.file)]),
  };
}

/**
 * The files that `config_files` of the main file matches, without it and without duplicates: in the order of the patterns,
 * sorted within each. A pattern that matches no file is an error.
 *
 * @returns paths relative like the main file's
 */
async function findIncludedFiles(
  main: YamlFile,
  reader: SourceReader,
  report: Report,
): Promise<readonly string[]> {
  const patterns = patternsSchema.safeParse(valueAt(main.data, ["config_files"])).data ?? [];
  const paths = new Map<string, string>();
  for (const [index, pattern] of patterns.entries()) {
    const path = isAbsolute(pattern) ? pattern : join(dirname(main.file), pattern);
    const listed = await reader.read("names", resolve(path));
    const found = (listed.ok ? splitNames(listed.text) : [])
      .map((name) => join(dirname(path), name))
      .filter((each) => resolve(each) !== resolve(main.file));
    for (const each of found) paths.set(resolve(each), each);
    const isUnreadable = !listed.ok && listed.isSystemError;
    const message = isUnreadable
      ? `the folder ${listed.message}`
      : `no file matches ${JSON.stringify(pattern)}`;
    if (found.length === 0) report(errorAt(main, ["config_files", index], message));
  }
  return [...paths.values()];
}
