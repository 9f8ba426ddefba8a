import { createApplianceResolver } from "./resolve/appliance.ts";
import type { ConfigResult } from "./config.ts";
import { sortErrors } from "./errors.ts";
import { findDuplicateAddresses } from "./resolve/addresses.ts";
import { readFleet } from "./resolve/entries.ts";
import { findDuplicateNames } from "./resolve/names.ts";
import { readIncludedFiles } from "./resolve/included-files.ts";
import { readReferencedFiles } from "./resolve/referenced-files.ts";
import { configSchema, fleetSchema } from "./schema/config-file.ts";
import { showConfig } from "./shown.ts";
import { recordSources } from "./sources.ts";
import { validateYaml } from "./yaml/validate.ts";
import { readYamlFile } from "./yaml/file.ts";

const DEFAULT_MAX_CONCURRENT_WEBSITE_TESTS = 64;

/**
 * The configuration in `file` and all files it names, or what is wrong with it, in the order of the files and the positions
 * in them: at most 100 errors, and then one that counts the rest. Certificates and keys are read here for good; password files are only tried.
 *
 * @throws never for anything that files or a file system can hold
 */
export async function loadConfig(file: string): Promise<ConfigResult> {
  const record = recordSources();
  const main = await readYamlFile(file, record.readText);
  if (!main.ok) return { ok: false, errors: main.errors, sources: record.sources() };
  const included = await readIncludedFiles(main.file, record);
  const fleet = readFleet(main.file, included.files);
  const referenced = await readReferencedFiles(fleet.scopes, record);
  const sources = record.sources();
  const resolved = fleet.entries.map(createApplianceResolver(referenced.pems));
  const settings = validateYaml(main.file, configSchema);
  const forms = [settings, ...included.files.map((each) => validateYaml(each, fleetSchema))];
  const errors = [
    ...forms.flatMap((form) => (form.ok ? [] : form.errors)),
    ...included.errors,
    ...findDuplicateNames(fleet),
    ...findDuplicateAddresses(fleet.entries),
    ...referenced.errors,
    ...resolved.flatMap((each) => each.errors),
  ];
  if (!settings.ok || errors.length > 0) {
    return { ok: false, errors: sortErrors([file, ...included.paths], errors), sources };
  }
  const { max_concurrent_website_tests: tests } = settings.value.polling ?? {};
  return {
    ok: true,
    config: {
      appliances: resolved.map(({ appliance }) => appliance),
      maxConcurrentWebsiteTests: tests ?? DEFAULT_MAX_CONCURRENT_WEBSITE_TESTS,
    },
    sources,
    shown: showConfig([main.file, ...included.files]),
  };
}
