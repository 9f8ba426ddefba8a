import { DEFAULT_KIND, kindNamed, type KindName } from "../api/kinds.ts";
import { byTiming, TIMINGS, type TimingName } from "./timings.ts";
import { groupBy } from "../../support/group-by.ts";
import { memo } from "../../support/kept.ts";
import type { ApplianceConfig, DiscoveryConfig, PollingConfig, WebsiteConfig } from "./config.ts";
import { createHttpResolver } from "./http-client.ts";
import type { Collector } from "./sources.ts";
import { createNamedFiles } from "./named-files.ts";
import type { ApplianceSettings, ClusterSettings, ConfigSettings, FleetSettings } from "./schema.ts";
import { items, override, type Place } from "./validate.ts";
import { shortestGapMs } from "./values.ts";

/** The settings of the top level, of a cluster or of an appliance. */
type Inner = Pick<
  ClusterSettings,
  "kind" | "labels" | "websites" | "website_discovery" | "polling" | "http_client"
>;

/**
 * The blocks that contain the settings of an appliance, the outermost first: the top level, its cluster, its own. Inner blocks override.
 */
type Blocks = readonly Place<Inner>[];

/** A cluster and its members. An appliance that stands alone is a cluster of one, with the same name. */
interface Group {
  readonly named: Place<Inner & { readonly name: string }>;
  readonly members: readonly Place<ApplianceSettings>[];
}

/**
 * Returns the appliances of all files, in order. An appliance's settings override those of its cluster, of the top level, and the built-in
 * ones. Reports errors between keys and in named files.
 */
export async function resolveFleet(
  top: Place<ConfigSettings>,
  included: readonly Place<FleetSettings>[],
  collector: Collector,
): Promise<readonly ApplianceConfig[]> {
  const resolveHttp = createHttpResolver(createNamedFiles(collector), top.file);
  // Appliances with the same blocks of a kind share their settings.
  const httpOf = memo(({ having }: { readonly having: Blocks }) => resolveHttp(having));
  const pollingOf = memo(({ having }: { readonly having: Blocks }) => resolvePolling(having));
  const blocksWith = (key: "http_client" | "polling", blocks: Blocks) => {
    const having = blocks.filter((block) => block === top || block.settings[key] !== undefined);
    return [having.at(-1) ?? top, { having }] as const;
  };

  const groups = [top, ...included].flatMap(groupsIn);
  const clusters: readonly Place<{ readonly name: string }>[] = groups.map(({ named }) => named);
  const all = groups.flatMap(({ members }) => members);
  for (const places of [clusters, all]) reportDuplicates(places, "name");
  // This also reports the errors of settings that no appliance has.
  for (const blocks of [[top], ...groups.map(({ named }) => [top, named])]) {
    websitesOf(blocks);
    await httpOf(...blocksWith("http_client", blocks));
  }
  const appliances: ApplianceConfig[] = [];
  /** What a kind of appliance lacks is an error at its place, once for all appliances. */
  const unsuitable = new Map<unknown, Unsuitable>();
  for (const { named, members } of groups) {
    // One appliance that is polled as two looks like a split brain. Another path is another appliance.
    const polled = members.filter(({ settings }) => settings.enabled !== false);
    reportDuplicates(polled, "base_url");
    for (const member of members) {
      const blocks: Blocks = named === member ? [top, member] : [top, named, member];
      const { name, enabled = true, base_url: baseUrl } = member.settings;
      const kind = kindOf(blocks);
      for (const each of unsuitableFor(kind, blocks)) unsuitable.set(each.settings, each);
      appliances.push({
        name,
        cluster: named.settings.name,
        isAlone: members.length === 1,
        enabled,
        kind,
        baseUrl,
        labels: Object.fromEntries(blocks.flatMap(({ settings }) => Object.entries(settings.labels ?? {}))),
        websites: websitesOf(blocks),
        discovery: discoveryOf(blocks),
        polling: pollingOf(...blocksWith("polling", blocks)),
        http: (await httpOf(...blocksWith("http_client", blocks)))(name),
      });
    }
  }
  for (const { file, path, message } of unsuitable.values()) file.report(path, message);
  return appliances;
}

function kindOf(blocks: Blocks): KindName {
  return blocks.findLast(({ settings }) => settings.kind !== undefined)?.settings.kind ?? DEFAULT_KIND;
}

interface Unsuitable extends Place<unknown> {
  readonly message: string;
}

