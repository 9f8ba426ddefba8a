import type { Level } from "../../status/severity.ts";
import { html, nothing, type Html } from "./html.ts";
import { isOpen, type Reader } from "./reader.ts";
import { absoluteTime, relativeTime, type Wording } from "./time.ts";

/** `backup`: as it should be. */
export type Sign = Level | "backup";

/** A sign of its own shape and color for each level. Words beside it say the same to screen readers. */
export function mark(sign: Sign): Html {
  return html`<span class="mark" data-level="${sign}" aria-hidden="true"></span>`;
}

export function labelList(labels: Readonly<Record<string, string>>): Html {
  const entries = Object.entries(labels);
  if (entries.length === 0) return nothing;
  const items = entries.map(([name, value]) => html`<span>${name}=${value}</span> `);
  return html`<span class="labels">${items}</span>`;
}

/** An instant relative to now; its title is the absolute time. */
export function relative(wording: Wording, at: string, { nowMs }: Pick<Reader, "nowMs">): Html {
  const words = relativeTime(wording, Date.parse(at), nowMs);
  return html`<time datetime="${at}" title="${absoluteTime(at)}">${words}</time>`;
}

export function absolute(at: string): Html {
  return html`<time datetime="${at}">${absoluteTime(at)}</time>`;
}

/** More of a list, closed until the reader opens it. */
export function more(reader: Reader, id: string, summary: string, content: () => Html): Html {
  const isShown = isOpen(reader, id, false);
  return html`<details class="more" id="${id}" ${isShown ? html`open` : nothing}>
    <summary>${summary}</summary>
    ${isShown || reader.withClosed ? content() : nothing}
  </details>`;
}

/** A row of a cluster's table: a subject, its state in words, and a cell for each appliance. */
export interface Row {
  readonly title: Html;
  readonly level: Level;
  readonly words: Html;
  readonly cells: readonly Html[];
}

export function row({ title, level, words, cells }: Row): Html {
  return html`<tr class="row" data-level="${level}">
    <th scope="row"><span class="title">${title}</span> <span class="words">${words}</span></th>
    ${cells}
  </tr> `;
}

/** A cell with a state: its sign, its name and details. */
export function stateCell(sign: Sign, state: string, details: Html): Html {
  return html`<td data-level="${sign}">
    <span class="state">${mark(sign)}<strong>${state}</strong></span> <span class="more">${details}</span>
  </td> `;
}

/** A cell to which the row does not apply; `why` is for screen readers. */
export function emptyCell(why: string): Html {
  return html`<td class="empty">
    <span aria-hidden="true">–</span> <span class="hidden-visually">${why}</span>
  </td> `;
}
