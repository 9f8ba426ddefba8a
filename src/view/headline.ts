import type { ClusterDocument, FleetDocument, Problem } from "../status/schema.ts";
import { PROBLEM_KINDS, type Level } from "../status/states.ts";
import { groupBy } from "../support/group-by.ts";
import { count, kindsOf } from "./words.ts";

/** What the page and the terminal say first. */
export interface Headline {
  readonly level: Level;
  readonly text: string;
  /** `Split brain and website down, in 2 of 12 clusters.` */
  readonly detail: string;
}

/** The state of the whole fleet. */
export function headlineOf({ verdict, problems, clusters, exporter }: FleetDocument): Headline {
  const size = count(clusters.length, "cluster");
  switch (verdict) {
    case "well":
      return { level: verdict, text: "All is well", detail: `${size}.` };
    case "wrong": {
      const level = problems[0]?.severity ?? "unknown";
      const affected = new Set(problems.flatMap(({ cluster }) => cluster ?? [])).size;
      const where = affected === 0 || clusters.length < 2 ? "" : `, in ${affected} of ${size}`;
      return { level, text: count(problems.length, "problem"), detail: `${kindsOf(problems)}${where}.` };
    }
    case "unknown": {
      const source = exporter.shard.total > 1 ? "shard" : "configuration";
      const [text, detail] =
        clusters.length > 0
          ? ["Not everything is known yet", "No problem found so far."]
          : ["Nothing is polled", `The ${source} has no enabled appliance.`];
      return { level: verdict, text, detail };
    }
    default:
      return verdict satisfies never;
  }
}

export interface JudgedCluster {
  readonly cluster: ClusterDocument;
  /** Worst first. */
  readonly problems: readonly Problem[];
}

/** Clusters with problems, worst first, then those not known yet, then the others; each in the order of the configuration. */
export function judgeClusters({ clusters, problems }: FleetDocument): readonly JudgedCluster[] {
  const byCluster = groupBy(problems, ({ cluster }) => cluster);
  return clusters
    .map((cluster) => ({ cluster, problems: byCluster.get(cluster.name) ?? [] }))
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

function placeOf({ cluster: { level }, problems: [worst] }: JudgedCluster): number {
  if (level === "well") return PROBLEM_KINDS.length + 1;
  const isKnown = worst !== undefined && level !== "unknown";
  return isKnown ? PROBLEM_KINDS.indexOf(worst.kind) : PROBLEM_KINDS.length;
}
