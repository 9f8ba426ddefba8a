import { byTiming } from "../api/operation.ts";
import { once } from "../support/once.ts";
import type { ApplianceConfig, DiscoveryConfig, WebsiteConfig } from "./config.ts";
import type { Report } from "./errors.ts";
import { NO_SETTINGS, type HttpClientBlocks, type HttpClientResolver } from "./http-client.ts";
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

/**
 * The appliances of all files, in order. An appliance's settings override its cluster's, those of the top level, and the
 * built-in ones. Reports errors between keys and in named files.
 */
export async function resolveFleet(
  top: Place<ConfigSettings>,
  included: readonly Place<FleetSettings>[],
  httpClient: HttpClientResolver,
  report: Report,
): Promise<readonly ApplianceConfig[]> {
  const pollingOf = once((merged: MergedPolling) => resolvePolling(merged, report));

  async function override(outer: Inherited, place: Place<Inner>): Promise<Inherited> {
    const { labels, websites, website_discovery: discovery = outer.isDiscovering } = place.settings;
    return {
      labels: { ...outer.labels, ...labels },
      websites: addWebsites(outer.websites, items(place, "websites", websites), report),
      isDiscovering: discovery !== false,
      discovery: overrideDiscovery(outer.discovery, discovery),
      polling: overridePolling(outer.polling, place),
      http: await httpClient.override(outer.http, place),
    };
  }

  async function resolve(
    outer: Inherited,
    place: Place<ApplianceSettings>,
    cluster: string,
  ): Promise<ApplianceConfig> {
    const { isDiscovering, discovery, polling, http, ...rest } = await override(outer, place);
    const { name, enabled = true, base_url: baseUrl } = place.settings;
    return {
      ...rest,
      name,
      cluster,
      enabled,
      baseUrl,
      discovery: isDiscovering ? discovery : undefined,
      polling: pollingOf(polling),
      http: httpClient.resolve(http, name),
    };
  }

  const base = await override(BUILT_IN, top);
  const appliances: ApplianceConfig[] = [];
  const clusterPlaces: Place<ClusterSettings>[] = [];
  const memberPlaces: Place<ApplianceSettings>[] = [];
  const lonePlaces: Place<ApplianceSettings>[] = [];
  for (const place of [top, ...included]) {
    for (const cluster of items(place, "clusters", place.settings.clusters)) {
      const shared = await override(base, cluster);
      const members = items(cluster, "appliances", cluster.settings.appliances);
      reportDuplicateAddresses(members, report);
      for (const member of members) appliances.push(await resolve(shared, member, cluster.settings.name));
      clusterPlaces.push(cluster);
      memberPlaces.push(...members);
    }
    const lone = items(place, "appliances", place.settings.appliances);
    for (const each of lone) appliances.push(await resolve(base, each, each.settings.name));
    lonePlaces.push(...lone);
  }
  // An appliance without a cluster is a cluster of its own name.
  reportDuplicateNames([...clusterPlaces, ...lonePlaces], report);
  reportDuplicateNames([...memberPlaces, ...lonePlaces], report);
  return appliances;
}

function reportDuplicateNames(places: readonly Place<{ readonly name: string }>[], report: Report): void {
  reportDuplicates(places, "name", (name) => `duplicate name ${JSON.stringify(name)}`, report);
}

/** One appliance that is polled as two looks like a split brain. Compares normalized URLs; another path is another appliance. */
function reportDuplicateAddresses(members: readonly Place<ApplianceSettings>[], report: Report): void {
  const enabled = members.filter(({ settings }) => settings.enabled !== false);
  reportDuplicates(enabled, "base_url", () => "duplicate address in one cluster", report);
}

/** `true` keeps the keys of outer blocks. */
function overrideDiscovery(
  outer: DiscoveryConfig,
  settings: NonNullable<Inner["website_discovery"]>,
): DiscoveryConfig {
  if (typeof settings === "boolean") return outer;
  return { exclude: settings.exclude ?? outer.exclude, limit: settings.limit ?? outer.limit };
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
