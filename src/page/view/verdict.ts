import type { ClusterDocument, FleetDocument, Problem } from "../../status/schema.ts";
import { PROBLEM_KINDS, type Level } from "../../status/severity.ts";
import { once } from "../../support/kept.ts";
import { html, type Html } from "./html.ts";
import { count, kindsOf, mark } from "./parts.ts";

/** The state of the whole fleet, for the first line of the page and its title. */
export interface Verdict {
  readonly level: Level;
  readonly headline: string;
  readonly detail: string;
}

export function verdictOf({ verdict, problems, clusters, exporter }: FleetDocument): Verdict {
  switch (verdict) {
    case "well":
      return { level: "well", headline: "All is well", detail: `${count(clusters.length, "cluster")}.` };
    case "wrong":
      return {
        level: problems[0]?.severity ?? "unknown",
        headline: count(problems.length, "problem"),
        detail: describeProblems(problems, clusters.length),
      };
    case "unknown":
      return clusters.length > 0
        ? { level: "unknown", headline: "Not everything is known yet", detail: "No problem found so far." }
        : {
            level: "unknown",
            headline: "Nothing is polled",
            detail: `The ${exporter.shard.total > 1 ? "shard" : "configuration"} has no enabled appliance.`,
          };
    default:
      return verdict satisfies never;
  }
}

export function titleOf({ headline }: Verdict): string {
  return `${headline} – appliance-exporter`;
}

/** Screen readers announce it when it changes. */
export function verdictBanner({ level, headline, detail }: Verdict): Html {
  return html`<div class="verdict" data-level="${level}" role="status">
    ${mark(level)}
    <div>
      <h1>${headline}</h1>
      <p>${detail}</p>
    </div>
  </div>`;
}

/** `Split brain and website down, in 2 of 12 clusters.` */
function describeProblems(problems: readonly Problem[], clusters: number): string {
  const affected = new Set(problems.flatMap(({ cluster }) => cluster ?? [])).size;
  const isEverywhere = affected === 0 || clusters < 2;
  return `${kindsOf(problems)}${isEverywhere ? "" : `, in ${affected} of ${count(clusters, "cluster")}`}.`;
}

/** A cluster and its problems. */
export interface JudgedCluster {
  readonly cluster: ClusterDocument;
  readonly level: Level;
  /** Worst first. */
  readonly problems: readonly Problem[];
}

/** Clusters with problems, worst first, then those not known yet, then the others; each in the order of the configuration. */
export function judgeClusters({ clusters, problems }: FleetDocument): readonly JudgedCluster[] {
  const found = new Map(clusters.map(({ name }): [string, Problem[]] => [name, []]));
  for (const problem of problems) found.get(problem.cluster ?? "")?.push(problem);
  return clusters
    .map((cluster) => judge(cluster, found.get(cluster.name) ?? []))
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

function judge(cluster: ClusterDocument, problems: readonly Problem[]): JudgedCluster {
  const level = problems[0]?.severity ?? (isPolled(cluster) ? "well" : "unknown");
  return { cluster, problems, level };
}

function placeOf({ level, problems: [worst] }: JudgedCluster): number {
  if (level === "well") return PROBLEM_KINDS.length + 1;
  return worst === undefined || level === "unknown"
    ? PROBLEM_KINDS.length
    : PROBLEM_KINDS.indexOf(worst.kind);
}

const isPolled = once(({ appliances }: ClusterDocument) =>
  appliances.every(({ poll, websites }) =>
    [poll, ...websites.map((website) => website.poll)].every(({ state }) => state !== "pending"),
  ),
);
