import type { Band } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";
import { bandIn } from "../timeline/bins.ts";
import { lengthOf, overlapOf, type Span } from "./spans.ts";

/** The length of a bin, which is the same as in the timelines of 30 days. */
const BIN_MS = 28_800_000;

/** Returns the worst band in each eight hours of a range of time. */
export function binsOf(spans: readonly Span[], range: TimeRange): readonly Band[] {
  const ranges = Array.from({ length: Math.ceil(lengthOf(range) / BIN_MS) }, (_, nth) => {
    const fromMs = range.fromMs + nth * BIN_MS;
    return { fromMs, toMs: Math.min(fromMs + BIN_MS, range.toMs) };
  });
  let place = 0;
  return ranges.map((bin) => {
    let [downMs, plannedMs, knownMs, isImpaired] = [0, 0, 0, false];
    for (let span = spans[place]; span !== undefined && span.fromMs < bin.toMs; span = spans[(place += 1)]) {
      const ms = overlapOf(span, bin);
      knownMs += ms;
      if (span.band === "down") downMs += ms;
      if (span.band === "planned") plannedMs += ms;
      isImpaired ||= span.band === "impaired";
      // The rest of the span is in the next bin.
      if (span.toMs > bin.toMs) break;
    }
    const unknownMs = lengthOf(bin) - knownMs;
    return bandIn({ unknownMs, downMs, plannedMs, isImpaired }, lengthOf(bin));
  });
}
