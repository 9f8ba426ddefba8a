import { html, nothing, type Html } from "./html.ts";
import { count } from "./words.ts";

/** What a filter leaves of the clusters; nothing where it leaves them all. */
export function narrowedNote(shown: number, all: number): Html {
  if (shown === all) return nothing;
  if (shown === 0) return html`No cluster matches the filter.`;
  return html`${shown} of ${count(all, "cluster")} shown.`;
}

/** Of what a filter keeps out, how much there is, and the way to it; `noun`: of one of them. */
export function outsideFilter(hidden: number, noun: string): Html {
  return html`<p class="note">${count(hidden, noun)} outside the filter. <a href="?">Show everything</a></p>`;
}
