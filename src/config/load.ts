import type { ApplianceConfig, ConfigError, ConfigResult } from "./config.ts";
import { findDuplicateAddresses, findDuplicateNames, findDuplicateWebsites } from "./duplicates.ts";
import { errorsOf, limitErrors } from "./errors.ts";
import { createHttpClientResolver, namedByHttpClient, type ResolvedHttpClient } from "./http-client.ts";
import { findIncludedFiles } from "./included-files.ts";
import { readNamedFiles } from "./named-files.ts";
import { innermost, listFleet, type ApplianceEntry, type Chain, type Place } from "./places.ts";
import { configSchema, fleetSchema, type FleetSettings } from "./schema.ts";
import { showConfig } from "./shown.ts";
import { recordSources } from "./sources.ts";
import { resolveTiming } from "./timing.ts";
import { validateYaml } from "./validate.ts";
import { readYamlFile } from "./yaml.ts";

const DEFAULT_WEBSITE_TESTS = 64;
const DEFAULT_WEBSITE_TESTS_PER_APPLIANCE = 4;

/**
 * Loads the configuration in `file` and all files that it names, or returns at most 100 errors and one that counts the
 * rest. Checks syntax and schema first; if they are valid, the rules between keys and the named files. Reads certificates
 * and keys; only tries password files. Never rejects because of the content or state of files.
 */
export async function loadConfig(file: string): Promise<ConfigResult> {
  const record = recordSources();
  const read = await readYamlFile(file, record.readText);
  if (!read.ok) return { ok: false, errors: read.errors, sources: record.sources() };
  const main = validateYaml(read.file, configSchema);
  const found = await findIncludedFiles(read.file, record);
  const included = [];
  for (const path of found.paths) included.push(await readFleetFile(path, record.readText));
  const fail = (errors: readonly ConfigError[]): ConfigResult => ({
    ok: false,
    errors: limitErrors(errors, [file, ...found.paths]),
    sources: record.sources(),
  });
  const schemaErrors = [...errorsOf(main, ...included), ...found.errors];
  if (!main.ok || schemaErrors.length > 0) return fail(schemaErrors);

  const top = { file: read.file, path: [], settings: main.value };
  const others = included.flatMap((each) => (each.ok ? [each.place] : []));
  const fleet = listFleet(top, others);
  const places = [top, ...fleet.clusters, ...fleet.entries.map(({ appliance }) => appliance)];
  const files = await readNamedFiles(places.flatMap(namedByHttpClient), record);
  const resolveHttpClient = createHttpClientResolver(files);
  const resolved = fleet.entries.map((entry) => resolveAppliance(entry, resolveHttpClient));
  const errors = [
    ...findDuplicateNames(fleet),
    ...findDuplicateAddresses(fleet.entries),
    ...files.errors,
    ...resolved.flatMap((each) => each.errors),
  ];
  if (errors.length > 0) return fail(errors);
  const { max_concurrent_website_tests: tests = DEFAULT_WEBSITE_TESTS } = main.value.polling ?? {};
  return {
    ok: true,
    config: { appliances: resolved.map(({ appliance }) => appliance), maxConcurrentWebsiteTests: tests },
    sources: record.sources(),
    shown: showConfig([read.file, ...others.map((place) => place.file)]),
  };
}

type FleetFile =
  | { readonly ok: true; readonly place: Place<FleetSettings> }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

async function readFleetFile(path: string, readText: Parameters<typeof readYamlFile>[1]): Promise<FleetFile> {
  const read = await readYamlFile(path, readText);
  if (!read.ok) return read;
  const validated = validateYaml(read.file, fleetSchema);
  return validated.ok
    ? { ok: true, place: { file: read.file, path: [], settings: validated.value } }
    : validated;
}

/** An appliance's settings override its cluster's, those of the top level, and the built-in ones. */
function resolveAppliance(
  { appliance: { settings }, cluster, chain }: ApplianceEntry,
  resolveHttpClient: (chain: Chain) => ResolvedHttpClient,
): { readonly appliance: ApplianceConfig; readonly errors: readonly ConfigError[] } {
  const client = resolveHttpClient(chain);
  const vrrp = resolveTiming(chain, "vrrp");
  const websites = resolveTiming(chain, "websites");
  const tests = innermost(chain, ({ polling }) => polling?.max_concurrent_website_tests_per_appliance)?.value;
  return {
    appliance: {
      name: settings.name,
      cluster: cluster?.settings.name ?? settings.name,
      enabled: settings.enabled ?? true,
      baseUrl: settings.base_url,
      labels: Object.assign({}, ...chain.map((place) => place.settings.labels)),
      websites: chain.flatMap((place) => place.settings.websites ?? []),
      polling: {
        vrrp: vrrp.timing,
        websites: websites.timing,
        maxConcurrentWebsiteTests: tests ?? DEFAULT_WEBSITE_TESTS_PER_APPLIANCE,
      },
      http: client.http,
    },
    errors: [...client.errors, ...vrrp.errors, ...websites.errors, ...findDuplicateWebsites(chain)],
  };
}
