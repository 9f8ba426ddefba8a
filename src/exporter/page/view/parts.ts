import type { AlertName } from "../../judge/alerts.ts";
import type { Sign } from "../../view/row.ts";
import { absoluteTime, clockTime, relativeTime, type Wording } from "../../view/time.ts";
import { shortHash } from "../../../support/short-hash.ts";
import { count } from "../../../support/text.ts";
import { html, nothing, type Html } from "./html.ts";

/** The view of one reader, besides the filter. */
export interface Reader {
  /** The Unix time of the page in milliseconds. */
  readonly nowMs: number;
  /** The ids of the elements that the reader opened or closed. The page decides about all others. */
  readonly opened: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
  /** The query of the whole page, in which links open elements without a script; `undefined` for the script. */
  readonly address?: string | undefined;
}

/** Reads the query of a URL, whose parameters `open` and `closed` are ids. */
export function readReader(query: URLSearchParams, nowMs: number): Reader {
  const address = query.has("fragment") ? undefined : `?${query.toString()}`;
  return { nowMs, opened: new Set(query.getAll("open")), closed: new Set(query.getAll("closed")), address };
}

/** Returns content below a line that opens and closes the content. The script requests the content when the reader opens it. */
export function disclosure(reader: Reader, id: string, line: Html, body: () => Html): Html {
  const { opened, closed, address } = reader;
  const isOpen = opened.has(id) && !closed.has(id);
  const content = isOpen ? body() : address === undefined ? nothing : loadLink(id, address);
  return html`<details id="${id}" ${isOpen ? html`open` : nothing}>
    <summary>${line}</summary>
    <div class="body">${content}</div>
  </details>`;
}

/** Returns the link that opens an element without a script. */
function loadLink(id: string, address: string): Html {
  const href = `${address}${address === "?" ? "" : "&"}open=${id}#${id}`;
  return html`<a class="load" href="${href}">Show</a>`;
}

/** Returns `3 more problems`, a line that opens the rest of a list; nothing if there are none. */
export function more(reader: Reader, id: string, number: number, noun: string, content: () => Html): Html {
  return number === 0 ? nothing : disclosure(reader, id, html`${count(number, noun)}`, content);
}

/** Returns a short id made from the identity of a problem, by which the browser finds the element again. */
export function keyedId(key: readonly unknown[]): string {
  return `problem-${shortHash(key)}`;
}

/** Returns the id of a cluster's element, one for each name. The id needs no escaping in a URL or a selector. */
export function clusterId(name: string): string {
  return `cluster-${name.replace(/[^A-Za-z0-9.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}_`)}`;
}

/** Returns a link to the section of the runbook about an alert. */
export function runbookLink(alert: AlertName): Html {
  return html`<a href="runbook#${alert.toLowerCase()}">Runbook: ${alert}</a>`;
}

/** Returns a sign of its own shape and color for each level. The words beside the sign say the same to screen readers. */
export function mark(sign: Sign | "master"): Html {
  return html`<i class="mark" data-level="${sign}"></i>`;
}

/** Returns words that only screen readers and style sheets of other kinds read, where a sign or a column says the same. */
export function spoken(words: string): Html {
  return html`<span class="hidden-visually">${words} </span>`;
}

export function labelList(labels: Readonly<Record<string, string>>): Html {
  const entries = Object.entries(labels);
  if (entries.length === 0) return nothing;
  const items = entries.map(([name, value]) => html`<span>${name}=${value}</span> `);
  return html`<span class="labels">${items}</span>`;
}

/** Returns an instant relative to now, with the absolute time as its title. */
export function relative(wording: Wording, at: string, { nowMs }: Reader): Html {
  return timeOf(at, relativeTime(wording, Date.parse(at), nowMs));
}

/** Returns words about an instant, with the absolute time as their title. */
export function timeOf(at: string, words: string): Html {
  return html`<time datetime="${at}" title="${absoluteTime(at)}">${words}</time>`;
}

/** Returns the time of day, with the date if it is another day; the script shows it in the reader's zone. */
export function clock(at: string, { nowMs }: Pick<Reader, "nowMs">): Html {
  return html`<time data-clock datetime="${at}" title="${absoluteTime(at)}">${clockTime(at, nowMs)}</time>`;
}

export function absolute(at: string): Html {
  return html`<time datetime="${at}">${absoluteTime(at)}</time>`;
}
