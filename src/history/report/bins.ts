import type { Band } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";
import { bandIn, SCALES, withSpan, type Bins, type BandSpan } from "../timeline/bins.ts";
import { NOTABLE_MS } from "../../exporter/view/past.ts";
import { isKnown, lengthOf, overlapOf, type Span } from "./spans.ts";

/** The length of a bin, which is the same as in the timelines of 30 days. The bins begin with the range, at midnight in its time zone. */
const { binMs } = SCALES.month;

/** Returns the worst band in each eight hours of a range of time; a minute without an answer counts as unknown. */
export function binsOf(spans: readonly Span[], range: TimeRange): readonly Band[] {
  const count = Math.ceil(lengthOf(range) / binMs);
  const bins = withGaps(spans, range).reduce<Bins>(
    (some, { band, fromMs, toMs }) =>
      withSpan(
        some,
        { band, fromMs: fromMs - range.fromMs, toMs: toMs - range.fromMs, begins: true },
        { binMs, count },
      ),
    new Map(),
  );
  return Array.from({ length: count }, (_, nth) => {
    const bin = bins.get(nth);
    const fromMs = range.fromMs + nth * binMs;
    const toMs = Math.min(fromMs + binMs, range.toMs);
    const band = bin === undefined ? "up" : bandIn(bin, toMs - fromMs);
    const unanswered = spans.filter((each) => !isKnown(each));
    const unansweredMs = unanswered.reduce((ms, each) => ms + overlapOf(each, { fromMs, toMs }), 0);
    return band !== "down" && unansweredMs >= NOTABLE_MS ? "unknown" : band;
  });
}

/** Returns the spans, and the time between them as unknown. */
function withGaps(spans: readonly Span[], range: TimeRange): readonly Omit<BandSpan, "begins">[] {
  const ends = [range.fromMs, ...spans.map(({ toMs }) => toMs)];
  const begins = [...spans.map(({ fromMs }) => fromMs), range.toMs];
  return ends.flatMap((fromMs, nth) => {
    const gap = { band: "unknown", fromMs, toMs: begins[nth] ?? range.toMs } as const;
    const next = spans[nth];
    if (next === undefined) return [gap];
    return [gap, { ...next, band: next.band === "unanswered" ? "unknown" : next.band }];
  });
}
