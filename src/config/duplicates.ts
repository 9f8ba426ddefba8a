import type { ConfigError } from "./config.ts";
import type { ApplianceEntry, Chain, Fleet, Place } from "./places.ts";
import { errorAt } from "./yaml.ts";

/**
 * An error for every name that is used twice: by two clusters, two appliances, or an appliance and a cluster of others,
 * because an appliance without a cluster is a cluster of its own name. A cluster may be named like one of its appliances.
 */
export function findDuplicateNames({ clusters, entries }: Fleet): readonly ConfigError[] {
  const clusterOf = new Map<string, Place<unknown>>();
  const applianceOf = new Map<string, Place<unknown>>();
  const errors: ConfigError[] = [];
  const claim = (
    names: Map<string, Place<unknown>>,
    name: string,
    place: Place<unknown>,
    taken = names.get(name),
  ) => {
    if (taken === undefined) names.set(name, place);
    else errors.push(duplicate(place, taken, "name", `duplicate name ${JSON.stringify(name)}`));
  };
  for (const cluster of clusters) claim(clusterOf, cluster.settings.name, cluster);
  for (const { appliance, cluster } of entries) {
    const { name } = appliance.settings;
    const namesake = clusterOf.get(name);
    claim(
      applianceOf,
      name,
      appliance,
      applianceOf.get(name) ?? (namesake === cluster ? undefined : namesake),
    );
  }
  return errors;
}

/**
 * An error for every `base_url` that two members of a cluster share: one appliance would be polled as two, which looks
 * like a split brain. Ignores disabled appliances. Compares normalized URLs; another path is another appliance.
 */
export function findDuplicateAddresses(entries: readonly ApplianceEntry[]): readonly ConfigError[] {
  const firstOf = new Map<Place<unknown>, Map<string, Place<unknown>>>();
  return entries.flatMap(({ appliance, cluster }) => {
    const { base_url: baseUrl, enabled } = appliance.settings;
    if (cluster === undefined || enabled === false) return [];
    const members = firstOf.get(cluster) ?? new Map<string, Place<unknown>>();
    firstOf.set(cluster, members);
    const first = members.get(baseUrl);
    if (first) return [duplicate(appliance, first, "base_url", "duplicate address in one cluster")];
    members.set(baseUrl, appliance);
    return [];
  });
}

/** An error for every website id that is in the lists of an appliance and its cluster twice. */
export function findDuplicateWebsites(chain: Chain): readonly ConfigError[] {
  const seen = new Set<number>();
  return chain.flatMap(({ file, path, settings: { websites = [] } }) =>
    websites.flatMap(({ id }, index) => {
      const isAgain = seen.has(id);
      seen.add(id);
      return isAgain ? [errorAt(file, [...path, "websites", index], `duplicate website ${id}`)] : [];
    }),
  );
}

function duplicate(place: Place<unknown>, first: Place<unknown>, key: string, message: string): ConfigError {
  const { line, column } = first.file.locate([...first.path, key]);
  return errorAt(
    place.file,
    [...place.path, key],
    `${message}, also at ${first.file.file}:${line}:${column}`,
  );
}
