import * as fc from "fast-check";
import { createTask, getTasks, parse } from "node-cron";
import { expect, test } from "vitest";
import { createSchedule, usualGapMs } from "../../src/support/schedule.ts";
import { createTimeFormat } from "../../src/support/time-zone.ts";

/** Random schedules in each zone. */
const RUNS = Number(process.env["SCHEDULE_RUNS"] ?? 2);
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Zone = (typeof CHANGES)[number][0];

/** The zones, each with an instant at which its clocks are changed, and the hours from then on in which that matters. */
const CHANGES = [
  ["America/New_York", "2026-03-08T07:00Z", 4],
  ["America/New_York", "2026-11-01T06:00Z", 4],
  ["Europe/Amsterdam", "2026-03-29T01:00Z", 4],
  ["Europe/Amsterdam", "2026-10-25T01:00Z", 4],
  ["Europe/Dublin", "2026-10-25T01:00Z", 4],
  // By half an hour, and by two hours.
  ["Australia/Lord_Howe", "2026-04-04T15:00Z", 4],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z", 4],
  ["Antarctica/Troll", "2026-03-29T01:00Z", 6],
  ["Antarctica/Troll", "2026-10-25T01:00Z", 6],
  // In Ramadan.
  ["Africa/Casablanca", "2026-02-15T02:00Z", 4],
  ["Africa/El_Aaiun", "2026-03-22T02:00Z", 4],
  // At midnight: a day begins at one o'clock, or twice.
  ["America/Havana", "2026-03-08T05:00Z", 4],
  ["America/Havana", "2026-11-01T05:00Z", 4],
  ["America/Santiago", "2026-04-05T03:00Z", 4],
  ["America/Santiago", "2026-09-06T04:00Z", 4],
  ["Asia/Beirut", "2026-03-28T22:00Z", 4],
  ["Asia/Beirut", "2026-10-24T21:00Z", 4],
  ["America/St_Johns", "2026-11-01T04:30Z", 4],
  // A whole day is skipped.
  ["Pacific/Apia", "2011-12-30T10:00Z", 27],
  ["Pacific/Kwajalein", "1993-08-21T12:00Z", 27],
  // Nothing is changed.
  ["Asia/Kathmandu", "2026-06-01T00:00Z", 27],
  ["UTC", "2026-06-01T00:00Z", 27],
] as const;

const FORMATS = new Map<Zone, (ms: number) => string>(
  CHANGES.map(([zone]) => [zone, createTimeFormat(zone)]),
);

/** The time that the clocks of a zone show, as if it were UTC. */
function shownAt(zone: Zone, ms: number): number {
  return Date.parse(`${FORMATS.get(zone)?.(ms).slice(0, "2026-10-25 02:30:00".length)}Z`);
}

/** Whether an expression matches a time that is as if clocks showed UTC. */
function matcherOf(expression: string): (localMs: number) => boolean {
  const { hour, minute, second } = parse(expression);
  const task = createTask(expression, () => undefined, { timezone: "UTC" });
  void task.destroy();
  const first = [hour[0] ?? 0, minute[0] ?? 0, second[0] ?? 0] as const;
  const days = new Map<number, boolean>();
  return (localMs) => {
    const [dayMs, ofDay] = [Math.floor(localMs / DAY_MS) * DAY_MS, (localMs % DAY_MS) / SECOND_MS];
    const isTime =
      second.includes(ofDay % 60) &&
      minute.includes(Math.floor(ofDay / 60) % 60) &&
      hour.includes(Math.floor(ofDay / 3600));
    if (!isTime) return false;
    const date = new Date(dayMs).setUTCHours(...first);
    const isOn = days.get(dayMs) ?? task.match(new Date(date));
    days.set(dayMs, isOn);
    return isOn;
  };
}

