import { html, type Html } from "./html.ts";
import type { Standing } from "./standing.ts";

/** `backup`: as it should be, and nothing to look at. */
export type Sign = Standing | "backup";

/** A sign whose shape and colour show a standing; for the eye alone, words beside it say the same. */
export function mark(sign: Sign): Html {
  return html`<span class="mark" data-standing="${sign}" aria-hidden="true"></span>`;
}
