import type { ApplianceConfig, MaintenanceScope } from "../config/config.ts";
import type { ClusterSnapshot } from "../fleet/snapshot.ts";

export type Scope = MaintenanceScope;

/** Planned work, from a Unix time in milliseconds up to another one. */
export interface MaintenanceWindow {
  /** Unique among those of an exporter. */
  readonly id: string;
  readonly scope: Scope;
  readonly beginMs: number;
  readonly endMs: number;
  readonly comment: string;
  /** The user who started it; `undefined` for one of the configuration. */
  readonly by: string | undefined;
  /** A drill is one that an operator started to rehearse a failover. */
  readonly origin: "configuration" | "command" | "drill";
}

/** The part of a cluster that is worked on. */
export interface Coverage {
  /** Whether that is the whole cluster, and not only members of it. */
  readonly isWhole: boolean;
  /** Enabled appliances of the cluster. */
  readonly members: readonly string[];
}

/**
 * Returns what a scope covers of a cluster; `undefined` for nothing. The whole cluster is covered by its name, by labels that its
 * members share, and where it is a single appliance. All members by their names, or by labels of their own, are not the whole:
 * then the work on each member leaves the others to serve visitors.
 */
export function coverageOf(
  scope: Scope,
  { cluster, labels, appliances, disabled }: ClusterSnapshot,
): Coverage | undefined {
  const identities = appliances.map(({ identity }) => identity);
  const isNamed = scope.clusters.includes(cluster) || hasLabels(labels, scope.labels);
  const covered = identities.filter((each) => covers(scope, { ...each, name: each.appliance }));
  if (covered.length === 0) return undefined;
  // A disabled member may serve visitors.
  const isWhole = isNamed || identities.length + disabled.length === 1;
  return { isWhole, members: covered.map(({ appliance }) => appliance) };
}

/** Whether a scope covers an appliance. */
export function covers(
  { appliances, clusters, labels }: Scope,
  { name, cluster, labels: own }: Pick<ApplianceConfig, "name" | "cluster" | "labels">,
): boolean {
  return appliances.includes(name) || clusters.includes(cluster) || hasLabels(own, labels);
}

/** Whether something has all these labels, and they are not none. */
function hasLabels(has: Scope["labels"], wanted: Scope["labels"]): boolean {
  const all = Object.entries(wanted);
  return all.length > 0 && all.every(([name, value]) => Object.hasOwn(has, name) && has[name] === value);
}
