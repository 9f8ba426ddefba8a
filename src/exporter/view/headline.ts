import type { ClusterDocument, FleetDocument, ProblemDocument } from "../document/schema.ts";
import { PROBLEM_KINDS, type Level } from "../judge/states.ts";
import { groupBy } from "../../support/group-by.ts";
import { count } from "../../support/text.ts";
import { plannedSentences } from "./planned.ts";
import { kindsOf } from "./words.ts";

/** The first line of the page and the terminal. */
export interface Headline {
  readonly level: Level;
  readonly text: string;
  /** The detail, such as `Split brain and website down, in 2 of 12 clusters.` */
  readonly detail: string;
}

/** Returns the state of the whole fleet, and the planned windows. */
export function headlineOf({ verdict, problems, planned, clusters, exporter }: FleetDocument): Headline {
  const size = count(clusters.length, "cluster");
  const counted = problems.filter(({ isPlanned }) => isPlanned !== true);
  const [worst] = counted;
  const windows = plannedSentences(planned);
  if (worst !== undefined) {
    const affected = new Set(counted.flatMap(({ cluster }) => cluster ?? [])).size;
    const where = affected === 0 || clusters.length < 2 ? "" : `, in ${affected} of ${size}`;
    const text = verdict === "wrong" ? count(counted.length, "problem") : "Not everything is known";
    return { level: worst.severity, text, detail: sentences([`${kindsOf(counted)}${where}`, ...windows]) };
  }
  const [first, ...others] = windows;
  if (verdict === "well")
    return { level: verdict, text: first ?? "All is well", detail: sentences([size, ...others]) };
  const source = exporter.shard.total > 1 ? "shard" : "configuration";
  return { level: "unknown", text: "Nothing is polled", detail: `The ${source} has no enabled appliance.` };
}

function sentences(all: readonly string[]): string {
  return all.map((each) => `${each}.`).join(" ");
}

export interface JudgedCluster {
  readonly cluster: ClusterDocument;
  /** The problems, the worst one first. */
  readonly problems: readonly ProblemDocument[];
}

/** Returns the clusters with problems, worst first, then those not known yet, then the others; each in the order of the configuration. */
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
