import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { resolveFleet } from "./inheritance.ts";
import { load, type Loaded, type Loading } from "./loading.ts";
import type { Place } from "./places.ts";
import { configSchema, fleetSchema, patternsSchema, type FleetSettings } from "./schema.ts";
import { inShard, WHOLE_FLEET } from "./shard.ts";
import { showConfig } from "./shown.ts";
import { splitNames } from "./sources.ts";
import { loadYaml, validateYaml, valueAt } from "./validate.ts";
import { errorAt, readYamlFile, type YamlFile } from "./yaml.ts";

/** The result of a load, as plain data. `shown`: its text without secrets. */
export type ConfigResult = Loaded<{ readonly config: Config; readonly shown: string }>;

export type ValidConfig = Extract<ConfigResult, { readonly ok: true }>;

const DEFAULT_WEBSITE_TESTS = 64;

/**
 * Loads the configuration of a shard in `file` and all files that it names, or returns all errors. Checks syntax and schema
 * first; if they are valid, the rules between keys and the named files. Reads certificates and keys; only tries password
 * files. Never rejects because of the content or state of files.
 */
export function loadConfig(file: string, shard = WHOLE_FLEET): Promise<ConfigResult> {
  return load(async (loading) => {
    const main = await readYamlFile(file, loading);
    if (main === undefined) return undefined;
    const top = validateYaml(main, configSchema, loading.report);
    // Errors in other files are reported with those of the main file, whose other settings may be invalid.
    const included: Place<FleetSettings>[] = [];
    for (const path of await findIncludedFiles(main, loading)) {
      const place = await loadYaml(path, fleetSchema, loading);
      if (place !== undefined) included.push(place);
    }
    if (top === undefined || loading.hasErrors()) return undefined;
    const appliances = await resolveFleet(top, included, loading);
    const { max_concurrent_website_tests: tests = DEFAULT_WEBSITE_TESTS } = top.settings.polling ?? {};
    return {
      config: inShard({ appliances, maxConcurrentWebsiteTests: tests }, shard),
      shown: showConfig([main, ...included.map((place) => place.file)]),
    };
  });
}

/**
 * The files that `config_files` of the main file matches, without it and without duplicates: in the order of the patterns,
 * sorted within each. A pattern that matches no file is an error.
 *
 * @returns paths relative like the main file's
 */
async function findIncludedFiles(main: YamlFile, { read, report }: Loading): Promise<readonly string[]> {
  const patterns = patternsSchema.safeParse(valueAt(main.data, ["config_files"])).data ?? [];
  const paths = new Map<string, string>();
  for (const [index, pattern] of patterns.entries()) {
    const path = isAbsolute(pattern) ? pattern : join(dirname(main.file), pattern);
    const listed = await read("names", resolve(path));
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
