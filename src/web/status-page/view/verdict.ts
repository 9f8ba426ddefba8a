import type { FleetDocument, Problem } from "../../../status/schema.ts";
import { html, type Html } from "./html.ts";
import { kindsOf } from "./kinds.ts";
import { mark } from "./mark.ts";
import { worst, type Standing } from "./standing.ts";
import { count, distinct } from "./words.ts";

/** Whether all is well, as the first line of the page and the title of its tab say it. */
export interface Verdict {
  readonly standing: Standing;
  readonly headline: string;
  readonly detail: string;
}

export function verdictOf(document: FleetDocument): Verdict {
  switch (document.verdict) {
    case "well":
      return { standing: "well", headline: "All is well", detail: describeFleet(document) };
    case "unknown":
      return { standing: "unknown", ...unknownYet(document) };
    case "wrong":
      return {
        standing: worst(document.problems.map(({ severity }) => severity)),
        headline: count(document.problems.length, "problem"),
        detail: describeProblems(document),
      };
    default:
      return document.verdict satisfies never;
  }
}

/** The title of the page while this is so. */
export function titleOf({ headline }: Verdict): string {
  return `${headline} – appliance-exporter`;
}

export function verdictBanner({ standing, headline, detail }: Verdict): Html {
  return html`<div class="verdict" data-standing="${standing}">
    ${mark(standing)}
    <div>
      <h1>${headline}</h1>
      <p>${detail}</p>
    </div>
  </div>`;
}

function unknownYet({ clusters }: FleetDocument): Pick<Verdict, "headline" | "detail"> {
  if (clusters.length > 0) {
    return { headline: "Not everything is known yet", detail: "Nothing wrong is seen so far." };
  }
  return { headline: "Nothing is polled", detail: "The configuration has no appliance that is enabled." };
}

function describeFleet({ clusters }: FleetDocument): string {
  const appliances = clusters.flatMap((cluster) => cluster.appliances);
  const websites = clusters.flatMap((cluster) => cluster.websites);
  return `${count(clusters.length, "cluster")}, ${count(appliances.length, "appliance")}, ${count(websites.length, "website")}.`;
}

/** `Split brain and website down, in 2 of 12 clusters.` */
function describeProblems({ problems, clusters }: FleetDocument): string {
  return `${kindsOf(problems)}${describeWhere(problems, clusters.length)}.`;
}

function describeWhere(problems: readonly Problem[], clusters: number): string {
  const affected = distinct(problems.flatMap(({ cluster }) => cluster ?? [])).length;
  return affected === 0 || clusters < 2 ? "" : `, in ${affected} of ${count(clusters, "cluster")}`;
}
