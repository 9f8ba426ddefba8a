import { NOTABLE_MS } from "../../exporter/view/past.ts";
import type { Band } from "../journal/bands.ts";

/** The scale of a time, which is divided into bins of the same length, aligned to the clock in UTC; the last bin is not over. */
export interface Scale {
  readonly binMs: number;
  readonly count: number;
}

/** The lengths of time that a strip can show. */
export const SCALES = {
  day: { binMs: 900_000, count: 96 },
  month: { binMs: 28_800_000, count: 90 },
} as const satisfies Readonly<Record<string, Scale>>;
export type ScaleName = keyof typeof SCALES;

/** The trouble in a bin. */
export interface Bin {
  readonly unknownMs: number;
  /** The part of `unknownMs` in which the subject was watched, and nobody answered. */
  readonly unansweredMs: number;
  readonly downMs: number;
  readonly plannedMs: number;
  /** The number of outages that began in the bin. */
  readonly downs: number;
  /** Whether the first outage of the bin began before the bin. */
  readonly isGoingOn: boolean;
  readonly isImpaired: boolean;
}

/** The bins by their numbers since the epoch. If a bin is missing, the subject was up all the time. */
export type Bins = ReadonlyMap<number, Bin>;

const WELL: Bin = {
  unknownMs: 0,
  unansweredMs: 0,
  downMs: 0,
  plannedMs: 0,
  downs: 0,
  isGoingOn: false,
  isImpaired: false,
};

/** A time in Unix milliseconds in which the band was known, or unknown. `begins` says that another band was before. */
export interface BandSpan {
  readonly band: Band;
  readonly fromMs: number;
  readonly toMs: number;
  readonly begins: boolean;
  /** Whether the subject was watched in unknown time, and nobody answered. */
  readonly isUnanswered?: boolean;
}

/** Returns the bins with one more time, without those that are older than the scale. */
export function withSpan(
  bins: Bins,
  { band, fromMs, toMs, begins, isUnanswered = false }: BandSpan,
  { binMs, count }: Scale,
): Bins {
  const last = Math.ceil(toMs / binMs) - 1;
  const first = Math.max(Math.floor(fromMs / binMs), last - count + 1);
  if (band === "up" || toMs <= fromMs) return bins;
  const next = new Map([...bins].filter(([nth]) => nth > last - count));
  for (let nth = first; nth <= last; nth += 1) {
    const ms = Math.min(toMs, (nth + 1) * binMs) - Math.max(fromMs, nth * binMs);
    const isBegin = begins && fromMs >= nth * binMs;
    next.set(
      nth,
      both(
        next.get(nth) ?? WELL,
        isUnanswered ? { ...WELL, unknownMs: ms, unansweredMs: ms } : binOf(band, ms, isBegin),
      ),
    );
  }
  return next;
}

function binOf(band: Band, ms: number, isBegin: boolean): Bin {
  if (band === "unknown") return { ...WELL, unknownMs: ms };
  if (band === "down") return { ...WELL, downMs: ms, downs: isBegin ? 1 : 0, isGoingOn: !isBegin };
  if (band === "planned") return { ...WELL, plannedMs: ms };
  return { ...WELL, isImpaired: true };
}

/** Joins two bins of times of which the first one is earlier. */
function both(one: Bin, other: Bin): Bin {
  return {
    unknownMs: one.unknownMs + other.unknownMs,
    unansweredMs: one.unansweredMs + other.unansweredMs,
    downMs: one.downMs + other.downMs,
    plannedMs: one.plannedMs + other.plannedMs,
    downs: one.downs + other.downs,
    isGoingOn: one.downMs > 0 ? one.isGoingOn : other.isGoingOn,
    isImpaired: one.isImpaired || other.isImpaired,
  };
}

/** Returns the bins of a time that begins at an instant with an outage from before. */
export function goingOn(bins: Bins, atMs: number, { binMs }: Scale): Bins {
  const nth = Math.floor(atMs / binMs);
  const bin = bins.get(nth);
  return bin === undefined
    ? bins
    : new Map([...bins, [nth, { ...bin, downs: bin.downs - 1, isGoingOn: true }]]);
}

/** Joins the bins of two times of which the first one is earlier. */
export function together(one: Bins, other: Bins): Bins {
  return new Map([
    ...one,
    ...Array.from(other, ([nth, bin]) => [nth, both(one.get(nth) ?? WELL, bin)] as const),
  ]);
}

/** Returns the worst known band of a bin; `unknown` if most of the bin is unknown, or nobody answered for a minute. */
export function bandIn(
  { unknownMs, unansweredMs, downMs, plannedMs, isImpaired }: Omit<Bin, "downs" | "isGoingOn">,
  binMs: number,
): Band {
  if (downMs > 0) return "down";
  if (unknownMs * 2 > binMs || unansweredMs >= NOTABLE_MS) return "unknown";
  if (plannedMs > 0) return "planned";
  return isImpaired ? "impaired" : "up";
}
