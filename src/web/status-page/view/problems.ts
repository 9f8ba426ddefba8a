import type { Problem } from "../../../status/schema.ts";
import { clusterAnchor } from "./anchor.ts";
import { html, nothing, type Html } from "./html.ts";
import { mark } from "./mark.ts";
import { outsideFilter } from "./narrowed.ts";
import { STANDING_WORDS } from "./standing.ts";
import { absolute, relative, type Now } from "./time.ts";
import { count } from "./words.ts";

/** So many are seen at a glance; the others open on request. */
const SHOWN_AT_ONCE = 8;
/** Of those so many may be of one kind in one cluster: many groups of one pair would hide what is wrong elsewhere. */
const ALIKE_AT_ONCE = 2;

/** What tells one problem from another, whatever its words and its age. */
export function problemKey({ kind, cluster, appliance, website, group }: Problem): string {
  return JSON.stringify([kind, cluster, appliance, website?.id, group?.vhid, group?.vip]);
}

/** Worst first. `hidden`: how many a filter keeps out. */
export function problemList(problems: readonly Problem[], hidden: number, nowMs: Now): Html {
  const first = seenAtOnce(problems);
  const others = problems.filter((problem) => !first.includes(problem));
  if (problems.length === 0 && hidden === 0) return nothing;
  return html`<h2 class="hidden-visually">What is wrong</h2>
    <ol class="problems">
      ${first.map((problem) => problemItem(problem, nowMs))}
    </ol>
    ${others.length === 0 ? nothing : moreProblems(others, first.length, nowMs)}
    ${hidden === 0 ? nothing : outsideFilter(hidden, "problem")}`;
}

/** In their order. */
function seenAtOnce(problems: readonly Problem[]): readonly Problem[] {
  const alike = new Map<string, number>();
  const varied = problems.filter(({ kind, cluster }) => {
    const key = JSON.stringify([kind, cluster]);
    alike.set(key, (alike.get(key) ?? 0) + 1);
    return (alike.get(key) ?? 0) <= ALIKE_AT_ONCE;
  });
  return varied.slice(0, SHOWN_AT_ONCE);
}

function moreProblems(problems: readonly Problem[], before: number, nowMs: Now): Html {
  return html`<details class="more">
    <summary>${count(problems.length, "more problem")}</summary>
    <ol class="problems" start="${before + 1}">
      ${problems.map((problem) => problemItem(problem, nowMs))}
    </ol>
  </details>`;
}

function problemItem(problem: Problem, nowMs: Now): Html {
  const { severity, summary, cluster, since } = problem;
  return html`<li data-key="${problemKey(problem)}" data-standing="${severity}">
    ${mark(severity)}
    <div>
      <p class="what"><strong>${STANDING_WORDS[severity]}</strong> ${summary}</p>
      <p class="meta">
        ${cluster === undefined ? nothing : html`<a href="#${clusterAnchor(cluster)}">Cluster ${cluster}</a>`}
        ${since === undefined ? nothing : sinceWhen(since, problem.isSinceAtLeast === true, nowMs)}
      </p>
    </div>
  </li> `;
}

function sinceWhen(since: string, isAtLeast: boolean, nowMs: Now): Html {
  const [atLeast, orEarlier] = isAtLeast ? ["at least ", " or earlier"] : ["", ""];
  return html`<span>${atLeast}${relative("for", since, nowMs)}, since ${absolute(since)}${orEarlier}</span>`;
}
