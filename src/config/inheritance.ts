import { byTiming } from "../api/operation.ts";
import { once } from "../support/once.ts";
import type { ApplianceConfig, DiscoveryConfig, WebsiteConfig } from "./config.ts";
import type { Report } from "./errors.ts";
import { createHttpOf, NO_SETTINGS, overrideHttp, type HttpClientBlocks } from "./http-client.ts";
import type { Loading } from "./loading.ts";
import { createNamedFiles } from "./named-files.ts";
import { items, reportDuplicates, type Place } from "./places.ts";
import type { ApplianceSettings, ClusterSettings, ConfigSettings, FleetSettings } from "./schema.ts";
import { overridePolling, resolvePolling, type MergedPolling } from "./timing.ts";
import { errorAt } from "./yaml.ts";

/** What clusters and appliances inherit. */
interface Inherited {
  readonly labels: Readonly<Record<string, string>>;
  readonly websites: readonly WebsiteConfig[];
  readonly isDiscovering: boolean;
  readonly discovery: DiscoveryConfig;
  readonly polling: MergedPolling;
  readonly http: HttpClientBlocks;
}

const BUILT_IN: Inherited = {
  labels: {},
  websites: [],
  isDiscovering: false,
  discovery: { exclude: [], limit: 200 },
  polling: byTiming(() => ({})),
  http: { http: NO_SETTINGS, known: undefined },
};

/** The settings of the top level, of a cluster or of an appliance. */
type Inner = Pick<ClusterSettings, "labels" | "websites" | "website_discovery" | "polling" | "http_client">;

/** A cluster and its members, or an appliance that stands alone: a cluster of one, named like it. */
interface Group {
  readonly named: Place<Inner & { readonly name: string }>;
  readonly members: readonly Place<ApplianceSettings>[];
}

/**
 * The appliances of all files, in order. An appliance's settings override its cluster's, those of the top level, and the
 * built-in ones. Reports errors between keys and in named files.
 */
export async function resolveFleet(
  top: Place<ConfigSettings>,
  included: readonly Place<FleetSettings>[],
  loading: Loading,
): Promise<readonly ApplianceConfig[]> {
  const { report } = loading;
  const files = createNamedFiles(loading);
  const httpOf = createHttpOf();
  const pollingOf = once((merged: MergedPolling) => resolvePolling(merged, report));

  async function override(outer: Inherited, place: Place<Inner>): Promise<Inherited> {
    const { labels, websites, website_discovery: discovery = outer.isDiscovering } = place.settings;
    // `true` keeps the keys of outer blocks.
    const { exclude, limit } = typeof discovery === "boolean" ? outer.discovery : discovery;
    return {
      labels: { ...outer.labels, ...labels },
      websites: addWebsites(outer.websites, items(place, "websites", websites), report),
      isDiscovering: discovery !== false,
      discovery: { exclude: exclude ?? outer.discovery.exclude, limit: limit ?? outer.discovery.limit },
      polling: overridePolling(outer.polling, place),
      http: await overrideHttp(outer.http, place, files),
    };
  }

  const groups = [top, ...included].flatMap(groupsIn);
  const clusters: readonly Place<{ readonly name: string }>[] = groups.map(({ named }) => named);
  const all = groups.flatMap(({ members }) => members);
  for (const places of [clusters, all]) reportDuplicates(places, "name", report);
  const base = await override(BUILT_IN, top);
  const appliances: ApplianceConfig[] = [];
  for (const { named, members } of groups) {
    // One appliance that is polled as two looks like a split brain. Another path is another appliance.
    const polled = members.filter(({ settings }) => settings.enabled !== false);
    reportDuplicates(polled, "base_url", report);
    const isAlone = members[0] === named;
    const shared = isAlone ? base : await override(base, named);
    for (const member of members) {
      const { isDiscovering, discovery, polling, http, ...rest } = await override(shared, member);
      const { name, enabled = true, base_url: baseUrl } = member.settings;
      appliances.push({
        ...rest,
        name,
        cluster: named.settings.name,
        enabled,
        baseUrl,
        discovery: isDiscovering ? discovery : undefined,
        polling: pollingOf(polling),
        http: httpOf(http, name),
      });
    }
  }
  return appliances;
}

function groupsIn(place: Place<FleetSettings>): readonly Group[] {
  const clusters = items(place, "clusters", place.settings.clusters);
  const alone = items(place, "appliances", place.settings.appliances);
  return [
    ...clusters.map((named) => ({ named, members: items(named, "appliances", named.settings.appliances) })),
    ...alone.map((named) => ({ named, members: [named] })),
  ];
}

/** The websites of outer blocks and those of a block, with distinct ids. */
function addWebsites(
  outer: readonly WebsiteConfig[],
  added: readonly Place<WebsiteConfig>[],
  report: Report,
): readonly WebsiteConfig[] {
  const ids = new Set(outer.map(({ id }) => id));
  for (const { file, path, settings } of added) {
    if (ids.has(settings.id)) report(errorAt(file, path, `duplicate website ${settings.id}`));
    ids.add(settings.id);
  }
  return added.length === 0 ? outer : [...outer, ...added.map(({ settings }) => settings)];
}
