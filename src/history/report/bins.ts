import type { Band } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";
import { bandIn, SCALES, withSpan, type Bins, type BandSpan } from "../timeline/bins.ts";
import { lengthOf, type Span } from "./spans.ts";

/** The length of a bin, which is the same as in the timelines of 30 days. The bins begin with the range, at midnight in its time zone. */
const { binMs } = SCALES.month;

/** Returns the worst band in each eight hours of a range of time. */
export function binsOf(spans: readonly Span[], range: TimeRange): readonly Band[] {
  const count = Math.ceil(lengthOf(range) / binMs);
  const bins = withGaps(spans, range).reduce<Bins>(
    (some, { band, fromMs, toMs, isUnanswered = false }) =>
      withSpan(
        some,
        { band, fromMs: fromMs - range.fromMs, toMs: toMs - range.fromMs, begins: true, isUnanswered },
        { binMs, count },
      ),
    new Map(),
  );
  return Array.from({ length: count }, (_, nth) => {
    const bin = bins.get(nth);
    return bin === undefined ? "up" : bandIn(bin, Math.min(binMs, lengthOf(range) - nth * binMs));
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
    const { band } = next;
    return [
      gap,
      band === "unanswered" ? { ...next, band: "unknown", isUnanswered: true } : { ...next, band },
    ];
  });
}
