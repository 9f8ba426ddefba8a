import * as fc from "fast-check";
import { expect, test } from "vitest";

import { dueAfterFirstMs, firstDueMs, nextOnGrid, takeDue } from "../../src/polling/schedule.ts";
import { phaseFraction } from "../../src/support/phase.ts";

test("the phases of 1,000 clusters are spread evenly over the interval", () => {
  const buckets = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 1_000; i += 1) {
    const bucket = Math.floor(phaseFraction(`cluster-${i}`) * 10);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  expect(buckets.reduce((sum, count) => sum + count)).toBe(1_000);
  for (const count of buckets) expect(Math.abs(count - 100)).toBeLessThan(40);
});

test("a phase is the same in every process", () => {
  expect(phaseFraction("ams")).toBe(phaseFraction("ams"));
  expect(phaseFraction("abc")).toBe(0xba7816bf / 2 ** 32);
});

const key = fc.string();
const intervalMs = fc.integer({ min: 1_000, max: 3_600_000 });
const instantMs = fc.double({ min: 0, max: 1e10, noNaN: true });

test("the next instant on the grid is at or after the given one, less than an interval away, and in phase", () => {
  fc.assert(
    fc.property(key, intervalMs, instantMs, (name, interval, at) => {
      const next = nextOnGrid(name, interval, at);
      expect(next - at).toBeGreaterThanOrEqual(-1e-3);
      expect(next - at).toBeLessThan(interval + 1e-3);
      const turns = (next - phaseFraction(name) * interval) / interval;
      expect(Math.abs(turns - Math.round(turns))).toBeLessThan(1e-6);
    }),
  );
});

test("a new entry is due within a second, entries with the same key at the same instant", () => {
  fc.assert(
    fc.property(key, instantMs, (name, now) => {
      const first = firstDueMs(name, now);
      expect(first - now).toBeGreaterThanOrEqual(0);
      expect(first - now).toBeLessThanOrEqual(1_000);
      expect(firstDueMs(name, now)).toBe(first);
    }),
  );
});

test("after the first poll an entry is due on the grid, half an interval to one and a half intervals later", () => {
  fc.assert(
    fc.property(key, intervalMs, instantMs, (name, interval, first) => {
      const due = dueAfterFirstMs(name, interval, first);
      expect(due - first).toBeGreaterThanOrEqual(interval / 2 - 1e-3);
      expect(due - first).toBeLessThan(1.5 * interval + 1e-3);
      expect(nextOnGrid(name, interval, due - interval / 4)).toBeCloseTo(due, 3);
    }),
  );
});

test.each([
  { name: "in time", now: 10_000, taken: { dueMs: 10_000, missed: 0, nextDueMs: 15_000 } },
  {
    name: "a moment early, as timers may be",
    now: 9_999.5,
    taken: { dueMs: 10_000, missed: 0, nextDueMs: 15_000 },
  },
  {
    name: "late by less than an interval",
    now: 14_999,
    taken: { dueMs: 10_000, missed: 0, nextDueMs: 15_000 },
  },
  {
    name: "late by exactly an interval",
    now: 15_000,
    taken: { dueMs: 15_000, missed: 1, nextDueMs: 20_000 },
  },
  { name: "late by ten seconds", now: 20_500, taken: { dueMs: 20_000, missed: 2, nextDueMs: 25_000 } },
  {
    name: "late by a day",
    now: 10_000 + 86_400_000,
    taken: { dueMs: 86_410_000, missed: 17_280, nextDueMs: 86_415_000 },
  },
])("an entry that is due at 10 s and every 5 s, taken $name", ({ now, taken }) => {
  expect(takeDue(10_000, 5_000, now)).toEqual(taken);
});
