import { expect, test } from "vitest";
import { createCalendar, type Calendar } from "../../../src/history/report/calendar.ts";
import { instantOf } from "../../../src/exporter/judge/words.ts";

const HOUR_MS = 3_600_000;

function calendarOf(timeZone: string): Calendar {
  const calendar = createCalendar(timeZone);
  if (calendar === undefined) throw new Error(`unknown time zone ${timeZone}`);
  return calendar;
}

test.each([
  ["UTC", "2026-10", "2026-10-01T00:00:00.000Z", 744],
  ["Europe/Amsterdam", "2026-03", "2026-02-28T23:00:00.000Z", 743],
  ["Europe/Amsterdam", "2026-10", "2026-09-30T22:00:00.000Z", 745],
  ["Europe/Amsterdam", "2026-12", "2026-11-30T23:00:00.000Z", 744],
  ["Europe/Amsterdam", "2028-02", "2028-01-31T23:00:00.000Z", 696],
  ["America/New_York", "2026-11", "2026-11-01T04:00:00.000Z", 721],
  ["Australia/Lord_Howe", "2026-10", "2026-09-30T13:30:00.000Z", 743.5],
  ["Asia/Kathmandu", "2026-10", "2026-09-30T18:15:00.000Z", 744],
  ["Pacific/Kiritimati", "2026-10", "2026-09-30T10:00:00.000Z", 744],
  // Clocks were set forward in the night to this month: it began at 01:00.
  ["America/Asuncion", "2017-10", "2017-10-01T04:00:00.000Z", 743],
  // It had no 30 December.
  ["Pacific/Apia", "2011-12", "2011-12-01T10:00:00.000Z", 720],
])("in %s %s begins at %s and has %d hours", (timeZone, month, begin, hours) => {
  const { fromMs, toMs } = calendarOf(timeZone).monthOf(month);
  expect([instantOf(fromMs), (toMs - fromMs) / HOUR_MS]).toEqual([begin, hours]);
});

test("months follow each other without a gap in every time zone", () => {
  for (const timeZone of Intl.supportedValuesOf("timeZone")) {
    const calendar = calendarOf(timeZone);
    const months = ["2026-09", "2026-10", "2026-11"].map(calendar.monthOf);
    const [begins, ends] = [months.map(({ fromMs }) => fromMs), months.map(({ toMs }) => toMs)];
    expect([timeZone, begins.slice(1)]).toEqual([timeZone, ends.slice(0, -1)]);
  }
});

test("days have 23, 24 or 25 hours", () => {
  const calendar = calendarOf("Europe/Amsterdam");
  const hours = ["2026-03", "2026-10"].map((month) => {
    const begins = [...calendar.daysOf(month), calendar.monthOf(month).toMs];
    return begins.slice(1).map((ms, nth) => (ms - (begins[nth] ?? 0)) / HOUR_MS);
  });
  const plain = Array.from({ length: 31 }, () => 24);
  expect(hours).toEqual([plain.with(28, 23), plain.with(24, 25)]);
});

test("the hour that clocks repeat has two offsets", () => {
  const { format } = calendarOf("Europe/Amsterdam");
  const atMs = Date.parse("2026-10-25T00:30:00Z");
  expect([format(atMs), format(atMs + HOUR_MS), calendarOf("UTC").format(atMs)]).toEqual([
    "2026-10-25 02:30:00 +02:00",
    "2026-10-25 02:30:00 +01:00",
    "2026-10-25 00:30:00 +00:00",
  ]);
});

test("a name that is no time zone has no calendar", () => {
  expect(["Europe/Atlantis", "", "CET CEST"].map(createCalendar)).toEqual([undefined, undefined, undefined]);
});