/** The instants of a time by the words of the rule, second by second: what clocks show, show again and skip. */
function instantsByRule(expression: string, zone: Zone, fromMs: number, toMs: number): readonly number[] {
  const matches = matcherOf(expression);
  const isNear = (localMs: number): boolean => {
    for (let apartMs = SECOND_MS; apartMs <= HOUR_MS; apartMs += SECOND_MS)
      if (matches(localMs - apartMs) || matches(localMs + apartMs)) return true;
    return false;
  };
  const found = new Set<number>();
  let offsetMs = shownAt(zone, fromMs) - fromMs;
  let [latestMs, highestMs] = [fromMs + offsetMs - SECOND_MS, fromMs + offsetMs - SECOND_MS];
  for (let ms = fromMs; ms <= toMs; ms += SECOND_MS) {
    // All these changes are at a quarter of an hour.
    if (ms % 900_000 === 0) offsetMs = shownAt(zone, ms) - ms;
    const shownMs = ms + offsetMs;
    for (let skippedMs = latestMs + SECOND_MS; skippedMs < shownMs; skippedMs += SECOND_MS)
      if (matches(skippedMs)) found.add(ms + skippedMs - latestMs - SECOND_MS);
    if (matches(shownMs) && (shownMs > highestMs || isNear(shownMs))) found.add(ms);
    [latestMs, highestMs] = [shownMs, Math.max(highestMs, shownMs)];
  }
  return [...found].filter((ms) => ms <= toMs).toSorted((a, b) => a - b);
}

function instantsOf(expression: string, zone: string, fromMs: number, toMs: number): readonly number[] {
  const { nextMs } = createSchedule(expression, zone);
  const found: number[] = [];
  for (let ms = nextMs(fromMs - 1); ms <= toMs; ms = nextMs(ms)) found.push(ms);
  return found;
}

const expressions = fc
  .tuple(
    fc.constantFrom("0", "*/5", "*/20", "0,30", "59", "*"),
    fc.constantFrom("*", "*/5", "0", "30", "0,30", "59", "7-50/9"),
    fc.constantFrom("*", "0", "1", "2", "3", "1-3", "*/2", "8-17", "23", "0,2", "22-1"),
    fc.constantFrom("*", "1", "L", "*/2", "1W"),
    fc.constantFrom("*", "3,9-12", "10"),
    fc.constantFrom("*", "1-5", "0", "6", "0L,6#1"),
  )
  .map((fields) => fields.join(" "));

test.each(CHANGES)("in %s near %s, a schedule has the instants of the rule", (zone, change, hours) => {
  const [fromMs, toMs] = [Date.parse(change) - 7 * HOUR_MS, Date.parse(change) + hours * HOUR_MS];
  fc.assert(
    fc.property(expressions, (expression) => {
      const expected = instantsByRule(expression, zone, fromMs, toMs);
      expect(instantsOf(expression, zone, fromMs, toMs)).toEqual(expected);
      const { latestMs } = createSchedule(expression, zone);
      expect(latestMs(fromMs, toMs)).toBe(expected.at(-1));
    }),
    { numRuns: RUNS, examples: [["*/20 * 1 * * 0L"], ["0 30 0,2 * * *"]] },
  );
});

/** Instants in UTC, to the second. */
const shown = (all: readonly number[]) => all.map((ms) => new Date(ms).toISOString().slice(5, 19));

