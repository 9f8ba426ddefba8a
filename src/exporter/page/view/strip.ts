import type { Strip } from "../../view/strip.ts";
import { html, nothing, type Html } from "./html.ts";

const HEIGHT = 10;
/** The heights of bands: the worse, the higher. What is not known is a hairline. Colors alone say nothing in black and white. */
const HEIGHTS = { up: 3, impaired: 6, planned: 8, down: HEIGHT, unknown: 0.8 } as const;

type Drawn = Pick<Strip, "bins"> & Partial<Pick<Strip, "beginMs" | "binMs" | "sinceMs">>;

/** From the best to the worst. A bin of which one part is not known is not up. */
const WORSE = ["up", "unknown", "impaired", "planned", "down"] as const;

/** Returns the worst of strips of one scale, bin by bin, since the first of them is known. */
export function worstOf(strips: readonly Strip[]): Drawn {
  const [first, ...others] = strips;
  if (first === undefined || others.length === 0) return first ?? { bins: [] };
  const ranks = first.bins.map((_, nth) => Math.max(...strips.map(({ bins }) => rankOf(bins[nth]))));
  const bins = ranks.map((rank) => WORSE[rank] ?? "unknown");
  return { ...first, bins, sinceMs: Math.min(...strips.map(({ sinceMs }) => sinceMs)) };
}

function rankOf(band: Strip["bins"][number] = "unknown"): number {
  return WORSE.indexOf(band);
}

/** Draws a time, with words that say the same. `isReadable`: the keyboard reaches it, to read it bin by bin. */
export function picture(strip: Drawn, words: string, isReadable = false): Html {
  return html`<svg
    class="strip"
    viewBox="0 0 ${strip.bins.length} ${HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    ${isReadable ? html`tabindex="0"` : nothing}
    aria-label="${words}"
  >
    ${pathsOf(strip)}
  </svg>`;
}

/** Draws one bin, for a legend whose words stand beside it. */
export function swatch(band: Strip["bins"][number]): Html {
  return html`<svg class="strip" viewBox="0 0 1 ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    ${pathsOf({ bins: [band] })}
  </svg>`;
}

/** Returns a path for each band; bins in a row are one part of the path. Nothing is drawn of the time before the subject was known. */
function pathsOf({ bins, beginMs = 0, binMs = 1, sinceMs = 0 }: Drawn): Html {
  const parts = { up: "", impaired: "", planned: "", down: "", unknown: "" };
  let begin = Math.max(0, Math.floor((sinceMs - beginMs) / binMs));
  for (const [nth, band] of bins.entries()) {
    if (bins[nth + 1] === band || nth < begin) continue;
    const height = HEIGHTS[band];
    parts[band] += `M${begin} ${HEIGHT - height}h${nth + 1 - begin}v${height}H${begin}z`;
    begin = nth + 1;
  }
  return html`${Object.entries(parts).flatMap(([band, path]) => {
    return path === "" ? [] : [html`<path class="${band}" d="${path}" />`];
  })}`;
}