/** Returns the websites and the discovery of an appliance whose kind has none. */
function unsuitableFor(kind: KindName, blocks: Blocks): readonly Unsuitable[] {
  const { website_test: tests, website_list: list } = kindNamed(kind).operations;
  const message = `appliances with kind: ${kind} have no websites`;
  const websites = tests === undefined ? blocks.flatMap(websitesAt) : [];
  const ofKind = blocks.findLastIndex(({ settings }) => settings.kind !== undefined);
  const decisive = blocks.filter(({ settings }) => settings.website_discovery !== undefined).slice(-1);
  const discovering = decisive.filter(({ settings }) => settings.website_discovery !== false);
  return [
    ...websites.map((place) => ({ ...place, message })),
    ...(list === undefined ? discovering : []).map((block) => ({
      ...block,
      path: [...block.path, "website_discovery"],
      message: `${message}: ${blocks.indexOf(block) < ofKind ? "set website_discovery: false where kind is set" : "remove it"}`,
    })),
  ];
}

function groupsIn(place: Place<FleetSettings>): readonly Group[] {
  const clusters = items(place, "clusters", place.settings.clusters);
  const alone = items(place, "appliances", place.settings.appliances);
  return [
    ...clusters.map((named) => ({ named, members: items(named, "appliances", named.settings.appliances) })),
    ...alone.map((named) => ({ named, members: [named] })),
  ];
}

/** Reports each place whose value for `key` an earlier place has too, and names the first such place. */
export function reportDuplicates<Key extends string>(
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

/** Returns the websites of all blocks; reports ids that occur twice. */
function websitesOf(blocks: Blocks): readonly WebsiteConfig[] {
  const websites = blocks.flatMap(websitesAt);
  for (const [, ...others] of groupBy(websites, ({ settings }) => settings.id).values())
    for (const { file, path, settings } of others) file.report(path, `duplicate website ${settings.id}`);
  return websites.map(({ settings }) => settings);
}

function websitesAt(block: Place<Inner>): readonly Place<WebsiteConfig>[] {
  return items(block, "websites", block.settings.websites);
}

/** Returns the discovery settings. The innermost block decides whether websites are discovered; `true` keeps the keys of outer blocks. */
function discoveryOf(blocks: Blocks): DiscoveryConfig | undefined {
  const given = blocks.flatMap(({ settings }) => settings.website_discovery ?? []);
  if ((given.at(-1) ?? false) === false) return undefined;
  return given.filter((each) => typeof each === "object").reduce(override<DiscoveryConfig>, DISCOVERY);
}

const DISCOVERY: DiscoveryConfig = { exclude: [], limit: 200 };
const WEBSITE_TESTS_PER_APPLIANCE = 4;

/** Returns the polling settings without any block. */
export function defaultPolling(): PollingConfig {
  return resolvePolling([]);
}

/**
 * Returns the polling settings. A default timeout is at most the interval or the shortest gap of the schedule; a longer explicit timeout is
 * an error.
 */
function resolvePolling(blocks: Blocks): PollingConfig {
  const timings = byTiming((name): PollingConfig[TimingName] => {
    const places = blocks.filter(({ settings }) => settings.polling?.[name] !== undefined);
    const given = places.flatMap(({ settings }) => settings.polling?.[name] ?? []);
    // An interval overrides an outer schedule, and a schedule an outer interval.
    const rhythm = given.findLast(({ interval, schedule }) => (interval ?? schedule) !== undefined);
    const { interval: intervalMs = TIMINGS[name].intervalMs, schedule } = rhythm ?? {};
    const gapMs = schedule === undefined ? intervalMs : shortestGapMs(schedule);
    const explicitMs = given.findLast(({ timeout }) => timeout !== undefined)?.timeout;
    const timeoutMs = explicitMs ?? Math.min(TIMINGS[name].timeoutMs, gapMs);
    const place = places.at(-1);
    if (timeoutMs > gapMs) {
      const message = `expected a timeout of at most the time between two polls, ${gapMs / 1_000}s`;
      place?.file.report([...place.path, "polling", name], message);
    }
    return schedule === undefined
      ? { kind: "interval", intervalMs, timeoutMs }
      : { kind: "schedule", expression: schedule, timeoutMs };
  });
  const tests = blocks.flatMap(
    ({ settings }) => settings.polling?.max_concurrent_website_tests_per_appliance ?? [],
  );
  return { ...timings, maxConcurrentWebsiteTests: tests.at(-1) ?? WEBSITE_TESTS_PER_APPLIANCE };
}
