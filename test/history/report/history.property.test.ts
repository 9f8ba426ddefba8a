import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "../../../src/history/journal/lines.ts";
import {
  formatRecord,
  isSubject,
  parseRecord,
  subjectKey,
  type JournalRecord,
  type SubjectRecord,
} from "../../../src/history/journal/record.ts";
import { availabilityOf, type AvailabilityRow } from "../../../src/history/report/availability.ts";
import { createHistory, merged, type RangeHistory } from "../../../src/history/report/history.ts";
import { alive, group, lost, planned, run, START, website } from "./records.ts";

const MINUTE_MS = 60_000;
/** Journals have so many minutes, and the report is about a part of them. */
const MINUTES = 400;
const [FROM, TO] = [60, 340];
const RANGE = { fromMs: START + FROM * MINUTE_MS, toMs: START + TO * MINUTE_MS };

const GROUP = [
  "one_master",
  "no_backup",
  "no_master",
  "split_brain",
  "changing",
  "unknown",
  "gone",
  undefined,
];
const WEBSITE = ["up", "partially_down", "down", "down_at_master", "later", "unknown", "gone", undefined];
const PLANNED = ["up", "down", "unknown"];
const UP = new Set(["one_master", "no_backup", "up", "partially_down"]);
/** It was watched, and nobody answered. */
const UNANSWERED = "unknown";
const DOWN = new Set(["no_master", "split_brain", "down", "down_at_master"]);

/** What is recorded, and how often in proportion. */
const record = fc.oneof(
  { weight: 4, arbitrary: recordsOf(GROUP, (at, state) => group(at, state, "192.0.2.1")) },
  { weight: 4, arbitrary: recordsOf(GROUP, (at, state) => group(at, state, "192.0.2.2")) },
  { weight: 4, arbitrary: recordsOf(WEBSITE, website) },
  { weight: 2, arbitrary: recordsOf(PLANNED, plannedWebsite) },
  { weight: 3, arbitrary: fc.constant(alive) },
  { weight: 1, arbitrary: fc.constant(lost) },
  { weight: 2, arbitrary: recordsOf(["start", "gap", "day"] as const, run) },
);

function plannedWebsite(seconds: number, state: string): JournalRecord {
  return planned(website(seconds, state));
}

function recordsOf<Of>(all: readonly Of[], recordAt: (seconds: number, one: Of) => JournalRecord) {
  return fc.constantFrom(...all).map((one) => (seconds: number) => recordAt(seconds, one));
}

/** Minutes pass, or the clock is set back. */
const passed = fc.oneof(
  { weight: 10, arbitrary: fc.nat(12) },
  { weight: 1, arbitrary: fc.integer({ min: 15, max: 90 }) },
  { weight: 1, arbitrary: fc.integer({ min: -30, max: -1 }) },
);

const journal = fc.array(fc.tuple(passed, record), { maxLength: 80 }).map((steps) => {
  let at = 0;
  const all = steps.map(([minutes, recordAt]) => {
    at = Math.max(0, at + minutes);
    return { at, record: recordAt(at * 60) };
  });
  return all.filter((each) => each.at < MINUTES).map((each) => each.record);
});

function knownState(said: SubjectRecord): string | undefined {
  const { state = "" } = said;
  const isPlanned = "isPlanned" in said && said.isPlanned === true;
  if (isPlanned && state !== "gone" && !UP.has(state)) return "planned";
  return UP.has(state) || DOWN.has(state) || state === UNANSWERED ? state : undefined;
}

/** A record with its run; `at` never goes back. */
interface Timed {
  readonly at: number;
  readonly run: number;
  readonly record: JournalRecord;
}

function timed(records: readonly JournalRecord[]) {
  const runs = [{ begin: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }];
  let latest = Number.NEGATIVE_INFINITY;
  const all = records.map((each): Timed => {
    const said = (Date.parse(each.at) - START) / MINUTE_MS;
    const at = Math.max(latest, said);
    if (each.kind === "run" && !(each.why === "day" && said === latest)) {
      runs.splice(-1, 1, { begin: runs.at(-1)?.begin ?? 0, end: latest });
      runs.push({ begin: at, end: Number.POSITIVE_INFINITY });
    }
    latest = at;
    return { at, run: runs.length - 1, record: each };
  });
  return { all, runs };
}

/** By key, what is known of each minute: a look at each minute finds it. */
function statesOf(records: readonly JournalRecord[]): ReadonlyMap<string, readonly (string | undefined)[]> {
  const courses = new Map<string, (string | undefined)[]>();
  const states = new Map<string, string | undefined>();
  let [now, latestRun] = [0, 0];
  const settle = (key: string, state: string | undefined): void => {
    const course = courses.get(key) ?? [];
    for (let minute = now - 1; course[minute] === "changing"; minute -= 1) course[minute] = state;
  };
  const settleAll = (): void => {
    for (const key of courses.keys()) settle(key, undefined);
    states.clear();
  };
  for (const { at, run: nth, record: each } of timed(records).all) {
    if (nth > latestRun) settleAll();
    latestRun = nth;
    for (; now < at; now += 1) for (const [key, course] of courses) course[now] = states.get(key);
    if (each.kind === "lost") settleAll();
    if (!isSubject(each)) continue;
    const key = subjectKey(each);
    courses.set(key, courses.get(key) ?? []);
    if (each.state !== "changing") settle(key, knownState(each));
    states.set(key, each.state === "changing" ? each.state : knownState(each));
  }
  settleAll();
  return courses;
}

