import type { JsonPath } from "./errors.ts";
import type { ApplianceSettings, ClusterSettings, ConfigSettings, FleetSettings } from "./schema.ts";
import type { YamlFile } from "./yaml.ts";

/** Settings and their location. */
export interface Place<T> {
  readonly file: YamlFile;
  readonly path: JsonPath;
  readonly settings: T;
}

/** Settings of the top level, of a cluster and of an appliance. */
type Inherited = Partial<
  Pick<ClusterSettings, "polling" | "http_client" | "labels" | "websites" | "website_discovery">
>;

/** The places of an appliance's settings, outermost first: the main file, its cluster, the appliance. */
export type Chain = readonly Place<Inherited>[];

export interface ApplianceEntry {
  readonly appliance: Place<ApplianceSettings>;
  /** `undefined` for an appliance without a cluster. */
  readonly cluster: Place<ClusterSettings> | undefined;
  readonly chain: Chain;
}

/** Clusters and appliances in the order of the files. */
export interface Fleet {
  readonly clusters: readonly Place<ClusterSettings>[];
  readonly entries: readonly ApplianceEntry[];
}

export function listFleet(top: Place<ConfigSettings>, included: readonly Place<FleetSettings>[]): Fleet {
  const files = [top, ...included].map((place) => {
    const clusters = items(place, "clusters", place.settings.clusters);
    const members = clusters.flatMap((cluster) =>
      items(cluster, "appliances", cluster.settings.appliances).map((appliance) => {
        return { appliance, cluster, chain: [top, cluster, appliance] };
      }),
    );
    const lone = items(place, "appliances", place.settings.appliances).map((appliance) => {
      return { appliance, cluster: undefined, chain: [top, appliance] };
    });
    return { clusters, entries: [...members, ...lone] };
  });
  return { clusters: files.flatMap((file) => file.clusters), entries: files.flatMap((file) => file.entries) };
}

/** The items of a list of settings. */
function items<T>({ file, path }: Place<unknown>, key: string, list: readonly T[] = []): readonly Place<T>[] {
  return list.map((settings, index) => ({ file, path: [...path, key, index], settings }));
}

/** A setting and its place. */
export interface Placed<T> {
  readonly place: Place<Inherited>;
  readonly value: T;
}

/** The innermost occurrence of a setting. */
export function innermost<T>(
  chain: Chain,
  pick: (settings: Inherited) => T | undefined,
): Placed<T> | undefined {
  for (const place of chain.toReversed()) {
    const value = pick(place.settings);
    if (value !== undefined) return { place, value };
  }
  return undefined;
}
