import type { FleetDocument } from "../../status/schema.ts";
import type { Level } from "../../status/severity.ts";
import { html, type Html } from "./html.ts";
import { worst } from "./levels.ts";
import { mark } from "./parts.ts";
import { count, distinct, kindsOf } from "./words.ts";

/** The state of the whole fleet, for the first line of the page and its title. */
export interface Verdict {
  readonly level: Level;
  readonly headline: string;
  readonly detail: string;
}

export function verdictOf(document: FleetDocument): Verdict {
  switch (document.verdict) {
    case "well":
      return { level: "well", headline: "All is well", detail: describeFleet(document) };
    case "unknown":
      return { level: "unknown", ...describeUnknown(document) };
    case "wrong":
      return {
        level: worst(document.problems.map(({ severity }) => severity)),
        headline: count(document.problems.length, "problem"),
        detail: describeProblems(document),
      };
    default:
      return document.verdict satisfies never;
  }
}

export function titleOf({ headline }: Verdict): string {
  return `${headline} – appliance-exporter`;
}

export function verdictBanner({ level, headline, detail }: Verdict): Html {
  return html`<div class="verdict" data-level="${level}">
    ${mark(level)}
    <div>
      <h1>${headline}</h1>
      <p>${detail}</p>
    </div>
  </div>`;
}

function describeUnknown({ clusters }: FleetDocument): Pick<Verdict, "headline" | "detail"> {
  return clusters.length > 0
    ? { headline: "Not everything is known yet", detail: "No problem found so far." }
    : { headline: "Nothing is polled", detail: "The configuration has no enabled appliance." };
}

function describeFleet({ clusters }: FleetDocument): string {
  const appliances = clusters.flatMap((cluster) => cluster.appliances);
  const websites = clusters.flatMap((cluster) => cluster.websites);
  return `${count(clusters.length, "cluster")}, ${count(appliances.length, "appliance")}, ${count(websites.length, "website")}.`;
}

/** `Split brain and website down, in 2 of 12 clusters.` */
function describeProblems({ problems, clusters }: FleetDocument): string {
  const affected = distinct(problems.flatMap(({ cluster }) => cluster ?? [])).length;
  const isEverywhere = affected === 0 || clusters.length < 2;
  return `${kindsOf(problems)}${isEverywhere ? "" : `, in ${affected} of ${count(clusters.length, "cluster")}`}.`;
}
