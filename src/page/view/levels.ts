import type { ClusterDocument, FleetDocument, Problem } from "../../status/schema.ts";
import { LEVELS, type Level } from "../../status/severity.ts";

/** The level in one word: nothing depends on color alone. */
export const LEVEL_WORDS: Readonly<Record<Level, string>> = {
  well: "Well",
  unknown: "Unknown",
  warning: "Warning",
  critical: "Critical",
};

/** The worst of the levels; `well` if there is none. */
export function worst(levels: readonly Level[]): Level {
  return LEVELS.findLast((level) => levels.includes(level)) ?? "well";
}

/** A cluster and its problems. */
export interface JudgedCluster {
  readonly cluster: ClusterDocument;
  readonly level: Level;
  /** Worst first. */
  readonly problems: readonly Problem[];
}

/** The sections of clusters on the page, in their order. */
export const CLUSTER_GROUPS = ["troubled", "unknown", "well"] as const;
export type ClusterGroup = (typeof CLUSTER_GROUPS)[number];
export type ClusterGroups = Readonly<Record<ClusterGroup, readonly JudgedCluster[]>>;

/** Clusters with problems, worst first; the others in the order of the configuration. */
export function groupClusters({ clusters, problems }: FleetDocument): ClusterGroups {
  const byCluster = problemsByCluster(problems);
  const judged = new Map(
    clusters.map((cluster) => [cluster.name, judge(cluster, byCluster.get(cluster.name) ?? [])]),
  );
  const all = [...judged.values()];
  return {
    // The document lists problems worst first, so this is the order of the clusters too.
    troubled: [...byCluster.keys()].flatMap((name) => judged.get(name) ?? []).filter(isTroubled),
    unknown: all.filter(({ level }) => level === "unknown"),
    well: all.filter(({ level }) => level === "well"),
  };
}

/** The problems of each cluster that has any, in their order. */
export function problemsByCluster(problems: readonly Problem[]): ReadonlyMap<string, readonly Problem[]> {
  const byCluster = new Map<string, Problem[]>();
  for (const problem of problems) {
    if (problem.cluster === undefined) continue;
    const others = byCluster.get(problem.cluster);
    if (others === undefined) byCluster.set(problem.cluster, [problem]);
    else others.push(problem);
  }
  return byCluster;
}

function judge(cluster: ClusterDocument, problems: readonly Problem[]): JudgedCluster {
  const levels: readonly Level[] = problems.map(({ severity }) => severity);
  return { cluster, problems, level: worst(isPolled(cluster) ? levels : [...levels, "unknown"]) };
}

function isPolled({ appliances }: ClusterDocument): boolean {
  return appliances.every(({ poll, websites }) =>
    [poll, ...websites.map((website) => website.poll)].every(({ state }) => state !== "pending"),
  );
}

function isTroubled({ level }: JudgedCluster): boolean {
  return level === "critical" || level === "warning";
}
