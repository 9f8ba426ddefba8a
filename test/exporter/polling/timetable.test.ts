import { expect, test, vi } from "vitest";
import { nextOnGrid, phaseFraction } from "../../../src/exporter/polling/instants.ts";
import { every, gaps, scheduled, startHeldTimetable } from "./timetable-support.ts";

const HOUR_MS = 3_600_000;

test("intervals of 1 s, 1.5 s and 5 s keep their grid exactly for an hour, each poll in time", async () => {
  const entries = [every(1_000, { key: "a" }), every(1_500, { key: "b" }), every(5_000, { key: "c" })];
  const { clock, reports, dueOf } = startHeldTimetable(...entries);
  await clock.pass(HOUR_MS);
  for (const { key, timing } of entries) {
    const intervalMs = timing.kind === "interval" ? timing.intervalMs : 0;
    const [, second = 0, ...others] = dueOf(key);
    expect(nextOnGrid(phaseFraction(key), intervalMs, second - 1)).toBeCloseTo(second, 3);
    expect(gaps([second, ...others]).map((gap) => Math.round(gap * 1e3) / 1e3)).toEqual([intervalMs]);
    expect(others.length).toBeGreaterThanOrEqual(HOUR_MS / intervalMs - 4);
  }
  expect(reports.due.filter(({ dueMs, atMs }) => Math.abs(atMs - dueMs) > 1)).toEqual([]);
  expect(reports.missed).toEqual([]);
});

test("the members of a cluster are always due at the same instants", async () => {
  const { clock, dueOf } = startHeldTimetable(
    every(5_000, { key: "waf-1/vrrp", phaseKey: "ams" }),
    every(5_000, { key: "waf-2/vrrp", phaseKey: "ams" }),
  );
  await clock.pass(60_000);
  expect(dueOf("waf-1/vrrp").length).toBeGreaterThan(10);
  expect(dueOf("waf-2/vrrp")).toEqual(dueOf("waf-1/vrrp"));
});

test("a thousand clusters are spread over the interval, and first due within a second", async () => {
  const entries = Array.from({ length: 1_000 }, (_, i) => every(10_000, { key: `cluster-${i}` }));
  const { clock, reports } = startHeldTimetable(...entries);
  await clock.pass(1_001);
  expect(reports.due).toHaveLength(1_000);
  await clock.pass(28_999);
  const perSecond = Array.from({ length: 10 }, () => 0);
  for (const { dueMs } of reports.due.filter((due) => due.dueMs >= 20_000 && due.dueMs < 30_000)) {
    const second = Math.floor(dueMs / 1_000) - 20;
    perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  expect(perSecond.reduce((sum, count) => sum + count)).toBe(1_000);
  for (const count of perSecond) expect(Math.abs(count - 100)).toBeLessThan(40);
});

test("a schedule is due once at the start and then at its instants of the wall clock", async () => {
  const { clock, reports } = startHeldTimetable(scheduled("*/15 * * * * *", { key: "a" }));
  await clock.pass(61_000);
  const [first, ...others] = reports.due.map(({ atMs }) => atMs);
  expect(first).toBeLessThanOrEqual(1_000);
  // The clock is held at 22:13:20.
  expect(others.map((atMs) => Math.round(atMs / 100) * 100)).toEqual([10_000, 25_000, 40_000, 55_000]);
});

test("unchanged entries keep their instants when others are added, removed or changed", async () => {
  const kept = every(5_000, { key: "kept" });
  const gone = every(5_000, { key: "gone" });
  const changed = every(5_000, { key: "changed" });
  const { clock, timetable, dueOf } = startHeldTimetable(kept, gone, changed);
  const added = every(5_000, { key: "new" });
  await clock.pass(12_000);
  const goneBefore = dueOf("gone");
  for (let i = 0; i < 5; i += 1) {
    timetable.remove(gone);
    timetable.put(kept, kept.phaseKey, { ...kept.timing });
    timetable.put(changed, "changed", every(2_000, { key: "changed" }).timing);
    timetable.put(added, added.phaseKey, added.timing);
    await clock.pass(1_300);
  }
  await clock.pass(10_000);
  expect(gaps(dueOf("kept").slice(1))).toEqual([5_000]);
  expect(dueOf("gone")).toEqual(goneBefore);
  expect(gaps(dueOf("changed").slice(-4))).toEqual([2_000]);
  expect(dueOf("new").length).toBeGreaterThan(1);
});

test("nothing is due, and no timer is left, after the stop", async () => {
  const { clock, timetable, reports } = startHeldTimetable(
    every(1_000, { key: "a" }),
    scheduled("* * * * * *", { key: "b" }),
  );
  await clock.pass(5_500);
  timetable.stop();
  const before = reports.due.length;
  await clock.pass(10_000);
  expect(reports.due).toHaveLength(before);
  expect(vi.getTimerCount()).toBe(0);
});

test("a gap is an interval, or the usual one of a schedule, also before a long one", async () => {
  const { timetable } = startHeldTimetable();
  const gapOf = (expression: string) => timetable.gapMs(scheduled(expression, { key: "a" }).timing);
  // The clock is held at 22:13:20.
  expect(gapOf("0 */10 * * * *")).toBe(600_000);
  expect(gapOf("*/5 13 22 * * *")).toBe(5_000);
  expect(timetable.gapMs({ kind: "interval", intervalMs: 5_000, timeoutMs: 1 })).toBe(5_000);
});

test("the end of a result is that of its interval, or follows from where the schedule goes on", () => {
  const { timetable } = startHeldTimetable();
  expect(timetable.endOf({ kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 }, 100)).toEqual({
    expiresAtMs: 14_100,
  });
  // The clock is held at 22:13:20.
  const office = scheduled("*/5 10-13 22 * * *", { key: "a" }).timing;
  expect(timetable.endOf(office, 0)).toEqual({ expiresAtMs: 11_000 });
  const untilMs = Date.parse("2023-11-15T22:10:00Z");
  const restFromStartMs = untilMs - Date.parse("2023-11-14T22:13:20Z");
  const rest = { untilMs, stalledAtMs: restFromStartMs + 5_000 + 1_000 };
  // Its last instant is after 35 seconds; a backoff ends later.
  expect(timetable.endOf(office, 35_200)).toEqual({ expiresAtMs: 335_200, rest });
  expect(timetable.endOf(office, 100_000)).toEqual({ expiresAtMs: 400_000, rest });
});

test("an operation whose backoff ends in a rest is polled after it", async () => {
  const entry = scheduled("*/5 10-13 22 * * *", { key: "a" });
  const { clock, timetable } = startHeldTimetable(entry);
  await clock.pass(2_000);
  const restEndsMs = Date.parse("2023-11-15T22:10:00Z") - Date.parse("2023-11-14T22:13:20Z");
  expect(timetable.nextDueMs(entry, 100_000)).toBe(restEndsMs);
  expect(timetable.soonestMs()).toBe(5_000);
});
