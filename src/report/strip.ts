import type { Band } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";
import { html, type Html } from "../page/view/html.ts";
import { keysOf } from "../support/keys.ts";
import { lengthOf, overlapOf, type Span } from "./spans.ts";

const BIN_MS = 7_200_000;
const HEIGHT = 20;
/** The worst band is the last one. A worse one is higher: colors alone say nothing in black and white. */
const HEIGHTS: Readonly<Record<Band, number>> = { up: 5, unknown: HEIGHT, impaired: 11, down: HEIGHT };
const BANDS = keysOf(HEIGHTS);

/** The fill of what is unknown. A document needs it once. */
export const hatching: Html = html`<svg width="0" height="0" aria-hidden="true">
  <pattern id="hatching" width="2" height="${HEIGHT}" patternUnits="userSpaceOnUse">
    <rect width="1" height="${HEIGHT}" />
  </pattern>
</svg>`;

/** Draws the worst band in each two hours of a range of time. The figures beside it say the same to screen readers. */
export function strip(spans: readonly Span[], range: TimeRange): Html {
  const bins = binsOf(spans, range);
  const paths = BANDS.flatMap((band) => {
    const runs = bins.flatMap((each, place) =>
      each === band && bins[place - 1] !== band ? runFrom(place, bins) : [],
    );
    return runs.length === 0 ? [] : html`<path class="${band}" d="${runs.join("")}" />`;
  });
  return html`<svg
    class="strip"
    viewBox="0 0 ${bins.length} ${HEIGHT}"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${paths}
  </svg>`;
}

/** A rectangle for the bins of one band from a place on. */
function runFrom(place: number, bins: readonly Band[]): string {
  const band = bins[place] ?? "unknown";
  const end = bins.findIndex((each, nth) => nth > place && each !== band);
  const [width, height] = [(end < 0 ? bins.length : end) - place, HEIGHTS[band]];
  return `M${place} ${HEIGHT - height}h${width}v${height}h-${width}z`;
}

function binsOf(spans: readonly Span[], range: TimeRange): readonly Band[] {
  const ranges = Array.from({ length: Math.ceil(lengthOf(range) / BIN_MS) }, (_, nth) => {
    const fromMs = range.fromMs + nth * BIN_MS;
    return { fromMs, toMs: Math.min(fromMs + BIN_MS, range.toMs) };
  });
  let place = 0;
  return ranges.map((bin) => {
    let [worst, knownMs] = [0, 0];
    for (let span = spans[place]; span !== undefined && span.fromMs < bin.toMs; span = spans[(place += 1)]) {
      worst = Math.max(worst, BANDS.indexOf(span.band));
      knownMs += overlapOf(span, bin);
      // The rest of it is in the next bin.
      if (span.toMs > bin.toMs) break;
    }
    const unknown = knownMs < lengthOf(bin) ? BANDS.indexOf("unknown") : 0;
    return BANDS[Math.max(worst, unknown)] ?? "unknown";
  });
}
