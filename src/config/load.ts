import { randomBytes } from "node:crypto";
import { byTiming } from "../api/operation.ts";
import type {
  ApplianceConfig,
  Config,
  ConfigError,
  ConfigResult,
  DiscoveryConfig,
  WrittenConfig,
} from "./config.ts";
import { findDuplicateAddresses, findDuplicateNames, findDuplicateWebsites } from "./duplicates.ts";
import { errorsOf, sortErrors, type Checked } from "./errors.ts";
import { createHttpClientResolver, namedByHttpClient, type ResolvedHttpClient } from "./http-client.ts";
import { findIncludedFiles } from "./included-files.ts";
import { readNamedFiles } from "./named-files.ts";
import { innermost, listFleet, type ApplianceEntry, type Chain } from "./places.ts";
import { configSchema, fleetSchema } from "./schema.ts";
import { redactConfig } from "./shown.ts";
import { createSourceReader, type SourceReader } from "./sources.ts";
import { resolveTiming } from "./timing.ts";
import { loadYaml, validateYaml } from "./validate.ts";
import { readYamlFile } from "./yaml.ts";

const DEFAULT_WEBSITE_TESTS = 64;
const DEFAULT_WEBSITE_TESTS_PER_APPLIANCE = 4;
const DEFAULT_DISCOVERY: DiscoveryConfig = { exclude: [], limit: 200 };

/** Random, so that fingerprints cannot be compared with guessed passwords. */
const PROCESS_KEY = randomBytes(32);

/**
 * Loads the configuration in `file` and all files that it names, or returns all errors. Checks syntax and schema first; if
 * they are valid, the rules between keys and the named files. Reads certificates and keys; only tries password files. Never
 * rejects because of the content or state of files.
 */
export async function loadConfig(
  file: string,
  fingerprintKey: Uint8Array = PROCESS_KEY,
): Promise<ConfigResult> {
  const reader = createSourceReader();
  const result = await loadFiles(file, reader, fingerprintKey);
  return { ...result, sources: reader.sources() };
}

async function loadFiles(
  file: string,
  reader: SourceReader,
  fingerprintKey: Uint8Array,
): Promise<Checked<{ readonly config: Config; readonly written: WrittenConfig }>> {
  const read = await readYamlFile(file, reader);
  if (!read.ok) return read;
  const main = validateYaml(read.file, configSchema);
  const found = await findIncludedFiles(read.file, reader);
  const included = [];
  for (const path of found.paths) included.push(await loadYaml(path, fleetSchema, reader));
  const fail = (errors: readonly ConfigError[]) =>
    ({ ok: false, errors: sortErrors(errors, [file, ...found.paths]) }) as const;
  const schemaErrors = [...errorsOf(main, ...included), ...found.errors];
  if (!main.ok || schemaErrors.length > 0) return fail(schemaErrors);

  const top = { file: read.file, path: [], settings: main.value };
  const others = included.flatMap((each) =>
    each.ok ? [{ file: each.file, path: [], settings: each.value }] : [],
  );
  const fleet = listFleet(top, others);
  const places = [top, ...fleet.clusters, ...fleet.entries.map(({ appliance }) => appliance)];
  const files = await readNamedFiles(places.flatMap(namedByHttpClient), reader);
  const resolveHttpClient = createHttpClientResolver(files, fingerprintKey);
  const resolved = fleet.entries.map((entry) => resolveAppliance(entry, resolveHttpClient));
  const errors = [
    ...findDuplicateNames(fleet),
    ...findDuplicateAddresses(fleet),
    ...files.errors,
    ...resolved.flatMap((each) => each.errors),
  ];
  if (errors.length > 0) return fail(errors);
  const { max_concurrent_website_tests: tests = DEFAULT_WEBSITE_TESTS } = main.value.polling ?? {};
  return {
    ok: true,
    config: { appliances: resolved.map(({ appliance }) => appliance), maxConcurrentWebsiteTests: tests },
    written: redactConfig([read.file, ...others.map((place) => place.file)]),
  };
}

/** An appliance's settings override its cluster's, those of the top level, and the built-in ones. */
function resolveAppliance(
  { appliance: { settings }, cluster, chain }: ApplianceEntry,
  resolveHttpClient: (chain: Chain, appliance: string) => ResolvedHttpClient,
): { readonly appliance: ApplianceConfig; readonly errors: readonly ConfigError[] } {
  const client = resolveHttpClient(chain, settings.name);
  const timings = byTiming((name) => resolveTiming(chain, name));
  const tests = innermost(chain, ({ polling }) => polling?.max_concurrent_website_tests_per_appliance)?.value;
  return {
    appliance: {
      name: settings.name,
      cluster: cluster?.settings.name ?? settings.name,
      enabled: settings.enabled ?? true,
      baseUrl: settings.base_url,
      labels: Object.assign({}, ...chain.map((place) => place.settings.labels)),
      websites: chain.flatMap((place) => place.settings.websites ?? []),
      discovery: resolveDiscovery(chain),
      polling: {
        ...byTiming((name) => timings[name].timing),
        maxConcurrentWebsiteTests: tests ?? DEFAULT_WEBSITE_TESTS_PER_APPLIANCE,
      },
      http: client.http,
    },
    errors: [
      ...client.errors,
      ...Object.values(timings).flatMap(({ errors }) => errors),
      ...findDuplicateWebsites(chain),
    ],
  };
}

/** `true` keeps the keys of outer blocks. */
function resolveDiscovery(chain: Chain): DiscoveryConfig | undefined {
  const settings = chain.flatMap((place) => place.settings.website_discovery ?? []);
  const blocks = settings.filter((each) => typeof each === "object");
  return (settings.at(-1) ?? false) === false ? undefined : Object.assign({}, DEFAULT_DISCOVERY, ...blocks);
}
