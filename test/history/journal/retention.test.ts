import { expect, test } from "vitest";
import { hungry, latestEnd, trustAt, type Trust } from "../../../src/history/journal/retention.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Whether the clock is believed at each hour, by how far it is ahead of the hours that pass. */
function believed(aheadMs: (hour: number) => number, hours: number): readonly boolean[] {
  let trust: Trust = { wallMs: 0, monotonicMs: 0 };
  return Array.from({ length: hours }, (_, hour) => {
    const monotonicMs = hour * HOUR_MS;
    trust = trustAt(trust, { wallMs: monotonicMs + aheadMs(hour), monotonicMs });
    return trust.doubtedMs === undefined;
  });
}

test("a clock that goes as time does is believed, also when it is set by hours or back", () => {
  expect(believed((hour) => (hour < 3 ? 0 : 20 * HOUR_MS), 48)).not.toContain(false);
  expect(believed((hour) => (hour < 3 ? 0 : -400 * DAY_MS), 48)).not.toContain(false);
});

test("a clock that jumps by 401 days for an hour is not believed in it, and right again behind it", () => {
  expect(believed((hour) => (hour === 2 ? 401 * DAY_MS : 0), 4)).toEqual([true, true, false, true]);
});

test("a clock that stays ahead is believed after 24 hours", () => {
  const hours = believed((hour) => (hour < 2 ? 0 : 30 * DAY_MS), 40);
  expect(hours.indexOf(false)).toBe(2);
  expect(hours.indexOf(true, 2)).toBe(26);
});

test.each<readonly [string, readonly string[], string | undefined]>([
  ["the latest day", ["2026-11-20", "2026-11-24", "2026-11-25"], "2026-11-26"],
  ["the latest day, however long ago", ["2026-11-20", "2026-11-21"], "2026-11-22"],
  [
    "the day before a gap, when the clock went on for less than two days since",
    ["2025-11-20", "2026-11-25"],
    "2025-11-21",
  ],
  ["nothing without a day", [], undefined],
])("a start at noon of 2026-11-26 compares the clock with %s", (_, days, expected) => {
  const endMs = expected === undefined ? undefined : Date.parse(`${expected}T00:00:00Z`);
  expect(latestEnd(days, Date.parse("2026-11-26T12:00:00Z"))).toBe(endMs);
});

test.each<readonly [readonly number[], readonly string[]]>([
  [[], []],
  [[5], []],
  [[5, 5, 6, 20], []],
  [[5, 6, 900], ["c2"]],
  [[900, 3], ["c0"]],
  [
    [900, 3, 800, 4, 5],
    ["c0", "c2"],
  ],
])("of clusters with %j bytes these take too much: %j", (bytes, names) => {
  expect([...hungry(new Map(bytes.map((each, nth) => [`c${nth}`, each])))]).toEqual(names);
});
