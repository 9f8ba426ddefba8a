import type { ConfigError } from "./config.ts";
import type { Chain, Fleet, Place } from "./places.ts";
import { errorAt } from "./yaml.ts";

/**
 * An error for every name that is used twice: by two clusters, two appliances, or an appliance and a cluster of others,
 * because an appliance without a cluster is a cluster of its own name. A cluster may be named like one of its appliances.
 */
export function findDuplicateNames({ clusters, entries }: Fleet): readonly ConfigError[] {
  const clusterOf = new Map(clusters.map((cluster) => [cluster.settings.name, cluster]));
  const foreign = entries.flatMap(({ appliance, cluster }) => {
    const namesake = clusterOf.get(appliance.settings.name);
    return namesake === undefined || namesake === cluster ? [] : [duplicateName(appliance, namesake)];
  });
  const appliances = entries.map(({ appliance }) => appliance);
  const repeated = [clusters, appliances].flatMap((places) =>
    repetitions<{ readonly name: string }>(places, ({ settings }) => settings.name),
  );
  return [...repeated.map(([place, first]) => duplicateName(place, first)), ...foreign];
}

function duplicateName(place: Place<{ readonly name: string }>, first: Place<unknown>): ConfigError {
  return duplicate(place, first, "name", `duplicate name ${JSON.stringify(place.settings.name)}`);
}

/**
 * An error for every `base_url` that two members of a cluster share: one appliance would be polled as two, which looks
 * like a split brain. Ignores disabled appliances. Compares normalized URLs; another path is another appliance.
 */
export function findDuplicateAddresses({ entries }: Fleet): readonly ConfigError[] {
  const polled = entries.filter(({ cluster, appliance }) => cluster && appliance.settings.enabled !== false);
  const clusterOf = new Map(polled.map(({ appliance, cluster }) => [appliance, cluster?.settings.name]));
  return repetitions([...clusterOf.keys()], (place) =>
    JSON.stringify([clusterOf.get(place), place.settings.base_url]),
  ).map(([place, first]) => duplicate(place, first, "base_url", "duplicate address in one cluster"));
}

/** An error for every website id that is in the lists of an appliance and its cluster twice. */
export function findDuplicateWebsites(chain: Chain): readonly ConfigError[] {
  const websites = chain.flatMap(({ file, path, settings: { websites: list = [] } }) =>
    list.map(({ id }, index) => ({ file, path: [...path, "websites", index], settings: id })),
  );
  return repetitions(websites, ({ settings }) => String(settings)).map(([{ file, path, settings }]) =>
    errorAt(file, path, `duplicate website ${settings}`),
  );
}

/** Every place whose key an earlier one has, with the first of that key. */
function repetitions<T>(
  places: readonly Place<T>[],
  keyOf: (place: Place<T>) => string,
): readonly (readonly [Place<T>, Place<T>])[] {
  const firstOf = new Map<string, Place<T>>();
  return places.flatMap((place) => {
    const first = firstOf.get(keyOf(place));
    if (first === undefined) firstOf.set(keyOf(place), place);
    return first === undefined ? [] : [[place, first] as const];
  });
}

function duplicate(place: Place<unknown>, first: Place<unknown>, key: string, message: string): ConfigError {
  const { line, column } = first.file.locate([...first.path, key]);
  return errorAt(
    place.file,
    [...place.path, key],
    `${message}, also at ${first.file.file}:${line}:${column}`,
  );
}
