import { createHash } from "node:crypto";
import type { FleetEvent, Problem } from "../../status/schema.ts";
import { groupBy } from "../../support/group-by.ts";
import { html, nothing, type Html } from "./html.ts";
import { absolute, clusterId, count, disclosure, inWords, mark, relative, type Reader } from "./parts.ts";

/** So many problems and events are always shown; the reader can open the others. */
const SHOWN = 8;
/** At most so many of them have the same kind and cluster: one pair's many groups must not hide other clusters. */
const SHOWN_ALIKE = 2;

/** A short id made from what identifies a problem or an event: the browser finds the element again by it. */
function keyedId(kind: "problem" | "event", key: readonly unknown[]): string {
  return `${kind}-${createHash("sha1").update(JSON.stringify(key)).digest("base64url").slice(0, 12)}`;
}

/** The same whatever its words and its age. */
export function problemId({ kind, cluster, appliance, website, group }: Problem): string {
  return keyedId("problem", [kind, cluster, appliance, website?.id, group?.vhid, group?.vip]);
}

function more(reader: Reader, id: string, number: number, noun: string, content: () => Html): Html {
  return number === 0 ? nothing : disclosure(reader, id, false, html`${count(number, noun)}`, content);
}

/** Worst first. */
export function problemList(problems: readonly Problem[], reader: Reader): Html {
  if (problems.length === 0) return nothing;
  const alike = groupBy(problems, ({ kind, cluster }) => JSON.stringify([kind, cluster]));
  const varied = new Set([...alike.values()].flatMap((all) => all.slice(0, SHOWN_ALIKE)));
  const first = problems.filter((problem) => varied.has(problem)).slice(0, SHOWN);
  const others = problems.filter((problem) => !first.includes(problem));
  const items = (some: readonly Problem[], start: number) =>
    html`<ol class="problems" start="${start}">
      ${some.map((problem) => problemItem(problem, reader))}
    </ol>`;
  const rest = () => items(others, first.length + 1);
  return html`${items(first, 1)} ${more(reader, "more-problems", others.length, "more problem", rest)}`;
}

function problemItem(problem: Problem, reader: Reader): Html {
  const { severity, summary, cluster, since } = problem;
  return html`<li id="${problemId(problem)}" data-level="${severity}">
    ${mark(severity)}
    <div>
      <p class="what"><strong>${inWords(severity)}</strong> <span>${summary}</span></p>
      <p class="meta note">
        ${cluster === undefined ? nothing : html`<a href="#${clusterId(cluster)}">Cluster ${cluster}</a>`}
        ${since === undefined ? nothing : html`<span>${relative("for", since, reader)}, since ${absolute(since)}</span>`}
      </p>
    </div>
  </li> `;
}

/** Latest first; screen readers announce new ones. */
export function eventHistory(events: readonly FleetEvent[], startedAt: string, reader: Reader): Html {
  const earlier = events.slice(SHOWN);
  return html`<h2 id="history-title">What happened</h2>
    <div aria-live="polite" aria-relevant="additions">${eventItems(events.slice(0, SHOWN), reader)}</div>
    ${more(reader, "earlier-events", earlier.length, "earlier event", () => eventItems(earlier, reader))}
    <p class="note">Since the exporter started, ${absolute(startedAt)}.</p>`;
}

function eventItems(events: readonly FleetEvent[], reader: Reader): Html {
  if (events.length === 0) return nothing;
  return html`<ol class="events">
    ${events.map((event) => eventItem(event, reader))}
  </ol>`;
}

function eventItem({ at, kind, summary, cluster }: FleetEvent, reader: Reader): Html {
  const id = keyedId("event", [at, kind, cluster, summary]);
  return html`<li id="${id}" data-kind="${kind}">
    <p class="what"><strong>${inWords(kind)}</strong> <span>${summary}</span></p>
    <p class="meta note">${relative("ago", at, reader)}, ${absolute(at)}, cluster ${cluster}</p>
  </li> `;
}
