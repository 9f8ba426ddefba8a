import { expect, test } from "vitest";
import { every, gaps, scheduled, startHeldTimetable } from "./timetable-support.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test.each([
  { name: "back an hour", byMs: -HOUR_MS },
  { name: "forward an hour", byMs: HOUR_MS },
  { name: "forward a day", byMs: DAY_MS },
])("intervals are unaffected when the clock is set $name", async ({ byMs }) => {
  const { clock, reports, dueOf } = startHeldTimetable(
    every(1_000, { key: "a" }),
    every(5_000, { key: "b" }),
  );
  await clock.pass(20_250);
  clock.setWall(byMs);
  await clock.pass(60_000);
  expect(gaps(dueOf("a").slice(1)).map(Math.round)).toEqual([1_000]);
  expect(gaps(dueOf("b").slice(1)).map(Math.round)).toEqual([5_000]);
  expect(reports.due.filter(({ dueMs, atMs }) => Math.abs(atMs - dueMs) > 1)).toEqual([]);
  expect(reports.missed).toEqual([]);
  expect(reports.jumps.map(Math.round)).toEqual([byMs]);
});

test.each([
  { name: "back an hour", byMs: -HOUR_MS },
  { name: "forward a day", byMs: DAY_MS },
])(
  "a schedule continues within one of its gaps when the clock is set $name, without a burst",
  async ({ byMs }) => {
    const { clock, reports } = startHeldTimetable(scheduled("*/5 * * * * *", { key: "a" }));
    await clock.pass(20_250);
    const before = reports.due.length;
    clock.setWall(byMs);
    await clock.pass(5_001);
    expect(reports.due.length - before).toBe(1);
    await clock.pass(55_000);
    expect(reports.due.length - before).toBe(12);
    expect(reports.missed).toEqual([]);
  },
);

test.each([
  { name: "back an hour", byMs: -HOUR_MS },
  { name: "forward a day", byMs: DAY_MS },
])(
  "no skipped instant is due or counted as missed when the clock is set $name just before an instant",
  async ({ byMs }) => {
    const entries = [scheduled("* * * * * *", { key: "a" }), scheduled("0 30 3 * * *", { key: "b" })];
    const { clock, reports, dueOf } = startHeldTimetable(...entries);
    // So that the instants are not those of the heartbeat.
    clock.setWall(300);
    await clock.pass(20_650);
    const before = dueOf("a").length;
    clock.setWall(byMs);
    await clock.pass(1_051);
    expect(reports.jumps).toEqual([byMs + 300]);
    expect(dueOf("a").length - before).toBe(1);
    await clock.pass(9_000);
    expect(dueOf("a").length - before).toBe(10);
    // Its instant was jumped over with the night, or is still to come.
    expect(dueOf("b")).toHaveLength(1);
    expect(reports.missed).toEqual([]);
  },
);

test("corrections of the clock by two seconds at most have no effect", async () => {
  const { clock, reports } = startHeldTimetable(every(1_000, { key: "a" }));
  await clock.pass(5_000);
  clock.setWall(2_000);
  await clock.pass(5_000);
  clock.setWall(-2_000);
  await clock.pass(5_000);
  expect(reports.jumps).toEqual([]);
});

test("corrections that add up to a jump are reported as one", async () => {
  const { clock, reports } = startHeldTimetable();
  clock.setWall(1_500);
  await clock.pass(1_000);
  clock.setWall(1_500);
  await clock.pass(1_000);
  expect(reports.jumps).toEqual([3_000]);
});

test("after ten blocked seconds the missed polls are counted but not repeated, and the grid stays", async () => {
  const { clock, reports, dueOf } = startHeldTimetable(every(1_000, { key: "a" }));
  await clock.pass(20_000);
  const before = dueOf("a");
  clock.block(10_000);
  await clock.pass(30_000);
  // One for the latest instant that has passed, and the regular ones of the 30 seconds after it.
  const after = dueOf("a").slice(before.length);
  expect([30, 31]).toContain(after.length);
  expect(gaps(after).map(Math.round)).toEqual([1_000]);
  const missed = reports.missed.reduce((sum, { count }) => sum + count, 0);
  // The first one is outside of the grid.
  const [, second = 0, ...others] = dueOf("a");
  expect(Math.round((others.at(-1) ?? 0) - second)).toBe((others.length + missed) * 1_000);
});

test("the latest instant of a schedule during a blocked loop is polled once, late", async () => {
  const { clock, reports, dueOf } = startHeldTimetable(scheduled("0 15 * * * *", { key: "a" }));
  // The clock is held at 22:13:20.
  await clock.pass(99_000);
  clock.block(60_000);
  await clock.pass(2_000);
  const [, dueMs = 0] = dueOf("a");
  expect(dueMs).toBeCloseTo(100_000, 0);
  expect(dueOf("a")).toHaveLength(2);
  expect(reports.missed).toEqual([]);
});

test.each([
  { expression: "0 */10 * * * *", hours: 1, missed: 5 },
  { expression: "0 0 */6 * * *", hours: 48, missed: 7 },
  { expression: "*/20 * * * * *", hours: 1, missed: 179 },
  { expression: "* * * * * *", hours: 48, missed: 172_800 },
])(
  "after $hours blocked hours, $missed instants of $expression are counted as missed",
  async ({ expression, hours, missed }) => {
    const { clock, reports, dueOf } = startHeldTimetable(scheduled(expression, { key: "a" }));
    await clock.pass(20_050);
    const before = dueOf("a").length;
    clock.block(hours * HOUR_MS);
    await clock.pass(1_000);
    expect(dueOf("a").length - before).toBeLessThanOrEqual(2);
    expect(reports.missed).toEqual([{ key: "a", count: missed }]);
  },
);

test("the time of the last heartbeat shows whether the scheduler is alive or blocked", async () => {
  const { clock, timetable } = startHeldTimetable();
  await clock.pass(10_500);
  expect(clock.monotonicMs() - timetable.lastTickMs()).toBeLessThan(1_001);
  clock.block(30_000);
  expect(clock.monotonicMs() - timetable.lastTickMs()).toBeGreaterThanOrEqual(30_000);
  await clock.pass(2_000);
  expect(clock.monotonicMs() - timetable.lastTickMs()).toBeLessThan(1_001);
});

test("a schedule that rests is due once after the clock was set, since its latest result ends by the former time", async () => {
  const entries = [
    scheduled("*/5 10-13 22 * * *", { key: "resting" }),
    scheduled("0 30 3 * * *", { key: "daily" }),
  ];
  const { clock, reports, dueOf } = startHeldTimetable(...entries);
  // The clock is held at 22:13:20.
  await clock.pass(HOUR_MS);
  const before = dueOf("resting").length;
  clock.setWall(-HOUR_MS / 2);
  await clock.pass(60_000);
  expect(dueOf("resting").length - before).toBe(1);
  expect(dueOf("daily")).toHaveLength(1);
  expect(reports.missed).toEqual([]);
});

test("what a blocked process has missed of a schedule does not include its rest", async () => {
  const { clock, reports, dueOf } = startHeldTimetable(scheduled("*/5 10-13 22 * * *", { key: "a" }));
  await clock.pass(20_000);
  const before = dueOf("a").length;
  // Until 22:11:02 of the next day: three instants of this day, and thirteen of that, of which the last is polled late.
  clock.block(24 * HOUR_MS - 158_000);
  await clock.pass(1_100);
  expect(dueOf("a").length - before).toBe(1);
  expect(reports.missed.reduce((sum, { count }) => sum + count, 0)).toBe(15);
});
