import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { resolveMaintenance } from "./maintenance.ts";
import { resolveFleet } from "./resolve.ts";
import { collect, type Collector, type Loaded, type LoadOptions } from "./sources.ts";
import { configSchema, fleetSchema, patternsSchema, type FleetSettings } from "./schema.ts";
import { inShard, WHOLE_FLEET } from "./shard.ts";
import { loadYaml, validateYaml, valueAt, type Place } from "./validate.ts";
import { readYamlFile, type YamlFile } from "./yaml.ts";

/** The result of a load, as plain data; `shown` is its text without secrets. */
export type ConfigResult = Loaded<{ readonly config: Config; readonly shown: string }>;

export type ValidConfig = Extract<ConfigResult, { readonly ok: true }>;

const DEFAULT_WEBSITE_TESTS = 64;
/** The file with the configuration of the Debian package. */
const PACKAGED_FILE = "/etc/appliance-exporter/config.yaml";
const SMALLEST =
  '; the smallest valid one is `appliances: [{ name: waf-1, base_url: "https://192.0.2.11:4849" }]`; appliance-exporter init writes one';

/**
 * Loads the configuration of a shard in `file` and all files that it names, or returns all errors. Checks syntax and schema first; if both
 * are valid, checks the rules between keys and the named files. Reads certificates and keys; only tries password files. Never rejects
 * because of the content or state of files.
 */
export function loadConfig(
  file: string,
  shard = WHOLE_FLEET,
  options: LoadOptions = {},
): Promise<ConfigResult> {
  return collect(async (collector) => {
    const packaged = file === PACKAGED_FILE ? "" : `; the package has --config.file=${PACKAGED_FILE}`;
    const instead = `${packaged}; appliance-exporter init writes one, appliance-exporter demo needs none`;
    const main = await readYamlFile(file, collector, instead, SMALLEST);
    if (main === undefined) return undefined;
    const top = validateYaml(main, configSchema);
    // Errors in other files are reported together with errors in the main file, whose other settings may be invalid.
    const included: Place<FleetSettings>[] = [];
    for (const path of await findIncludedFiles(main, collector)) {
      const place = await loadYaml(path, fleetSchema, collector);
      if (place !== undefined) included.push(place);
    }
    if (top === undefined || collector.hasErrors()) return undefined;
    const appliances = await resolveFleet(top, included, collector);
    const { max_concurrent_website_tests: tests = DEFAULT_WEBSITE_TESTS } = top.settings.polling ?? {};
    const { ports = [], private: isPrivateAllowed = false } = top.settings.website_targets ?? {};
    const websiteTargets = { ports, private: isPrivateAllowed };
    const maintenance = resolveMaintenance(top, appliances);
    return {
      config: inShard({ appliances, maxConcurrentWebsiteTests: tests, websiteTargets, maintenance }, shard),
      shown: [top, ...included].map((place) => showFile(place.file)).join("---\n"),
    };
  }, options);
}

/**
 * Finds the files that `config_files` of the main file matches, without the main file and without duplicates: in the order of the patterns,
 * sorted within each pattern, relative like the main file's path. A pattern that matches no file is an error, but not of a file alone.
 */
async function findIncludedFiles(
  main: YamlFile,
  { read, isSyntaxOnly }: Collector,
): Promise<readonly string[]> {
  const patterns = patternsSchema.safeParse(valueAt(main.data, ["config_files"])).data ?? [];
  const paths = new Map<string, string>();
  for (const [index, pattern] of patterns.entries()) {
    const path = isAbsolute(pattern) ? pattern : join(dirname(main.file), pattern);
    const names = await read("names", resolve(path));
    const found = (names.ok && names.text !== "" ? names.text.split("/") : [])
      .map((name) => join(dirname(path), name))
      .filter((each) => resolve(each) !== resolve(main.file));
    for (const each of found) paths.set(resolve(each), each);
    const isUnreadable = !names.ok && names.isSystemError;
    const message = isUnreadable
      ? `the folder ${names.message}`
      : `no file matches ${JSON.stringify(pattern)}`;
    if (found.length === 0 && !isSyntaxOnly) main.report(["config_files", index], message);
  }
  return [...paths.values()];
}

/**
 * Shows a valid file as JSON, which is also YAML, with passwords and credentials in URLs as `<secret>`; the path of the file is a comment
 * above.
 */
function showFile({ file, data }: YamlFile): string {
  return `# ${JSON.stringify(resolve(file))}\n${JSON.stringify(data, redact, 2)}\n`;
}

function redact(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (key === "password") return "<secret>";
  return key === "proxy_url" ? value.replace(/\/\/.*@/su, "//<secret>@") : value;
}
