import { bandOf } from "../journal/bands.ts";
import type { TimeRange } from "../journal/day-files.ts";
import { createFold } from "../journal/fold.ts";
import {
  isSubject,
  subjectKey,
  type JournalRecord,
  type SubjectRecord,
  type WindowRecord,
} from "../journal/record.ts";
import type { KnownIncident } from "../../exporter/document/schema.ts";
import { groupBy } from "../../support/group-by.ts";
import { createPresence } from "./presence.ts";
import { createRunFacts, isSameJournal, type RunFacts, type JournalSource } from "./sources.ts";
import { clipped, isKnown, overlay, type PartOfWhole, type Span } from "./spans.ts";

/** A subject, and its states within a range of time. */
export interface SubjectHistory extends PartOfWhole {
  readonly record: SubjectRecord;
}

export type LabelValues = Readonly<Record<string, string>>;

/** The facts of one journal or several about a range of time. */
export interface RangeHistory {
  /** The keys are those of `subjectKey`, in the order of first mention. */
  readonly subjects: ReadonlyMap<string, SubjectHistory>;
  /** The failovers that began within the range, by id. */
  readonly failovers: ReadonlyMap<string, KnownIncident>;
  /** The windows of planned work that touch the range, by id, as they were last recorded. */
  readonly windows: ReadonlyMap<string, WindowRecord>;
  /** The labels of each cluster, which all its members share, and of each appliance, as they were last recorded. */
  readonly labels: ReadonlyMap<string, LabelValues>;
  readonly memberLabels: ReadonlyMap<string, LabelValues>;
  readonly sources: readonly JournalSource[];
}

export const NO_HISTORY: RangeHistory = {
  subjects: new Map(),
  failovers: new Map(),
  windows: new Map(),
  labels: new Map(),
  memberLabels: new Map(),
  sources: [],
};

/** Reads the records of one journal, oldest first. */
export interface HistoryReader {
  read(record: JournalRecord): void;
  /** `origin` says what was read, if that was a journal. */
  end(origin?: Omit<JournalSource, keyof RunFacts>): RangeHistory;
}

/** After this time from its start, an exporter knows everything that it watches, and the state that a changing group gets. */
export const SETTLED_MS = 3_600_000;

/** Creates a reader that makes the history of a range of time. */
export function createHistory(range: TimeRange): HistoryReader {
  const records = new Map<string, SubjectRecord>();
  const spans = new Map<string, Span[]>();
  const failovers = new Map<string, KnownIncident>();
  const presence = createPresence(SETTLED_MS);
  const mastership = createPresence(0);
  const add = (record: SubjectRecord, span: Omit<Span, "state">): void =>
    void spans.get(subjectKey(record))?.push(...clipped({ ...span, state: record.state }, range));
  const fold = createFold(
    (record, fromMs, toMs) => {
      const band = bandOf(record);
      if (band !== "unknown" && band !== "changing") add(record, { fromMs, toMs, band });
    },
    (record, fromMs, toMs) => add(record, { fromMs, toMs, band: "unanswered" }),
  );
  const windows = new Map<string, WindowRecord>();
  const labels = new Map<string, LabelValues>();
  const memberLabels = new Map<string, LabelValues>();
  const runs = createRunFacts(range);

  function readSubject(record: SubjectRecord): void {
    const key = subjectKey(record);
    if (records.has(key)) return;
    records.set(key, record);
    spans.set(key, []);
  }

  function readIncident(incident: KnownIncident): void {
    const { id, begin, failover } = incident;
    if (failover === undefined) return;
    // The second of three failovers was an incident of its own, and is now part of this one, also if this one began before the range.
    if (failover.repeated !== undefined) failovers.delete(failover.repeated.includes);
    const beginMs = Date.parse(begin);
    if (beginMs >= range.fromMs && beginMs < range.toMs) failovers.set(id, incident);
  }

  return {
    read: (record) => {
      if (isSubject(record)) readSubject(record);
      else if (record.kind === "window") windows.set(record.id, record);
      else if (record.kind === "incident") readIncident(record.incident);
      // The end of a subject says nothing about its labels; what else has none has lost them.
      if (record.kind === "cluster" && record.state !== "gone")
        labels.set(record.cluster, record.labels ?? {});
      if (record.kind === "appliance" && record.state !== "gone")
        memberLabels.set(record.appliance, record.labels ?? {});
      runs.read(record);
      presence.read(record);
      mastership.read(record);
      fold.read(record);
    },
    end: (origin) => {
      fold.end();
      const [configured, masters] = [presence.end(), mastership.end()];
      const subjects = Array.from(records, ([key, record]) => {
        const ranges = (record.kind === "readiness" ? masters : configured).get(key) ?? [];
        const present = united(ranges).flatMap((each) => clipped(each, range));
        return [key, { record, known: spans.get(key) ?? [], present }] as const;
      });
      const touching = [...windows].filter(([, { begin, end }]) => {
        return Date.parse(begin) < range.toMs && Date.parse(end) > range.fromMs;
      });
      return {
        subjects: new Map(subjects),
        failovers,
        windows: new Map(touching),
        labels,
        memberLabels,
        sources: origin === undefined ? [] : [{ ...origin, ...runs.end() }],
      };
    },
  };
}

/** Returns the first history, and the other one's facts about times of which the first one knows nothing. */
export function merged(first: RangeHistory, other: RangeHistory): RangeHistory {
  const subjects = new Map(first.subjects);
  for (const [key, { record, known, present }] of other.subjects) {
    const own = subjects.get(key) ?? { record, known: [], present: [] };
    subjects.set(key, {
      record: own.record,
      known: together(own.known, known),
      present: united([...own.present, ...present]),
    });
  }
  const reported = groupBy(first.failovers.values(), ({ cluster }) => cluster);
  const others = [...other.failovers].filter(
    ([, each]) => reported.get(each.cluster)?.some((known) => isSame(known, each)) !== true,
  );
  const failovers = new Map([...others, ...first.failovers]);
  return {
    subjects,
    failovers,
    windows: new Map([...other.windows, ...first.windows]),
    labels: new Map([...other.labels, ...first.labels]),
    memberLabels: new Map([...other.memberLabels, ...first.memberLabels]),
    sources: [
      ...first.sources,
      ...other.sources.filter((each) => !first.sources.some((known) => isSameJournal(known, each))),
    ],
  };
}

/** Returns the spans of both. What one of them knows counts more than that nobody answered the other one. */
function together(one: readonly Span[], other: readonly Span[]): readonly Span[] {
  const [known, unanswered] = [isKnown, (each: Span) => !isKnown(each)].map((isWanted) =>
    overlay(one.filter(isWanted), other.filter(isWanted)),
  );
  return overlay(known ?? [], unanswered ?? []);
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

/** Two exporters report one failover within this time, when each of them learns of it. */
const TOGETHER_MS = 60_000;

/** Whether two incidents of a cluster are one failover. */
function isSame(one: KnownIncident, other: KnownIncident): boolean {
  return (
    one.failover?.from === other.failover?.from &&
    one.failover?.to === other.failover?.to &&
    Math.abs(Date.parse(one.begin) - Date.parse(other.begin)) < TOGETHER_MS
  );
}