/** The minutes from which until which a subject is configured, as its records and those of the runs say. */
function configuredTimes(key: string, { all, runs }: ReturnType<typeof timed>) {
  const sinceBegin = ({ at, run: nth }: Timed): number => at - (runs[nth]?.begin ?? 0);
  const isGone = ({ record: each }: Timed): boolean => isSubject(each) && each.state === "gone";
  const isRemoved = (each: Timed, next: Timed | undefined): boolean =>
    all
      .slice(all.indexOf(each), next === undefined ? all.length : all.indexOf(next) + 1)
      .some((later) => later.run > each.run && sinceBegin(later) >= 60);
  const own: Timed[] = [];
  for (const each of all) {
    const last = own.at(-1);
    // A cluster that is lost keeps what it has.
    const isKept = each.record.kind === "lost" && last && !isGone(last) && !isRemoved(last, each);
    const isOwn = isSubject(each.record) && subjectKey(each.record) === key;
    if (isOwn || isKept === true) own.push(each);
  }
  return own.flatMap((each, place) => {
    const next = own[place + 1];
    const from = sinceBegin(each) < 60 ? (runs[each.run]?.begin ?? 0) : each.at;
    const to = isRemoved(each, next) ? (runs[each.run]?.end ?? 0) : (next?.at ?? Number.POSITIVE_INFINITY);
    return isGone(each) ? [] : { from, to };
  });
}

/** The figures of one subject or of a cluster, counted. */
function counted(minutes: readonly (boolean | "planned" | typeof UNANSWERED | undefined)[]) {
  const msOf = (...wanted: readonly unknown[]): number =>
    minutes.filter((isUp) => wanted.includes(isUp)).length * MINUTE_MS;
  const [upMs, downMs, unansweredMs] = [msOf(true), msOf(false), msOf(UNANSWERED)];
  const all = upMs + downMs + unansweredMs;
  return {
    upMs,
    downMs,
    plannedMs: msOf("planned"),
    unknownMs: msOf(UNANSWERED, undefined),
    unansweredMs,
    availabilityAtLeast: all === 0 ? undefined : upMs / all,
  };
}

const reported = Array.from({ length: TO - FROM }, (_, nth) => FROM + nth);

function expectedOf(journals: readonly (readonly JournalRecord[])[]) {
  const all = journals.map((records) => ({ known: statesOf(records), timed: timed(records) }));
  const keys = [...new Set(all.flatMap(({ known }) => [...known.keys()]))];
  const subjects = keys.map((key) => {
    const states = reported.map((minute) => {
      const said = all.map(({ known }) => known.get(key)?.[minute]).filter((state) => state !== undefined);
      // What one journal knows counts more than that nobody answered another exporter.
      return said.find((state) => state !== UNANSWERED) ?? said[0];
    });
    const configured = all.flatMap((each) => configuredTimes(key, each.timed));
    const isPresent = reported.map((minute) =>
      configured.some(({ from, to }) => from <= minute && minute < to),
    );
    const isUp = states.map((state) =>
      state === undefined || state === "planned" || state === UNANSWERED ? state : UP.has(state),
    );
    return { key, isUp, isPresent };
  });
  const present = subjects.filter(({ isPresent }) => isPresent.includes(true));
  const cluster = reported.map((_, nth) => {
    const now = subjects.filter((each) => each.isPresent[nth]).map((each) => each.isUp[nth]);
    if (now.includes(false)) return false;
    if (now.includes(UNANSWERED)) return UNANSWERED;
    if (now.length === 0 || now.includes(undefined)) return undefined;
    return now.includes("planned") ? "planned" : true;
  });
  return {
    subjects: Object.fromEntries(present.map(({ key, isUp }) => [key, counted(isUp)])),
    cluster: present.length === 0 ? undefined : counted(cluster),
  };
}

function historyOf(records: readonly JournalRecord[]): RangeHistory {
  const history = createHistory(RANGE);
  const reader = createLineReader("2026-10-01", { latest: "" });
  for (const line of records.flatMap((each) => reader.read(formatRecord(each)))) {
    const parsed = parseRecord(line);
    if (parsed !== undefined) history.read(parsed);
  }
  return history.end();
}

function figuresOf(row: AvailabilityRow) {
  const { upMs, downMs, plannedMs, unknownMs, unansweredMs, availabilityAtLeast } = row;
  return { upMs, downMs, plannedMs, unknownMs, unansweredMs, availabilityAtLeast };
}

test("up, down, planned and unknown are those that a look at each minute finds, in one journal and in several", () => {
  fc.assert(
    fc.property(fc.array(journal, { minLength: 1, maxLength: 3 }), (journals) => {
      const history = journals.map(historyOf).reduce(merged);
      const [ams] = availabilityOf(history, RANGE).clusters;
      const rows = [
        ...(ams?.groups ?? []).map(
          (row) => [JSON.stringify(["group", "ams", row.vhid, row.vip]), row] as const,
        ),
        ...(ams?.websites ?? []).map(
          (row) => [JSON.stringify(["website", "ams", row.id, row.name, row.protocol]), row] as const,
        ),
      ];
      const found = {
        subjects: Object.fromEntries(rows.map(([key, row]) => [key, figuresOf(row)])),
        cluster: ams && figuresOf(ams),
      };
      expect(found).toEqual(expectedOf(journals));
      for (const row of [...rows.map(([, each]) => each), ...(ams ? [ams] : [])])
        expect(row.upMs + row.downMs + row.unknownMs + row.plannedMs).toBe(RANGE.toMs - RANGE.fromMs);
    }),
    { numRuns: Number(process.env["HISTORY_RUNS"] ?? 1000) },
  );
});
