import type { JsonPath } from "../errors.ts";
import { readScope, type Chain, type Scope } from "./scope.ts";
import { isRecord } from "../yaml/data.ts";
import { valueAt } from "../yaml/validate.ts";
import type { YamlFile } from "../yaml/file.ts";

/** An appliance of a file; `cluster` is absent where it stands alone. */
export interface FleetEntry {
  readonly appliance: Scope;
  readonly cluster: Scope | undefined;
  /** The top of the main file, the cluster, the appliance. */
  readonly chain: Chain;
}

/** Clusters and appliances in the order of the files, and all the places that settings stand in. */
export interface Fleet {
  readonly files: readonly YamlFile[];
  readonly clusters: readonly Scope[];
  readonly entries: readonly FleetEntry[];
  readonly scopes: readonly Scope[];
}

/** Every cluster and appliance of the main file and those it includes that is a map, whether its settings are right or not. */
export function readFleet(main: YamlFile, included: readonly YamlFile[]): Fleet {
  const top = readScope(main, []);
  const files = [main, ...included];
  const parts = files.map((file) => readFleetFile(top, file));
  const clusters = parts.flatMap((part) => part.clusters);
  const entries = parts.flatMap((part) => part.entries);
  return {
    files,
    clusters,
    entries,
    scopes: [top, ...clusters, ...entries.map(({ appliance }) => appliance)],
  };
}

function readFleetFile(top: Scope, file: YamlFile): Pick<Fleet, "clusters" | "entries"> {
  const clusters = readList(file, ["clusters"]);
  const members = clusters.flatMap((cluster) => readMembers(top, cluster));
  const lone = readList(file, ["appliances"]).map((appliance) => ({
    appliance,
    cluster: undefined,
    chain: [top, appliance],
  }));
  return { clusters, entries: [...members, ...lone] };
}

function readMembers(top: Scope, cluster: Scope): readonly FleetEntry[] {
  return readList(cluster.file, [...cluster.path, "appliances"]).map((appliance) => ({
    appliance,
    cluster,
    chain: [top, cluster, appliance],
  }));
}

function readList(file: YamlFile, path: JsonPath): readonly Scope[] {
  const list = valueAt(file.data, path);
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, index) => (isRecord(item) ? [readScope(file, [...path, index])] : []));
}
