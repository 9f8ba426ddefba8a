import { bandOf, type Band } from "../journal/bands.ts";
import { createFold } from "../journal/fold.ts";
import { isSubject, subjectKey, type JournalRecord } from "../journal/record.ts";
import { bandIn, SCALES, together, withSpan, type Bins, type ScaleName, type Span } from "./bins.ts";

/** How a subject was in the last 24 hours or 30 days: some bins that end now, and exact sums. */
export interface Strip {
  readonly bins: readonly Band[];
  /** The Unix time at which the first bin begins. */
  readonly beginMs: number;
  /** How much of the time is known, and the part of that in which it was up; `undefined` if nothing is known. */
  readonly knownMs: number;
  readonly availability: number | undefined;
  readonly downMs: number;
  readonly downs: number;
  /** Since it is known; what was before does not count. */
  readonly unknownMs: number;
}

/** How subjects were in the last 30 days, in memory. */
export interface Timelines {
  read(record: JournalRecord): void;
  /** Nothing more is known. Returns what was, by subject. */
  end(): Tracks;
  /** Puts what was before in front. */
  addPast(past: Tracks): void;
  /** `key`: the subject, or EXPORTER; `undefined` if nothing is known of it. */
  strip(key: string, scale: ScaleName, nowMs: number): Strip | undefined;
}

/** The exporter itself is up while it judges. */
export const EXPORTER = "exporter";

/** What was known of a subject until `toMs`; what it is now is known besides. */
interface Track {
  readonly fromMs: number;
  readonly toMs: number;
  readonly band: Band;
  readonly bins: Readonly<Record<ScaleName, Bins>>;
}

/** Most subjects have these. */
const WELL: Track["bins"] = { day: new Map(), month: new Map() };

type Tracks = ReadonlyMap<string, Track>;
type Known = Pick<Span, "band" | "fromMs" | "toMs">;

export function createTimelines(): Timelines {
  const tracks = new Map<string, Track>();
  const fold = createFold((record, fromMs, toMs) => {
    const band = bandOf(record);
    if (band !== "changing") add(subjectKey(record), { band, fromMs, toMs });
  });
  /** The present run of the exporter, until its latest record. */
  let run: { readonly fromMs: number; readonly toMs: number } | undefined;

  function add(key: string, known: Known): void {
    tracks.set(key, withKnown(tracks.get(key), known));
  }

  function follow({ at, kind, ...record }: JournalRecord): void {
    const atMs = Date.parse(at);
    const isBreak = kind === "run" && "why" in record && record.why !== "day";
    if (isBreak && run !== undefined) add(EXPORTER, { band: "up", ...run });
    const fromMs = isBreak || run === undefined ? atMs : run.fromMs;
    run = { fromMs, toMs: Math.max(atMs, fromMs) };
  }

  return {
    read: (record) => {
      follow(record);
      fold.read(record);
      if (isSubject(record) && record.state === "gone") tracks.delete(subjectKey(record));
    },
    end: () => {
      fold.end();
      if (run !== undefined) add(EXPORTER, { band: "up", ...run });
      return tracks;
    },
    addPast: (past) => {
      for (const [key, track] of past) tracks.set(key, joined(track, tracks.get(key)));
    },
    strip: (key, scale, nowMs) => {
      const lasting = fold.lasting.get(key);
      const band = lasting && bandOf(lasting.record);
      const isKnown = lasting !== undefined && band !== undefined && band !== "changing";
      const current = isKnown ? { band, fromMs: lasting.sinceMs, toMs: nowMs } : undefined;
      const own = run && { band: "up" as const, fromMs: run.fromMs, toMs: nowMs };
      const known = key === EXPORTER ? own : current;
      const before = tracks.get(key);
      const track = known === undefined ? before : withKnown(before, known);
      return track && stripOf(track, scale, nowMs);
    },
  };
}

/** What was known, and a later time; what is between is unknown. */
function withKnown(track: Track | undefined, known: Known): Track {
  const { fromMs, toMs, band } = known;
  const before = track ?? {
    fromMs,
    toMs: fromMs,
    band: "unknown",
    bins: WELL,
  };
  const begins = before.band !== band || before.toMs < fromMs;
  const gap = { band: "unknown", fromMs: before.toMs, toMs: fromMs, begins: true } as const;
  const bins = withSpans(before.bins, [gap, { ...known, begins }]);
  return { fromMs: before.fromMs, toMs, band, bins };
}

function withSpans(bins: Track["bins"], spans: readonly Span[]): Track["bins"] {
  const filled = (scale: ScaleName): Bins =>
    spans.reduce((some, span) => withSpan(some, span, SCALES[scale]), bins[scale]);
  const [day, month] = [filled("day"), filled("month")];
  return day === bins.day && month === bins.month ? bins : { day, month };
}

/** A track and what came later. */
function joined(past: Track, later: Track | undefined): Track {
  if (later === undefined) return past;
  const gap = { band: "unknown", fromMs: past.toMs, toMs: later.fromMs, begins: true } as const;
  const bins = withSpans(past.bins, [gap]);
  return {
    ...later,
    fromMs: past.fromMs,
    bins: { day: together(bins.day, later.bins.day), month: together(bins.month, later.bins.month) },
  };
}

function stripOf(track: Track, name: ScaleName, nowMs: number): Strip {
  const { binMs, count } = SCALES[name];
  const last = Math.ceil(nowMs / binMs) - 1;
  const first = last - count + 1;
  const beginMs = first * binMs;
  // Nothing is known behind its end and before its beginning.
  const gap = { band: "unknown", fromMs: track.toMs, toMs: nowMs, begins: true } as const;
  const bins = withSpan(track.bins[name], gap, SCALES[name]);
  const own = Array.from({ length: count }, (_, nth) => bins.get(first + nth));
  const sumOf = (of: "unknownMs" | "downMs" | "downs"): number =>
    own.reduce((sum, bin) => sum + (bin?.[of] ?? 0), 0);
  const [unknownMs, downMs] = [sumOf("unknownMs"), sumOf("downMs")];
  const knownMs = nowMs - Math.max(beginMs, track.fromMs) - unknownMs;
  return {
    bins: own.map((bin, nth) => {
      const isBefore = beginMs + (nth + 1) * binMs <= track.fromMs;
      if (isBefore) return "unknown";
      return bin === undefined ? "up" : bandIn(bin, binMs);
    }),
    beginMs,
    knownMs,
    availability: knownMs > 0 ? (knownMs - downMs) / knownMs : undefined,
    downMs,
    downs: sumOf("downs"),
    unknownMs,
  };
}
