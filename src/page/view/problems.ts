import type { Problem } from "../../status/schema.ts";
import { html, nothing, type Html } from "./html.ts";
import {
  absolute,
  clusterId,
  inWords,
  keyedId,
  mark,
  more,
  outsideFilter,
  relative,
  type Reader,
} from "./parts.ts";

/** Problems that are always shown; the reader can open the others. */
const SHOWN = 8;

/** Identifies a problem, whatever its words and its age. */
export function problemId({ kind, cluster, appliance, website, group }: Problem): string {
  return keyedId("problem", [kind, cluster, appliance, website?.id, group?.vhid, group?.vip]);
}

/** Worst first. `hidden`: how many the filter excludes. */
export function problemList(problems: readonly Problem[], hidden: number, reader: Reader): Html {
  if (problems.length === 0 && hidden === 0) return nothing;
  const [first, others] = [problems.slice(0, SHOWN), problems.slice(SHOWN)];
  return html`<ol class="problems">
      ${first.map((problem) => problemItem(problem, reader))}
    </ol>
    ${more(
      reader,
      "more-problems",
      others.length,
      "more problem",
      () =>
        html`<ol class="problems" start="${first.length + 1}">
          ${others.map((problem) => problemItem(problem, reader))}
        </ol>`,
    )}
    ${outsideFilter(hidden, "problem")}`;
}

function problemItem(problem: Problem, reader: Reader): Html {
  const { severity, summary, cluster, since } = problem;
  return html`<li id="${problemId(problem)}" data-level="${severity}">
    ${mark(severity)}
    <div>
      <p class="what"><strong>${inWords(severity)}</strong> <span>${summary}</span></p>
      <p class="meta">
        ${cluster === undefined ? nothing : html`<a href="#${clusterId(cluster)}">Cluster ${cluster}</a>`}
        ${since === undefined ? nothing : html`<span>${relative("for", since, reader)}, since ${absolute(since)}</span>`}
      </p>
    </div>
  </li> `;
}
