import { bandOf } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";
import { createFold, isBreak } from "../journal/fold.ts";
import { isSubject, subjectKey, type JournalRecord, type SubjectRecord } from "../journal/record.ts";
import type { KnownIncident } from "../status/schema.ts";
import { clipped, overlay, type Member, type Span } from "./spans.ts";

/** A subject and what is known of it within a range of time. */
export interface Subject extends Member {
  readonly record: SubjectRecord;
}

/** What one journal or several know of a range of time. */
export interface History {
  /** By `subjectKey`, in the order of first mention. */
  readonly subjects: ReadonlyMap<string, Subject>;
  /** By id: the failovers that began within the range. */
  readonly failovers: ReadonlyMap<string, KnownIncident>;
  /** How many records the journals left out because of their bounds. */
  readonly leftOut: number;
}

export const NO_HISTORY: History = { subjects: new Map(), failovers: new Map(), leftOut: 0 };

/** Follows the records of one journal, oldest first. */
export interface HistoryReader {
  read(record: JournalRecord): void;
  end(): History;
}

/** Times in which a subject is part of the configuration, the latest of which may be open since a mention in some run. */
interface Mentions {
  readonly record: SubjectRecord;
  readonly known: Span[];
  readonly present: TimeRange[];
  open: { readonly fromMs: number; readonly run: number } | undefined;
}

/**
 * Makes the history of a range of time. A subject is present from its first record to the one that says that it is gone, or to the
 * end of the run that mentioned it last, if that is not the last run.
 */
export function createHistory(range: TimeRange): HistoryReader {
  const subjects = new Map<string, Mentions>();
  const failovers = new Map<string, KnownIncident>();
  const fold = createFold((record, fromMs, toMs) => {
    const band = bandOf(record);
    if (band !== "unknown" && band !== "changing")
      mentionsOf(record).known.push(...clipped({ fromMs, toMs, band, state: record.state }, range));
  });
  /** The end of each run but the last. */
  const runEnds: number[] = [];
  let latestMs = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  function mentionsOf(record: SubjectRecord): Mentions {
    const key = subjectKey(record);
    const mentions = subjects.get(key) ?? { record, known: [], present: [], open: undefined };
    subjects.set(key, mentions);
    return mentions;
  }

  function close(mentions: Mentions, toMs: number): void {
    if (mentions.open !== undefined)
      mentions.present.push(...clipped({ fromMs: mentions.open.fromMs, toMs }, range));
    mentions.open = undefined;
  }

  function readSubject(record: SubjectRecord): void {
    const mentions = mentionsOf(record);
    if (record.state === "gone") close(mentions, latestMs);
    else mentions.open = { fromMs: latestMs, ...mentions.open, run: runEnds.length };
  }

  function readIncident(incident: KnownIncident): void {
    const { id, begin, failover } = incident;
    const beginMs = Date.parse(begin);
    if (failover === undefined || beginMs < range.fromMs || beginMs >= range.toMs) return;
    failovers.set(id, incident);
    // The second of three switches was an incident of its own, and is part of this one now.
    if (failover.repeated !== undefined) failovers.delete(failover.repeated.includes);
  }

  return {
    read: (record) => {
      fold.read(record);
      const { kind } = record;
      if (isBreak(record, latestMs)) runEnds.push(latestMs);
      latestMs = Math.max(latestMs, Date.parse(record.at));
      if (isSubject(record)) readSubject(record);
      else if (kind === "run") leftOut += record.left ?? 0;
      else if (kind === "incident") readIncident(record.incident);
    },
    end: () => {
      fold.end();
      for (const each of subjects.values())
        close(each, runEnds[each.open?.run ?? 0] ?? Number.POSITIVE_INFINITY);
      return { subjects, failovers, leftOut };
    },
  };
}

/** The first history, and what the other one knows of times of which the first one knows nothing. */
export function merged(first: History, other: History): History {
  const subjects = new Map(first.subjects);
  for (const [key, { record, known, present }] of other.subjects) {
    const own = subjects.get(key) ?? { record, known: [], present: [] };
    subjects.set(key, {
      record: own.record,
      known: overlay(own.known, known),
      present: united([...own.present, ...present]),
    });
  }
  const reported = [...first.failovers.values()];
  const others = [...other.failovers].filter(([, each]) => !reported.some((known) => isSame(known, each)));
  const failovers = new Map([...others, ...first.failovers]);
  return { subjects, failovers, leftOut: first.leftOut + other.leftOut };
}

function united(ranges: readonly TimeRange[]): readonly TimeRange[] {
  const all: TimeRange[] = [];
  for (const range of ranges.toSorted((one, next) => one.fromMs - next.fromMs)) {
    const last = all.at(-1);
    if (last === undefined || last.toMs < range.fromMs) all.push(range);
    else all[all.length - 1] = { ...last, toMs: Math.max(last.toMs, range.toMs) };
  }
  return all;
}

/** Two exporters report one failover when each of them learns it. */
const TOGETHER_MS = 60_000;

function isSame(one: KnownIncident, other: KnownIncident): boolean {
  return (
    one.cluster === other.cluster &&
    one.failover?.from === other.failover?.from &&
    one.failover?.to === other.failover?.to &&
    Math.abs(Date.parse(one.begin) - Date.parse(other.begin)) < TOGETHER_MS
  );
}
