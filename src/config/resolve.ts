import { byTiming, TIMINGS, type TimingName } from "../api/operation.ts";
import { groupBy } from "../support/group-by.ts";
import { once } from "../support/kept.ts";
import type { ApplianceConfig, DiscoveryConfig, PollingConfig, WebsiteConfig } from "./config.ts";
import { createHttpOf, NO_SETTINGS, overrideHttp, type HttpClientBlocks } from "./http-client.ts";
import type { Collector } from "./sources.ts";
import { createNamedFiles } from "./named-files.ts";
import type { ApplianceSettings, ClusterSettings, ConfigSettings, FleetSettings } from "./schema.ts";
import { items, type Place } from "./validate.ts";
import { shortestGapMs } from "./values.ts";

/** The settings of the top level, of a cluster or of an appliance. */
type Inner = Pick<ClusterSettings, "labels" | "websites" | "website_discovery" | "polling" | "http_client">;
type PollingSettings = NonNullable<Inner["polling"]>;

/** The settings that clusters and appliances inherit. */
interface Inherited extends Pick<ApplianceConfig, "labels" | "websites"> {
  readonly isDiscovering: boolean;
  readonly discovery: DiscoveryConfig;
  readonly polling: MergedPolling;
  readonly http: HttpClientBlocks;
}

/** The settings of one or several `polling` blocks. */
type MergedPolling = Omit<PollingSettings, TimingName> & Readonly<Record<TimingName, MergedTiming>>;

/** The merged settings of an operation, and the innermost place that has some. */
type MergedTiming = NonNullable<PollingSettings[TimingName]> & { readonly place?: Place<unknown> };

const BUILT_IN: Inherited = {
  labels: {},
  websites: [],
  isDiscovering: false,
  discovery: { exclude: [], limit: 200 },
  polling: byTiming(() => ({})),
  http: { http: NO_SETTINGS, known: undefined },
};

/** A cluster and its members, or an appliance that stands alone: a cluster of one, named like it. */
interface Group {
  readonly named: Place<Inner & { readonly name: string }>;
  readonly members: readonly Place<ApplianceSettings>[];
}

/**
 * Returns the appliances of all files, in order. An appliance's settings override its cluster's, those of the top level, and the
 * built-in ones. Reports errors between keys and in named files.
 */
export async function resolveFleet(
  top: Place<ConfigSettings>,
  included: readonly Place<FleetSettings>[],
  collector: Collector,
): Promise<readonly ApplianceConfig[]> {
  const files = createNamedFiles(collector);
  const httpOf = createHttpOf();
  const pollingOf = once(resolvePolling);

  async function override(outer: Inherited, place: Place<Inner>): Promise<Inherited> {
    const { labels, websites, website_discovery: discovery = outer.isDiscovering } = place.settings;
    // `true` keeps the keys of outer blocks.
    const { exclude, limit } = typeof discovery === "boolean" ? outer.discovery : discovery;
    return {
      labels: { ...outer.labels, ...labels },
      websites: addWebsites(outer.websites, items(place, "websites", websites)),
      isDiscovering: discovery !== false,
      discovery: { exclude: exclude ?? outer.discovery.exclude, limit: limit ?? outer.discovery.limit },
      polling: overridePolling(outer.polling, place),
      http: await overrideHttp(outer.http, place, files),
    };
  }

  const groups = [top, ...included].flatMap(groupsIn);
  const clusters: readonly Place<{ readonly name: string }>[] = groups.map(({ named }) => named);
  const all = groups.flatMap(({ members }) => members);
  for (const places of [clusters, all]) reportDuplicates(places, "name");
  const base = await override(BUILT_IN, top);
  const appliances: ApplianceConfig[] = [];
  for (const { named, members } of groups) {
    // One appliance that is polled as two looks like a split brain. Another path is another appliance.
    const polled = members.filter(({ settings }) => settings.enabled !== false);
    reportDuplicates(polled, "base_url");
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

/** Reports each place whose value for `key` an earlier place has too, with the place of the first. */
function reportDuplicates<Key extends string>(
  places: readonly Place<Readonly<Record<Key, string>>>[],
  key: Key,
): void {
  for (const [first, ...others] of groupBy(places, ({ settings }) => settings[key]).values()) {
    if (first === undefined || others.length === 0) continue;
    const { line, column } = first.file.locate([...first.path, key]);
    const message = `duplicate, also at ${first.file.file}:${line}:${column}`;
    for (const { file, path } of others) file.report([...path, key], message);
  }
}

/** Returns the websites of outer blocks and those of a block; reports ids that occur twice. */
function addWebsites(
  outer: readonly WebsiteConfig[],
  added: readonly Place<WebsiteConfig>[],
): readonly WebsiteConfig[] {
  const ids = new Set(outer.map(({ id }) => id));
  for (const { file, path, settings } of added) {
    if (ids.has(settings.id)) file.report(path, `duplicate website ${settings.id}`);
    ids.add(settings.id);
  }
  return added.length === 0 ? outer : [...outer, ...added.map(({ settings }) => settings)];
}

/** Returns the outer settings, overridden by those of a place key by key. */
function overridePolling(outer: MergedPolling, place: Place<Inner>): MergedPolling {
  const { polling } = place.settings;
  if (polling === undefined) return outer;
  const timings = byTiming((name): MergedTiming => {
    const { [name]: block } = polling;
    if (block === undefined) return outer[name];
    // An interval displaces an outer schedule, and the other way round.
    const { interval, schedule } = (block.interval ?? block.schedule) === undefined ? outer[name] : block;
    return { interval, schedule, timeout: block.timeout ?? outer[name].timeout, place };
  });
  return { ...outer, ...polling, ...timings };
}

const DEFAULT_WEBSITE_TESTS_PER_APPLIANCE = 4;

/** A default timeout is at most the interval or the shortest gap of the schedule; a longer explicit timeout is an error. */
function resolvePolling(merged: MergedPolling): PollingConfig {
  const timings = byTiming((name): PollingConfig[TimingName] => {
    const { interval: intervalMs = TIMINGS[name].intervalMs, schedule, timeout, place } = merged[name];
    const gapMs = schedule === undefined ? intervalMs : shortestGapMs(schedule);
    const timeoutMs = timeout ?? Math.min(TIMINGS[name].timeoutMs, gapMs);
    if (timeoutMs > gapMs) {
      const message = `expected a timeout of at most the time between two polls, ${gapMs / 1_000}s`;
      place?.file.report([...place.path, "polling", name], message);
    }
    return schedule === undefined
      ? { kind: "interval", intervalMs, timeoutMs }
      : { kind: "schedule", expression: schedule, timeoutMs };
  });
  const { max_concurrent_website_tests_per_appliance: tests } = merged;
  return { ...timings, maxConcurrentWebsiteTests: tests ?? DEFAULT_WEBSITE_TESTS_PER_APPLIANCE };
}
