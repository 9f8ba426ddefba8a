import { html, type Html } from "./html.ts";
import { mark, type Sign } from "./mark.ts";
import type { Standing } from "./standing.ts";

/** A row of a cluster's table: what it is about, how that is in words, and a cell for each appliance. */
export interface Row {
  readonly key: string;
  readonly title: Html;
  readonly standing: Standing;
  readonly words: Html;
  readonly cells: readonly Html[];
}

export function row({ key, title, standing, words, cells }: Row): Html {
  return html`<tr data-key="${key}" data-standing="${standing}">
    <th scope="row"><span class="title">${title}</span> <span class="words">${words}</span></th>
    ${cells}
  </tr> `;
}

/** A cell that shows a state: a sign, the state itself, and what else there is to say. */
export function stateCell(sign: Sign, state: string, more: Html): Html {
  return html`<td data-standing="${sign}">
    <span class="state">${mark(sign)}<strong>${state}</strong></span> <span class="more">${more}</span>
  </td> `;
}

/** Where there is nothing that could be well or not. */
export function emptyCell(why: string): Html {
  return html`<td class="empty">
    <span aria-hidden="true">–</span> <span class="hidden-visually">${why}</span>
  </td> `;
}
