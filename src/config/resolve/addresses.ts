import type { ConfigError } from "../config.ts";
import { errorAt } from "../yaml/file.ts";
import type { FleetEntry } from "./entries.ts";
import type { Scope } from "./scope.ts";

/**
 * An error at every `base_url` that another member of the same cluster has already: one appliance would be polled as two,
 * each would show the other's state, and that looks like a split brain. Disabled appliances do not count: nothing polls
 * them. URLs are compared in their final form, so the case of the host, a default port, the notation of an IPv6 address
 * and a trailing slash make no difference, and another path does.
 */
export function findDuplicateAddresses(entries: readonly FleetEntry[]): readonly ConfigError[] {
  const firstOf = new Map<Scope, Map<string, Scope>>();
  return entries.flatMap(({ appliance, cluster }) => {
    const { baseUrl, enabled } = appliance;
    if (cluster === undefined || baseUrl === undefined || enabled === false) return [];
    const members = firstOf.get(cluster) ?? new Map<string, Scope>();
    firstOf.set(cluster, members);
    const first = members.get(baseUrl);
    if (first) return [duplicateError(appliance, first)];
    members.set(baseUrl, appliance);
    return [];
  });
}

function duplicateError(appliance: Scope, first: Scope): ConfigError {
  const { line, column } = first.file.locate([...first.path, "base_url"]);
  const message = `duplicate address in one cluster, first at ${first.file.file}:${line}:${column}`;
  return errorAt(appliance.file, [...appliance.path, "base_url"], message);
}
