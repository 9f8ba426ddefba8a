import { once } from "../../../support/kept.ts";
import type { Strip } from "../../view/strip.ts";
import { html, nothing, type Html } from "./html.ts";

const HEIGHT = 10;
/** The heights of bands: the worse, the higher. Colors alone say nothing in black and white. */
const HEIGHTS = { up: 3, impaired: 6, planned: 8, down: HEIGHT, unknown: HEIGHT } as const;

type Drawn = Pick<Strip, "bins">;

/** The pattern of unknown time, which all strips of a page refer to. */
export const HATCH = html`<svg class="hatch" width="0" height="0" aria-hidden="true">
  <pattern id="hatch" width="1" height="${HEIGHT}" patternUnits="userSpaceOnUse">
    <rect width="0.5" height="${HEIGHT}" />
  </pattern>
</svg>`;

/** Draws a time, with words that say the same. */
export function picture(strip: Drawn, words: string): Html {
  return html`<svg
    class="strip"
    viewBox="0 0 ${strip.bins.length} ${HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${words}"
  >
    ${pathsOf(strip)}
  </svg>`;
}

/** Returns a path for each band; bins in a row are one part of the path. */
const pathsOf = once(({ bins }: Drawn): Html => {
  const parts = { up: "", impaired: "", planned: "", down: "", unknown: "" };
  let begin = 0;
  for (const [nth, band] of bins.entries()) {
    if (bins[nth + 1] === band) continue;
    const height = HEIGHTS[band];
    parts[band] += `M${begin} ${HEIGHT - height}h${nth + 1 - begin}v${height}H${begin}z`;
    begin = nth + 1;
  }
  return html`${Object.entries(parts).flatMap(([band, path]) => {
    if (path === "") return [];
    const fill = band === "unknown" ? html`fill="url(#hatch)"` : nothing;
    return html`<path class="${band}" ${fill} d="${path}" />`;
  })}`;
});
