import type { ClusterDocument, FleetDocument, ProblemDocument } from "../document/schema.ts";
import { PROBLEM_KINDS } from "../judge/states.ts";
import { groupBy } from "../../support/group-by.ts";
import { count } from "../../support/text.ts";
import { plannedSentences } from "./planned.ts";
import type { Tone } from "./row.ts";
import { minuteOf } from "./time.ts";
import { kindsOf } from "./words.ts";

/** The first line of the page and the terminal. */
export interface Headline {
  readonly level: Tone;
  readonly text: string;
  /** The instant until which the text is true, if that is known. */
  readonly until?: string;
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
  const until = planned.at(-1)?.end;
  const detail = sentences([size, ...windows]);
  if (verdict === "well" && until !== undefined)
    return { level: "planned", text: `All is well but planned work: ${planned.length}`, until, detail };
  if (verdict === "well") return { level: verdict, text: "All is well", detail };
  const source = exporter.shard.total > 1 ? "shard" : "configuration";
  return { level: "unknown", text: "Nothing is polled", detail: `The ${source} has no enabled appliance.` };
}

/** Returns the headline without its detail: `All is well but planned work: 2 until 2026-11-21 14:00 UTC`. */
export function headlineText({ text, until }: Headline): string {
  return until === undefined ? text : `${text} until ${minuteOf(until)}`;
}

function sentences(all: readonly string[]): string {
  return all.map((each) => `${each}.`).join(" ");
}

/** A number of problems or clusters that stands beside the headline. */
export interface Tally {
  readonly level: Tone;
  readonly words: string;
}

const TALLIED = ["critical", "warning", "unknown"] as const;

/** Returns how many problems are critical, warnings, unknown and planned, and how many clusters are well. */
export function talliesOf({ problems, clusters }: FleetDocument): readonly Tally[] {
  const counted = problems.filter(({ isPlanned }) => isPlanned !== true);
  const troubled = new Set(problems.map(({ cluster }) => cluster));
  const well = clusters.filter(({ name, level }) => level === "well" && !troubled.has(name)).length;
  const planned = problems.length - counted.length;
  return [
    ...TALLIED.flatMap((level): readonly Tally[] => {
      const number = counted.filter(({ severity }) => severity === level).length;
      return number === 0
        ? []
        : [{ level, words: level === "warning" ? count(number, level) : `${number} ${level}` }];
    }),
    ...(planned === 0 ? [] : [{ level: "planned" as const, words: `${planned} planned` }]),
    ...(clusters.length === 0
      ? []
      : [{ level: "well" as const, words: `${well} of ${count(clusters.length, "cluster")} well` }]),
  ];
}

export interface JudgedCluster {
  readonly cluster: ClusterDocument;
  /** The problems, the worst one first. */
  readonly problems: readonly ProblemDocument[];
}

/** Returns the tone of a cluster: its level, and planned if all that is wrong is planned. */
export function toneOf({ cluster: { level }, problems }: JudgedCluster): Tone {
  return level === "well" && problems.length > 0 ? "planned" : level;
}

/**
 * Returns the clusters with problems, worst first, then those not known yet, those with planned problems, and the others; each in the order
 * of the configuration.
 */
export function judgeClusters({ clusters, problems }: FleetDocument): readonly JudgedCluster[] {
  const byCluster = groupBy(problems, ({ cluster }) => cluster);
  return clusters
    .map((cluster) => ({ cluster, problems: byCluster.get(cluster.name) ?? [] }))
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

function placeOf(judged: JudgedCluster): number {
  const { level } = judged.cluster;
  const [worst] = judged.problems;
  if (level === "well") return PROBLEM_KINDS.length + (toneOf(judged) === "planned" ? 1 : 2);
  const isKnown = worst !== undefined && level !== "unknown";
  return isKnown ? PROBLEM_KINDS.indexOf(worst.kind) : PROBLEM_KINDS.length;
}

/** The kinds of problems that are why others of their cluster are problems. */
const CAUSES: ReadonlySet<string> = new Set([
  "cluster_dark",
  "polling_stuck",
  "appliance_refused",
  "appliance_down",
]);

/**
 * Returns the problems cluster by cluster, that with the worst one first; in each, causes come before what may follow from them, and the
 * planned ones last.
 */
export function inGroups(problems: readonly ProblemDocument[]): readonly ProblemDocument[] {
  const groups = groupBy(problems, ({ cluster, isPlanned }) => JSON.stringify([cluster, isPlanned]));
  return [...groups.values()].flatMap((own) =>
    own.toSorted((one, other) => Number(isCause(other)) - Number(isCause(one))),
  );
}

/** Returns whether others of the same cluster may follow from a problem. */
export function isCause({ kind }: ProblemDocument): boolean {
  return CAUSES.has(kind);
}
