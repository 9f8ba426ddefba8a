import type {
  ClusterDocument,
  FleetDocument,
  IncidentDocument,
  PlannedDocument,
  ProblemDocument,
} from "../../document/schema.ts";
import { alertOf } from "../../judge/states.ts";
import { groupBy } from "../../../support/group-by.ts";
import { count } from "../../../support/text.ts";
import { inGroups, isCause } from "../../view/headline.ts";
import { mastersIn } from "../../view/masters.ts";
import { plannedName, plannedWords, urgencyOf } from "../../view/planned.ts";
import { inWords } from "../../view/words.ts";
import { addressOf, type Filter } from "./filter.ts";
import { html, nothing, type Html } from "./html.ts";
import {
  clock,
  clusterId,
  keyedId,
  mark,
  more,
  relative,
  runbookLink,
  spoken,
  type Reader,
} from "./parts.ts";

/** This many problems are always shown; the reader can open the others. */
const SHOWN = 10;
/** The most shown problems of the same kind and cluster, since one pair's many groups must not hide other clusters. */
const SHOWN_ALIKE = 2;
/** The most other problems that are shown. */
const MAX_MORE = 500;

export interface ProblemsView extends Reader {
  readonly filter: Filter;
  readonly clusters: FleetDocument["clusters"];
}

/** Returns an id that stays the same whatever the problem's words and age. */
export function problemId({ kind, cluster, appliance, website, group }: ProblemDocument): string {
  const link = group?.interface === undefined ? [] : [group.interface];
  return keyedId([kind, cluster, appliance, website?.id, group?.vhid, group?.vip, ...link]);
}

/** Returns the windows of planned work, then the problems, a line each: those of a cluster together, worst first, causes before what follows. */
export function problemList(
  planned: readonly PlannedDocument[],
  problems: readonly ProblemDocument[],
  view: ProblemsView,
): Html {
  const windows =
    planned.length === 0
      ? nothing
      : html`<ul class="problems">
          ${planned.slice(0, SHOWN).map((window) => windowItem(window, view))}
        </ul>`;
  if (problems.length === 0) return windows;
  const alike = groupBy(problems, ({ kind, cluster }) => JSON.stringify([kind, cluster]));
  const varied = new Set([...alike.values()].flatMap((all) => all.slice(0, SHOWN_ALIKE)));
  const shown = new Set(problems.filter((problem) => varied.has(problem)).slice(0, SHOWN));
  const others = problems.filter((problem) => !shown.has(problem));
  const clusters = new Map(view.clusters.map((cluster) => [cluster.name, cluster]));
  const items = (some: readonly ProblemDocument[]) => {
    const caused = new Set(some.filter(isCause).map(({ cluster }) => cluster));
    return html`<ol class="problems">
      ${inGroups(some).map((each, nth, all) => {
        const isFirst = all[nth - 1]?.cluster !== each.cluster;
        const follows = !isCause(each) && caused.has(each.cluster);
        return problemItem(each, isFirst ? clusters.get(each.cluster ?? "") : undefined, follows, view);
      })}
    </ol>`;
  };
  const left = others.length - MAX_MORE;
  const rest = () =>
    html`${items(others.slice(0, MAX_MORE))}
    ${left > 0 ? html`<p class="note">${count(left, "more problem")}: use the filter to see them.</p>` : nothing}`;
  return html`${windows}${items([...shown])}${more(view, "more-problems", others.length, "more problem", rest)}`;
}

function windowItem(window: PlannedDocument, view: ProblemsView): Html {
  return html`<li data-level="planned">
    <div class="line">
      ${mark("planned")}<span class="where"></span>
      <span class="what"><strong>${plannedName(window)}</strong> <span>${plannedWords(window)}</span></span>
      <span class="who"></span> <span class="age">until ${clock(window.end, view)}</span>
    </div>
  </li> `;
}

/**
 * Returns a line, which leads to the rows that the problem is about. `cluster`: the name and the masters are said here. `follows`: it may
 * follow from a problem of the cluster above.
 */
function problemItem(
  problem: ProblemDocument,
  cluster: ClusterDocument | undefined,
  follows: boolean,
  view: ProblemsView,
): Html {
  const { kind, summary, since, until } = problem;
  const { level, words } = urgencyOf(problem);
  const id = problemId(problem);
  const name = problem.cluster ?? "exporter";
  const alert = alertOf(kind);
  const age =
    since === undefined
      ? until === undefined
        ? nothing
        : html`until ${clock(until, view)}`
      : html`${relative("long", since, view)}<span class="since">, since ${clock(since, view)}</span>`;
  const line = html`${mark(level)}<span class="where">${cluster === undefined ? spoken(name) : name}</span>
    <span class="what"
      >${follows ? FOLLOWS : nothing}${spoken(words)}<strong>${inWords(kind)}</strong>
      <span>${summary}</span></span
    >
    <span class="who">${cluster === undefined ? nothing : mastersIn(cluster).join("; ")}</span>
    <span class="age">${age}</span>`;
  if (problem.cluster === undefined) {
    const { advice } = problem;
    return html`<li id="${id}" data-level="${level}">
      <div class="line">${line}</div>
      <p class="advice note">${advice ?? nothing} ${alert === undefined ? nothing : runbookLink(alert)}</p>
    </li> `;
  }
  const href = `${addressOf({ ...view.filter, problem: id })}#${clusterId(problem.cluster)}`;
  return html`<li id="${id}" data-level="${level}"><a class="line" href="${href}">${line}</a></li> `;
}

const FOLLOWS = html`${spoken("May follow from that:")}<span class="follows" aria-hidden="true">→ </span>`;

/** Returns what to do about each problem of a cluster, with links to the runbook and to its incident. */
export function adviceList(
  problems: readonly ProblemDocument[],
  incidents: readonly IncidentDocument[],
  filter: Filter,
): Html {
  const items = inGroups(problems)
    .slice(0, SHOWN)
    .map((problem) => {
      const { advice, kind, keys = [] } = problem;
      const alert = alertOf(kind);
      const incident = incidents.find((each) => {
        return (
          each.end === undefined &&
          each.kind === kind &&
          (each.keys === undefined || each.keys.some((key) => keys.includes(key)))
        );
      });
      const href = incident && `${addressOf({ ...filter, incident: incident.id })}#incident-${incident.id}`;
      return html`<li data-level="${urgencyOf(problem).level}">
        <strong>${inWords(kind)}</strong> ${advice ?? nothing}
        ${alert === undefined ? nothing : runbookLink(alert)}
        ${href === undefined ? nothing : html`<a href="${href}">Incident</a>`}
      </li> `;
    });
  return items.length === 0
    ? nothing
    : html`<ul class="advices">
        ${items}
      </ul>`;
}
