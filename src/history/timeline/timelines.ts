import { bandOf, type Band } from "../journal/bands.ts";
import { createFold, type LastingRecord } from "../journal/fold.ts";
import {
  endsKnowledge,
  isSubject,
  subjectKey,
  type JournalRecord,
  type RecordSubject,
  type SubjectRecord,
} from "../journal/record.ts";
import { memo } from "../../support/kept.ts";
import type { Strip, Strips, StripSubject } from "../../exporter/view/strip.ts";
import {
  bandIn,
  goingOn,
  SCALES,
  together,
  withSpan,
  type Bins,
  type Scale,
  type ScaleName,
  type BandSpan,
} from "./bins.ts";

/** The states of subjects in the last 30 days, in memory. */
export interface Timelines extends Pick<Strips, "strip"> {
  read(record: JournalRecord): void;
  /** Ends all states that are known. Returns the past, by subject. */
  end(): Tracks;
  /** Puts an earlier past in front. */
  addPast(past: Tracks): void;
  /** A strip is the same object for ten seconds, while nothing changes. */
  strip(of: StripSubject | RecordSubject, scale: ScaleName, nowMs: number): Strip | undefined;
}

const EXPORTER = "exporter";
const SAME_MS = 10_000;
/** The limit of a cluster's subjects. The page shows fewer strips. Further subjects, which an appliance may invent, take no memory. */
const MAX_SUBJECTS = 512;

/** The past of a subject until `toMs`; its present state is kept elsewhere. */
interface Track {
  readonly fromMs: number;
  readonly toMs: number;
  /** The first band that is neither unknown nor planned, and when it began; `band` is the last one. Unknown if there is none. */
  readonly firstBand: Band;
  readonly firstMs: number;
  readonly band: Band;
  readonly bins: Readonly<Record<ScaleName, Bins>>;
}

