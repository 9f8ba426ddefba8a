import type { Band } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";

/** A time in which something was known to be in a state. */
export interface Span extends TimeRange {
  /** `unanswered` is unknown time in which the subject was watched, and nobody answered. */
  readonly band: Exclude<Band, "unknown"> | "unanswered";
  /** The state of a subject, with the words of the metrics; absent for a span that follows from several subjects. */
  readonly state?: string | undefined;
}

/** Whether the state in a span is known. */
export function isKnown({ band }: Span): boolean {
  return band !== "unanswered";
}

/** A part of a whole. Its spans are in order, without overlaps; it counts in the whole while it is `present`. */
export interface PartOfWhole {
  readonly known: readonly Span[];
  readonly present: readonly TimeRange[];
}

export function lengthOf({ fromMs, toMs }: TimeRange): number {
  return toMs - fromMs;
}

/** Returns the length of the time that two ranges share. */
export function overlapOf(one: TimeRange, other: TimeRange): number {
  return Math.max(0, Math.min(one.toMs, other.toMs) - Math.max(one.fromMs, other.fromMs));
}

/** Returns the part of a span within a range; none if that part is empty. */
export function clipped<Of extends TimeRange>(span: Of, { fromMs, toMs }: TimeRange): readonly Of[] {
  const part = { ...span, fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) };
  return lengthOf(part) > 0 ? [part] : [];
}

/** Returns the spans of the first list, and those of the others in the gaps of the first list. Both are in order, without overlaps. */
export function overlay(first: readonly Span[], others: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  let place = 0;
  let freeFromMs = Number.NEGATIVE_INFINITY;
  const fillTo = (toMs: number): void => {
    for (let next = others[place]; next !== undefined; next = others[(place += 1)]) {
      all.push(...clipped(next, { fromMs: freeFromMs, toMs }));
      // The rest of this span may fill the next gap.
      if (next.toMs > toMs) break;
    }
  };
  for (const span of first) {
    fillTo(span.fromMs);
    all.push(span);
    freeFromMs = span.toMs;
  }
  fillTo(Number.POSITIVE_INFINITY);
  return all;
}

type Counts = Record<"present" | "known" | "impaired" | "planned" | "down" | "unanswered", number>;

/**
 * Returns the spans of a whole. The whole is down while a member is, or else unanswered while one is. Otherwise, if all members that are present are known, it is planned or
 * impaired while one of them is.
 */
export function whole(members: readonly PartOfWhole[]): readonly Span[] {
  const changes = members.flatMap(({ known, present }) => [
    ...present.flatMap((range) => changesOf("present", range)),
    ...known.flatMap((span) => [
      ...(isKnown(span) ? changesOf("known", span) : []),
      ...(span.band === "up" ? [] : changesOf(span.band, span)),
    ]),
  ]);
  const counts: Counts = { present: 0, known: 0, impaired: 0, planned: 0, down: 0, unanswered: 0 };
  const spans: Span[] = [];
  let fromMs = Number.NEGATIVE_INFINITY;
  for (const { atMs, count, by } of changes.toSorted((one, other) => one.atMs - other.atMs)) {
    const band = bandOf(counts);
    if (band !== undefined && atMs > fromMs) spans.push({ fromMs, toMs: atMs, band });
    counts[count] += by;
    fromMs = atMs;
  }
  return joined(spans);
}

function changesOf(count: keyof Counts, { fromMs, toMs }: TimeRange) {
  return [
    { atMs: fromMs, count, by: 1 },
    { atMs: toMs, count, by: -1 },
  ];
}

function bandOf({ present, known, impaired, planned, down, unanswered }: Counts): Span["band"] | undefined {
  if (down > 0) return "down";
  if (unanswered > 0) return "unanswered";
  if (present === 0 || known < present) return undefined;
  if (planned > 0) return "planned";
  return impaired > 0 ? "impaired" : "up";
}

/** An outage, from its first known instant to its last. */
export interface OutageSpan extends TimeRange {
  /** The known part of it. */
  readonly downMs: number;
}

/** Returns the outages. One that continues after unknown or planned time is one, since nobody saw the subject up. */
export function outagesIn(all: readonly Span[]): readonly OutageSpan[] {
  const spans = all.filter((each) => isKnown(each) && each.band !== "planned");
  const outages: OutageSpan[] = [];
  for (const [nth, span] of spans.entries()) {
    if (span.band !== "down") continue;
    const { fromMs, toMs } = span;
    const last = outages.at(-1);
    const continues = last !== undefined && spans[nth - 1]?.band === "down";
    const downMs = (continues ? last.downMs : 0) + lengthOf(span);
    if (continues) outages[outages.length - 1] = { ...last, toMs, downMs };
    else outages.push({ fromMs, toMs, downMs });
  }
  return outages;
}

/** Joins spans of the same band that touch. */
export function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last?.band === span.band && last.toMs === span.fromMs)
      all[all.length - 1] = { ...last, toMs: span.toMs };
    else all.push(span);
  }
  return all;
}
