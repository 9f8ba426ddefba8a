import type { ApplianceConfig, ConfigError } from "../config.ts";
import type { FleetEntry } from "./entries.ts";
import { createHttpClientResolver } from "./http-client.ts";
import { innermost } from "./scope.ts";
import { checkTiming, resolveTiming } from "./timing.ts";
import { checkWebsites, resolveWebsites } from "./websites.ts";

const DEFAULT_MAX_CONCURRENT_WEBSITE_TESTS_PER_APPLIANCE = 4;

export interface ResolvedAppliance {
  /** Meaningful only if no file has any error. */
  readonly appliance: ApplianceConfig;
  /** What is wrong between the blocks that apply to it. */
  readonly errors: readonly ConfigError[];
}

/** Resolves appliances: their own settings over their cluster's over the top's over those built in. */
export function createApplianceResolver(
  pems: ReadonlyMap<string, string>,
): (entry: FleetEntry) => ResolvedAppliance {
  const resolveHttpClient = createHttpClientResolver(pems);
  return (entry) => {
    const { http, errors } = resolveHttpClient(entry.chain);
    return {
      appliance: { ...resolveSettings(entry), http },
      errors: [
        ...errors,
        ...checkTiming(entry.chain, "vrrp"),
        ...checkTiming(entry.chain, "websites"),
        ...checkWebsites(entry.chain),
      ],
    };
  };
}

function resolveSettings({ appliance, cluster, chain }: FleetEntry): Omit<ApplianceConfig, "http"> {
  const name = appliance.name ?? "";
  const tests = innermost(chain, (scope) => scope.maxConcurrentWebsiteTests)?.value;
  return {
    name,
    cluster: cluster?.name ?? name,
    enabled: appliance.enabled ?? true,
    baseUrl: appliance.baseUrl ?? "",
    labels: Object.assign({}, ...chain.map(({ labels }) => labels)),
    websites: resolveWebsites(chain),
    polling: {
      vrrp: resolveTiming(chain, "vrrp"),
      websites: resolveTiming(chain, "websites"),
      maxConcurrentWebsiteTests: tests ?? DEFAULT_MAX_CONCURRENT_WEBSITE_TESTS_PER_APPLIANCE,
    },
  };
}
