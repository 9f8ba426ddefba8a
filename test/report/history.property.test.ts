import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isSubject, subjectKey, type JournalRecord } from "../../src/journal/record.ts";
import { availabilityOf, type Row } from "../../src/report/availability.ts";
import { createHistory, merged, type History } from "../../src/report/history.ts";
import { alive, group, lost, run, START, website } from "./records.ts";

/** Journals are that long, and the report is about a part of it. */
const SECONDS = 400;
const [FROM, TO] = [60, 340];
const RANGE = { fromMs: START + FROM * 1000, toMs: START + TO * 1000 };

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
const UP = new Set(["one_master", "no_backup", "up", "partially_down"]);
const DOWN = new Set(["no_master", "split_brain", "down", "down_at_master"]);

/** What is recorded, and how often in proportion. */
const record = fc.oneof(
  { weight: 4, arbitrary: recordsOf(GROUP, (at, state) => group(at, state, "192.0.2.1")) },
  { weight: 4, arbitrary: recordsOf(GROUP, (at, state) => group(at, state, "192.0.2.2")) },
  { weight: 4, arbitrary: recordsOf(WEBSITE, website) },
  { weight: 3, arbitrary: fc.constant(alive) },
  { weight: 1, arbitrary: fc.constant(lost) },
  { weight: 2, arbitrary: recordsOf(["start", "gap", "day"] as const, run) },
);

function recordsOf<Of>(all: readonly Of[], recordAt: (at: number, one: Of) => JournalRecord) {
  return fc.constantFrom(...all).map((one) => (at: number) => recordAt(at, one));
}

/** Seconds pass, or the clock is set back. */
const passed = fc.oneof(
  { weight: 10, arbitrary: fc.nat(12) },
  { weight: 1, arbitrary: fc.integer({ min: 15, max: 90 }) },
  { weight: 1, arbitrary: fc.integer({ min: -30, max: -1 }) },
);

const journal = fc.array(fc.tuple(passed, record), { maxLength: 80 }).map((steps) => {
  let at = 0;
  const all = steps.map(([seconds, recordAt]) => {
    at = Math.max(0, at + seconds);
    return { at, record: recordAt(at) };
  });
  return all.filter((each) => each.at < SECONDS).map((each) => each.record);
});

/** What is known of a subject, second by second. */
interface Course {
  readonly states: (string | undefined)[];
  readonly isPresent: boolean[];
}

function knownState(state: string | undefined): string | undefined {
  return state !== undefined && (UP.has(state) || DOWN.has(state)) ? state : undefined;
}

/** By key: the same as a history, for whole seconds, with a look at each of them. */
function coursesOf(records: readonly JournalRecord[]): ReadonlyMap<string, Course> {
  const courses = new Map<string, Course>();
  const states = new Map<string, string | undefined>();
  /** The end of the run that mentioned a subject last; infinite while it runs. */
  const mentioned = new Map<string, { endsAt: number }>();
  let runs = { endsAt: Number.POSITIVE_INFINITY };
  let now = 0;

  const settle = (key: string, state: string | undefined): void => {
    const course = courses.get(key)?.states ?? [];
    for (let second = now - 1; course[second] === "changing"; second -= 1) course[second] = state;
  };
  for (const each of records) {
    const said = (Date.parse(each.at) - START) / 1000;
    const breaks = each.kind === "run" && !(each.why === "day" && said === now);
    if (breaks) {
      for (const key of courses.keys()) settle(key, undefined);
      states.clear();
      runs.endsAt = now;
      runs = { endsAt: Number.POSITIVE_INFINITY };
    }
    for (; now < said; now += 1) {
      for (const [key, course] of courses) {
        course.states[now] = states.get(key);
        course.isPresent[now] = mentioned.has(key);
      }
    }
    if (each.kind === "lost") {
      for (const key of courses.keys()) settle(key, undefined);
      states.clear();
    }
    if (!isSubject(each)) continue;
    const key = subjectKey(each);
    if (!courses.has(key)) courses.set(key, { states: [], isPresent: [] });
    if (each.state !== "changing") settle(key, knownState(each.state));
    states.set(key, each.state === "changing" ? each.state : knownState(each.state));
    if (each.state === "gone") mentioned.delete(key);
    else mentioned.set(key, runs);
  }
  const later = Array.from({ length: SECONDS - now }, (_, nth) => now + nth);
  for (const [key, course] of courses) {
    settle(key, undefined);
    const end = mentioned.get(key);
    for (const second of later) course.isPresent[second] = end !== undefined;
    if (end !== undefined) course.isPresent.fill(false, Math.min(end.endsAt, SECONDS));
  }
  return courses;
}

/** The figures of one subject or of a cluster, counted. */
function counted(secondsUp: readonly (boolean | undefined)[]) {
  const upMs = secondsUp.filter((isUp) => isUp === true).length * 1000;
  const downMs = secondsUp.filter((isUp) => isUp === false).length * 1000;
  return { upMs, downMs, unknownMs: secondsUp.length * 1000 - upMs - downMs };
}

const reported = Array.from({ length: TO - FROM }, (_, nth) => FROM + nth);

function expectedOf(journals: readonly (readonly JournalRecord[])[]) {
  const all = journals.map(coursesOf);
  const keys = [...new Set(all.flatMap((courses) => [...courses.keys()]))];
  const subjects = keys.map((key) => {
    const own = all.flatMap((courses) => courses.get(key) ?? []);
    const states = reported.map((second) => own.map((each) => each.states[second]).find((state) => state));
    const isPresent = reported.map((second) => own.some((each) => each.isPresent[second] === true));
    const isUp = states.map((state) => (state === undefined ? undefined : UP.has(state)));
    return { key, isUp, isPresent };
  });
  const present = subjects.filter(({ isPresent }) => isPresent.includes(true));
  const cluster = reported.map((_, nth) => {
    const now = subjects.filter((each) => each.isPresent[nth]).map((each) => each.isUp[nth]);
    if (now.includes(false)) return false;
    return now.length === 0 || now.includes(undefined) ? undefined : true;
  });
  return {
    subjects: Object.fromEntries(present.map(({ key, isUp }) => [key, counted(isUp)])),
    cluster: present.length === 0 ? undefined : counted(cluster),
  };
}

function historyOf(records: readonly JournalRecord[]): History {
  const history = createHistory(RANGE);
  for (const each of records) history.read(each);
  return history.end();
}

function figuresOf({ upMs, downMs, unknownMs }: Row) {
  return { upMs, downMs, unknownMs };
}

test("up, down and unknown are those that a look at each second finds, in one journal and in several", () => {
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
    { numRuns: 3000 },
  );
});