test.each([
  [
    "each ten minutes goes on through both hours",
    ["0 */20 * * * *", "America/New_York", "2026-11-01T05:20Z", "2026-11-01T07:00Z"],
    [
      "11-01T05:20:00",
      "11-01T05:40:00",
      "11-01T06:00:00",
      "11-01T06:20:00",
      "11-01T06:40:00",
      "11-01T07:00:00",
    ],
  ],
  [
    "each hour goes on through both hours",
    ["0 0 * * * *", "Europe/Amsterdam", "2026-10-24T23:30Z", "2026-10-25T03:00Z"],
    ["10-25T00:00:00", "10-25T01:00:00", "10-25T02:00:00", "10-25T03:00:00"],
  ],
  [
    "each other hour happens once in the hour that exists twice",
    ["0 0 */2 * * *", "Europe/Amsterdam", "2026-10-24T22:00Z", "2026-10-25T03:00Z"],
    ["10-24T22:00:00", "10-25T00:00:00", "10-25T03:00:00"],
  ],
  [
    "a daily time happens once, when it is shown first",
    ["0 30 1 * * *", "America/New_York", "2026-11-01T00:00Z", "2026-11-02T07:00Z"],
    ["11-01T05:30:00", "11-02T06:30:00"],
  ],
  [
    "a daily time that is skipped is the instant without the change",
    ["0 30 2 * * *", "America/New_York", "2026-03-07T00:00Z", "2026-03-09T12:00Z"],
    ["03-07T07:30:00", "03-08T07:30:00", "03-09T06:30:00"],
  ],
  [
    "two times that become one instant count once",
    ["0 30 2,3 * * *", "Europe/Amsterdam", "2026-03-29T00:00Z", "2026-03-29T12:00Z"],
    ["03-29T01:30:00"],
  ],
  [
    "times of a skipped day are a day later by the clocks",
    ["0 0 12 * * *", "Pacific/Apia", "2011-12-29T00:00Z", "2012-01-01T00:00Z"],
    ["12-29T22:00:00", "12-30T22:00:00", "12-31T22:00:00"],
  ],
  [
    "day of month and weekday both have to match",
    ["0 0 0 13 * 5", "UTC", "2026-01-01T00:00Z", "2027-01-01T00:00Z"],
    ["02-13T00:00:00", "03-13T00:00:00", "11-13T00:00:00"],
  ],
  [
    "the last day of February",
    ["0 0 0 29 2 *", "Asia/Kathmandu", "2026-01-01T00:00Z", "2033-01-01T00:00Z"],
    ["02-28T18:15:00", "02-28T18:15:00"],
  ],
] as const)("%s", (_, [expression, zone, from, to], expected) => {
  expect(shown(instantsOf(expression, zone, Date.parse(from), Date.parse(to)))).toEqual(expected);
});

test("a schedule that is never due has no instant", () => {
  const { nextMs, latestMs } = createSchedule("0 0 0 1 1 1#5", "UTC");
  expect(nextMs(0)).toBe(Number.POSITIVE_INFINITY);
  expect(latestMs(0, 10 * DAY_MS)).toBeUndefined();
  expect(usualGapMs({ nextMs }, 0)).toBe(Number.POSITIVE_INFINITY);
});

test.each([
  ["*/5 * * * * *", 5],
  // At the end of a week, most of the next gaps are still those of a day.
  ["*/5 * 8-17 * * 1-5", 5],
  ["0 0 8 * * 1-5", 86_400],
  // By turns 5 and 55 minutes: the mean of the two in the middle.
  ["0 0,5 * * * *", 1800],
])("the usual gap of %s is %d seconds", (expression, seconds) => {
  const schedule = createSchedule(expression, "Europe/Amsterdam");
  expect(usualGapMs(schedule, Date.parse("2026-11-27T16:59:50Z"))).toBe(seconds * SECOND_MS);
});

test.each([
  ["*/5 * 8-17 * * 1-5", "11-27T16:59:55 11-30T07:00:00"],
  // The lunch, which is longer than the night; the first whole day is tomorrow.
  ["*/5 * 0-9,15-23 * * *", "11-28T08:59:55 11-28T14:00:00"],
  ["0 30 12 * * *", "11-28T11:30:00 11-29T11:30:00"],
  ["*/5 0-30 * * * *", "11-27T23:30:55 11-28T00:00:00"],
  ["*/10,55 * * * * *", "11-27T23:00:00 11-27T23:00:10"],
  ["0 0 0 29 2 *", "02-28T23:00:00 02-28T23:00:00"],
])("the longest gap of %s", (expression, expected) => {
  const schedule = createSchedule(expression, "Europe/Amsterdam");
  const { fromMs, toMs } = schedule.longestGap(Date.parse("2026-11-27T12:00:00Z"));
  expect(shown([fromMs, toMs]).join(" ")).toBe(expected);
});

test("leaves no task", () => {
  const before = getTasks().size;
  createSchedule("*/5 * * * * *").nextMs(0);
  expect(getTasks().size).toBe(before);
});
