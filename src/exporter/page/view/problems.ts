import type { ProblemDocument } from "../../document/schema.ts";
import { alertOf } from "../../judge/states.ts";
import { groupBy } from "../../../support/group-by.ts";
import { count } from "../../../support/text.ts";
import { urgencyOf } from "../../view/planned.ts";
import { html, nothing, type Html } from "./html.ts";
import { absolute, clusterId, keyedId, mark, more, relative, runbookLink, type Reader } from "./parts.ts";

/** This many problems are always shown; the reader can open the others. */
const SHOWN = 8;
/** The most shown problems of the same kind and cluster, since one pair's many groups must not hide other clusters. */
const SHOWN_ALIKE = 2;
/** The most other problems that are shown. */
const MAX_MORE = 500;

/** Returns an id that stays the same whatever the problem's words and age. */
export function problemId({ kind, cluster, appliance, website, group }: ProblemDocument): string {
  const link = group?.interface === undefined ? [] : [group.interface];
  return keyedId("problem", [kind, cluster, appliance, website?.id, group?.vhid, group?.vip, ...link]);
}

/** Returns a list of the problems, worst first. */
export function problemList(problems: readonly ProblemDocument[], reader: Reader): Html {
  if (problems.length === 0) return nothing;
  const alike = groupBy(problems, ({ kind, cluster }) => JSON.stringify([kind, cluster]));
  const varied = new Set([...alike.values()].flatMap((all) => all.slice(0, SHOWN_ALIKE)));
  const first = problems.filter((problem) => varied.has(problem)).slice(0, SHOWN);
  const others = problems.filter((problem) => !first.includes(problem));
  const items = (some: readonly ProblemDocument[], start: number) =>
    html`<ol class="problems" start="${start}">
      ${some.map((problem) => problemItem(problem, reader))}
    </ol>`;
  const left = others.length - MAX_MORE;
  const rest = () =>
    html`${items(others.slice(0, MAX_MORE), first.length + 1)}
    ${left > 0 ? html`<p class="note">${count(left, "more problem")}: use the filter to see them.</p>` : nothing}`;
  return html`${items(first, 1)} ${more(reader, "more-problems", others.length, "more problem", rest)}`;
}

function problemItem(problem: ProblemDocument, reader: Reader): Html {
  const { kind, summary, advice, cluster, since, until } = problem;
  const alert = alertOf(kind);
  const { level, words } = urgencyOf(problem);
  return html`<li id="${problemId(problem)}" data-level="${level}">
    ${mark(level)}
    <div>
      <p class="what"><strong>${words}</strong> <span>${summary}</span></p>
      ${advice === undefined ? nothing : html`<p class="advice note">${advice}</p>`}
      <p class="meta note">
        ${cluster === undefined ? nothing : html`<a href="#${clusterId(cluster)}">Cluster ${cluster}</a>`}
        ${since === undefined ? nothing : html`<span>${relative("for", since, reader)}, since ${absolute(since)}</span>`}
        ${until === undefined ? nothing : html`<span>Goes on ${relative("next", until, reader)}, at ${absolute(until)}</span>`}
        ${alert === undefined ? nothing : runbookLink(alert, `Runbook: ${alert}`)}
      </p>
    </div>
  </li> `;
}