/** The present run of the exporter, until its latest record. */
interface PresentRun {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** The bins of most subjects. */
const WELL: Track["bins"] = { day: new Map(), month: new Map() };

type Tracks = ReadonlyMap<string, Track>;
type KnownSpan = Pick<BandSpan, "band" | "fromMs" | "toMs">;

export function createTimelines(): Timelines {
  const tracks = new Map<string, Track>();
  const fold = createFold(
    (record, fromMs, toMs) => {
      const band = bandOf(record);
      if (band !== "changing") add(subjectKey(record), { band, fromMs, toMs });
    },
    (record, fromMs, toMs) => {
      const [key, time] = [subjectKey(record), { fromMs, toMs }];
      const track = tracks.get(key);
      if (track !== undefined) tracks.set(key, withUnanswered(track, time));
    },
  );
  const followed = new Map<string, Set<string>>();
  /** The subjects of each cluster that a reload removed, the latest ones last. Another reload may add them again. */
  const gone = new Map<string, Set<string>>();
  let run: PresentRun | undefined;

  function add(key: string, known: KnownSpan): void {
    tracks.set(key, withKnown(tracks.get(key), known));
  }

  function endRun(): void {
    if (run !== undefined) add(EXPORTER, { band: "up", fromMs: run.sinceMs, toMs: run.untilMs });
  }

  function follow(record: JournalRecord): void {
    const atMs = Date.parse(record.at);
    const begins = record.kind === "run" && endsKnowledge(record);
    if (begins) endRun();
    const sinceMs = begins || run === undefined ? atMs : run.sinceMs;
    run = { sinceMs, untilMs: Math.max(atMs, sinceMs) };
  }

  /** Whether there is a place for a subject among those of its cluster. */
  function isFollowed({ cluster }: SubjectRecord, key: string): boolean {
    const known = followed.get(cluster) ?? new Set<string>();
    if (known.size < MAX_SUBJECTS) followed.set(cluster, known.add(key));
    if (known.has(key)) gone.get(cluster)?.delete(key);
    return known.has(key);
  }

  function remove({ cluster }: SubjectRecord, key: string): void {
    followed.get(cluster)?.delete(key);
    const removed = gone.get(cluster) ?? new Set<string>();
    gone.set(cluster, removed.add(key));
    const [oldest = key] = removed;
    if (removed.size <= MAX_SUBJECTS) return;
    removed.delete(oldest);
    tracks.delete(oldest);
  }

  return {
    read: (record) => {
      follow(record);
      const key = isSubject(record) ? subjectKey(record) : undefined;
      if (isSubject(record) && key !== undefined && !isFollowed(record, key)) return;
      fold.read(record, key);
      if (isSubject(record) && key !== undefined && record.state === "gone") remove(record, key);
    },
    end: () => {
      fold.end();
      endRun();
      return tracks;
    },
    addPast: (past) => {
      for (const [key, track] of past) tracks.set(key, joined(track, tracks.get(key)));
    },
    strip: (of, scale, nowMs) => {
      const key = of.kind === EXPORTER ? EXPORTER : subjectKey(of);
      const before = tracks.get(key);
      const lasting = of.kind === EXPORTER ? run : fold.lasting.get(key);
      const turnMs = Math.floor(nowMs / SAME_MS) * SAME_MS;
      const silentSinceMs = fold.unanswered.get(key)?.sinceMs;
      const known = lasting ?? before;
      return known && stripOf(known, { before, lasting, silentSinceMs, scale, turnMs });
    },
  };
}

interface StripInputs {
  readonly before: Track | undefined;
  readonly lasting: LastingRecord | PresentRun | undefined;
  /** The Unix time since which nobody answers; `undefined` if somebody does. */
  readonly silentSinceMs: number | undefined;
  readonly scale: ScaleName;
  readonly turnMs: number;
}

const stripOf = memo(({ before, lasting, silentSinceMs, scale, turnMs }: StripInputs): Strip | undefined => {
  const fromMs = lasting?.sinceMs ?? 0;
  const nowMs = Math.max(turnMs, fromMs, before?.toMs ?? 0, silentSinceMs ?? 0);
  const band = lasting && ("record" in lasting ? bandOf(lasting.record) : "up");
  const isKnown = band !== undefined && band !== "changing";
  const silent =
    before === undefined || silentSinceMs === undefined
      ? before
      : withUnanswered(before, { fromMs: silentSinceMs, toMs: nowMs });
  const track = isKnown ? withKnown(before, { band, fromMs, toMs: nowMs }) : silent;
  return track && stripAt(track, scale, nowMs);
});

/** Adds a later time to a track; the time between is unknown. */
function withKnown(track: Track | undefined, known: KnownSpan): Track {
  const { fromMs, toMs, band } = known;
  const before = track ?? { ...NO_BAND, fromMs, toMs: fromMs, firstMs: fromMs, bins: WELL };
  // A band that is the same after unknown or planned time continues, since nobody saw another one.
  const begins = before.band !== band;
  const gap = { band: "unknown", fromMs: before.toMs, toMs: fromMs, begins: true } as const;
  const bins = withSpans(before.bins, [gap, { ...known, begins }]);
  if (band === "planned" || band === "unknown") return { ...before, toMs, bins };
  const first = before.firstBand === "unknown" ? { firstBand: band, firstMs: fromMs } : {};
  return { ...before, ...first, toMs, band, bins };
}

const NO_BAND = { firstBand: "unknown", band: "unknown" } as const;

/** Adds a later time in which nobody answered to a track, whose band continues after it if it is the same. */
function withUnanswered(track: Track, { fromMs, toMs }: Pick<KnownSpan, "fromMs" | "toMs">): Track {
  const gap = { band: "unknown", fromMs: track.toMs, toMs: fromMs, begins: true } as const;
  const silent = { band: "unknown", fromMs, toMs, begins: true, isUnanswered: true } as const;
  return { ...track, toMs, bins: withSpans(track.bins, [gap, silent]) };
}

function withSpans(bins: Track["bins"], spans: readonly BandSpan[]): Track["bins"] {
  return inScales(bins, (some, scale) => spans.reduce((filled, span) => withSpan(filled, span, scale), some));
}

function inScales(bins: Track["bins"], filled: (bins: Bins, scale: Scale) => Bins): Track["bins"] {
  const [day, month] = [filled(bins.day, SCALES.day), filled(bins.month, SCALES.month)];
  return day === bins.day && month === bins.month ? bins : { day, month };
}

/** Joins a track and a later one. */
function joined(past: Track, later: Track | undefined): Track {
  if (later === undefined) return past;
  const gap = { band: "unknown", fromMs: past.toMs, toMs: later.fromMs, begins: true } as const;
  const bins = withSpans(past.bins, [gap]);
  const isSameOutage = past.band === "down" && later.firstBand === "down";
  const { day, month } = isSameOutage
    ? inScales(later.bins, (some, scale) => goingOn(some, later.firstMs, scale))
    : later.bins;
  return {
    ...later,
    fromMs: past.fromMs,
    ...(past.firstBand === "unknown" ? {} : { firstBand: past.firstBand, firstMs: past.firstMs }),
    ...(later.band === "unknown" && { band: past.band }),
    bins: { day: together(bins.day, day), month: together(bins.month, month) },
  };
}

function stripAt(track: Track, name: ScaleName, nowMs: number): Strip {
  const { binMs, count } = SCALES[name];
  const last = Math.ceil(nowMs / binMs) - 1;
  const first = last - count + 1;
  const beginMs = first * binMs;
  // Nothing is known after the end of the track and before its beginning.
  const gap = { band: "unknown", fromMs: track.toMs, toMs: nowMs, begins: true } as const;
  const bins = withSpan(track.bins[name], gap, SCALES[name]);
  const own = Array.from({ length: count }, (_, nth) => bins.get(first + nth));
  const sumOf = (of: "unknownMs" | "unansweredMs" | "downMs" | "plannedMs" | "downs"): number =>
    own.reduce((sum, bin) => sum + (bin?.[of] ?? 0), 0);
  const [unknownMs, downMs, plannedMs] = [sumOf("unknownMs"), sumOf("downMs"), sumOf("plannedMs")];
  const sinceMs = Math.max(beginMs, track.fromMs);
  const isFromBefore = own.find((bin) => bin !== undefined && bin.downMs > 0)?.isGoingOn === true;
  return {
    bins: own.map((bin, nth) => {
      const isBefore = beginMs + (nth + 1) * binMs <= track.fromMs;
      if (isBefore) return "unknown";
      return bin === undefined ? "up" : bandIn(bin, binMs);
    }),
    beginMs,
    binMs,
    upMs: nowMs - sinceMs - unknownMs - downMs - plannedMs,
    downMs,
    downs: sumOf("downs") + (isFromBefore ? 1 : 0),
    plannedMs,
    sinceMs,
    unknownMs,
    unansweredMs: sumOf("unansweredMs"),
  };
}
