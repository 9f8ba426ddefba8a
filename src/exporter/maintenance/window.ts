import type { ApplianceConfig, MaintenanceScope } from "../config/config.ts";
import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import { listed } from "../../support/text.ts";
import { minuteInUtc } from "../../support/time-zone.ts";

export type Scope = MaintenanceScope;

/** The most members that a sentence names. */
const MAX_NAMED = 8;

/** A window of planned work, from a Unix time in milliseconds up to another one. */
export interface MaintenanceWindow {
  /** The id, unique among the windows of an exporter. */
  readonly id: string;
  readonly scope: Scope;
  readonly beginMs: number;
  readonly endMs: number;
  readonly comment: string;
  /** The user who started the window; `undefined` for a window of the configuration. */
  readonly by: string | undefined;
  /** The user who ended or extended the window last, if one did. */
  readonly changedBy?: string | undefined;
  /** The source of the window. A drill is a window that an operator started to rehearse a failover. */
  readonly origin: "configuration" | "command" | "drill";
}

/** The part of a cluster that a window covers. */
export interface Coverage {
  /** Whether the window covers the whole cluster, and not only members of it. */
  readonly isWhole: boolean;
  /** The enabled appliances that the window covers. */
  readonly members: readonly string[];
}

interface CoveredFacts extends Pick<ClusterSnapshot, "cluster" | "labels" | "disabled"> {
  readonly appliances: readonly Pick<ClusterSnapshot["appliances"][number], "identity">[];
}

/**
 * Returns the part of a cluster that a scope covers; `undefined` if there is none. A scope covers the whole cluster by the cluster's name,
 * by labels that all members share, or if the cluster is a single appliance. A scope with the names or own labels of all members does not
 * cover the whole: the work on each member leaves the others to serve visitors.
 */
export function coverageOf(
  scope: Scope,
  { cluster, labels, appliances, disabled }: CoveredFacts,
): Coverage | undefined {
  const identities = appliances.map(({ identity }) => identity);
  const isNamed = scope.clusters.includes(cluster) || hasLabels(labels, scope.labels);
  const covered = identities.filter((each) => covers(scope, { ...each, name: each.appliance }));
  if (covered.length === 0) return undefined;
  // A disabled member may serve visitors.
  const isWhole = isNamed || identities.length + disabled.length === 1;
  return { isWhole, members: covered.map(({ appliance }) => appliance) };
}

/** A window on other members than those in question, who may be all that is left then. */
export interface WindowElsewhere {
  readonly window: MaintenanceWindow;
  /** The other members that the window covers. */
  readonly members: readonly string[];
}

/** Returns those of the windows that cover others than `own`, each with these; `members` are those of the clusters in question. */
export function windowsElsewhere(
  windows: readonly WindowElsewhere[],
  own: ReadonlySet<string>,
): readonly WindowElsewhere[] {
  return windows.flatMap(({ window, members }) => {
    const others = members.filter((each) => !own.has(each));
    return others.length === 0 ? [] : [{ window, members: others }];
  });
}

/** Returns `b and c are worked on by alice until 2026-11-28 14:00 UTC (new kernel): window 0a1b2c3d`. */
export function elsewhereWords({ window: { id, by, endMs, comment }, members }: WindowElsewhere): string {
  const who = by === undefined ? "" : ` by ${by}`;
  const why = comment === "" ? "" : ` (${comment})`;
  const verb = members.length > 1 ? "are" : "is";
  return `${listed(members, MAX_NAMED)} ${verb} worked on${who} until ${minuteInUtc(endMs)}${why}: window ${id}`;
}

/** Whether a scope covers an appliance. */
export function covers(
  { appliances, clusters, labels }: Scope,
  { name, cluster, labels: own }: Pick<ApplianceConfig, "name" | "cluster" | "labels">,
): boolean {
  return appliances.includes(name) || clusters.includes(cluster) || hasLabels(own, labels);
}

/** Whether something has all of the wanted labels, and at least one label is wanted. */
function hasLabels(has: Scope["labels"], wanted: Scope["labels"]): boolean {
  const all = Object.entries(wanted);
  return all.length > 0 && all.every(([name, value]) => Object.hasOwn(has, name) && has[name] === value);
}
