import type { ClusterDocument, FleetDocument, Problem } from "../../../status/schema.ts";

/** How well something is, best first. */
const STANDINGS = ["well", "unknown", "warning", "critical"] as const;
export type Standing = (typeof STANDINGS)[number];

/** The same in one word, so that no colour has to be told from another. */
export const STANDING_WORDS: Readonly<Record<Standing, string>> = {
  well: "Well",
  unknown: "Unknown",
  warning: "Warning",
  critical: "Critical",
};

/** The worst; `well` of none. */
export function worst(standings: readonly Standing[]): Standing {
  return STANDINGS.findLast((standing) => standings.includes(standing)) ?? "well";
}

/** A cluster and what is wrong in it. */
export interface JudgedCluster {
  readonly cluster: ClusterDocument;
  readonly standing: Standing;
  /** Worst first. */
  readonly problems: readonly Problem[];
}

/** The parts of a page about clusters, those that want attention first. */
export const CLUSTER_GROUPS = ["troubled", "unknown", "well"] as const;
export type ClusterGroup = (typeof CLUSTER_GROUPS)[number];
export type ClusterGroups = Readonly<Record<ClusterGroup, readonly JudgedCluster[]>>;

/** Clusters in trouble by the rank of their worst problem, the others in the order of the configuration. */
export function groupClusters({ clusters, problems }: FleetDocument): ClusterGroups {
  const byCluster = problemsByCluster(problems);
  const judged = new Map(
    clusters.map((cluster) => [cluster.name, judge(cluster, byCluster.get(cluster.name) ?? [])]),
  );
  const all = [...judged.values()];
  return {
    // Problems come worst first, and so do the clusters that they name.
    troubled: [...byCluster.keys()].flatMap((name) => judged.get(name) ?? []).filter(isTroubled),
    unknown: all.filter(({ standing }) => standing === "unknown"),
    well: all.filter(({ standing }) => standing === "well"),
  };
}

function problemsByCluster(problems: readonly Problem[]): ReadonlyMap<string, readonly Problem[]> {
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
  const standings: readonly Standing[] = problems.map(({ severity }) => severity);
  return { cluster, problems, standing: worst(isPolled(cluster) ? standings : [...standings, "unknown"]) };
}

function isPolled({ appliances }: ClusterDocument): boolean {
  return appliances.every(({ poll, websites }) =>
    [poll, ...websites.map((website) => website.poll)].every(({ state }) => state !== "pending"),
  );
}

function isTroubled({ standing }: JudgedCluster): boolean {
  return standing === "critical" || standing === "warning";
}
