import { expect, test } from "vitest";
import { createLatenessWatch } from "../../../src/exporter/board/lateness.ts";
import type { OperationKind } from "../../../src/exporter/api/operation.ts";
import type { LeapingClock } from "../../support/leaping-clock.ts";

/** A clock that stands still until it leaps. */
function heldClock() {
  let [nowMs, wallMs] = [0, 1e12];
  return {
    wallMs: () => wallMs + nowMs,
    monotonicMs: () => nowMs,
    leap: (ms: number) => void (nowMs += ms),
    /** Sets the wall clock alone. */
    setBy: (ms: number) => void (wallMs += ms),
  } satisfies LeapingClock & Record<"setBy", unknown>;
}

/** Polls once a second for this time, each so late. */
function pollFor(seconds: number, latenessOf: (nth: number) => number, kind: OperationKind = "vrrp") {
  const clock = heldClock();
  const watch = createLatenessWatch(clock);
  const poll = (more: number, lateness: (nth: number) => number) => {
    for (let nth = 0; nth < more; nth += 1) {
      clock.leap(1000);
      watch.started(kind, lateness(nth));
    }
  };
  poll(seconds, latenessOf);
  return { clock, watch, poll };
}

test.each([
  ["a tenth of the lists is over a second late", (nth: number) => (nth % 10 === 0 ? 4 : 0), undefined],
  ["an eighth of them is", (nth: number) => (nth % 8 === 0 ? 4 : 0), 4],
  ["all are nearly a second late", () => 1, undefined],
] as const)("%s", (_, latenessOf, meanSeconds) => {
  expect(pollFor(400, latenessOf).watch.late()?.meanSeconds).toBe(meanSeconds);
});

test("nothing is late in the first five minutes, nor before it has lasted a minute, and website tests may be ten seconds late", () => {
  expect(pollFor(359, () => 9).watch.late()).toBeUndefined();
  expect(pollFor(380, () => 9).watch.late()).toMatchObject({ operation: "vrrp", meanSeconds: 9 });
  expect(pollFor(400, () => 9, "website_test").watch.late()).toBeUndefined();
  expect(pollFor(400, () => 11, "website_test").watch.late()).toMatchObject({ operation: "website_test" });
});

test("lateness has its beginning, and ends five minutes after it at the latest", () => {
  const { watch, poll } = pollFor(400, () => 0);
  expect(watch.late()).toBeUndefined();
  poll(60, () => 5);
  poll(60, () => 0);
  const { sinceMs = 0 } = watch.late() ?? {};
  // Judged every fifteen seconds: a tenth of five minutes is reached after 34.
  expect(sinceMs - 1e12).toBeGreaterThan(430_000);
  expect(sinceMs - 1e12).toBeLessThanOrEqual(450_000);
  poll(60, () => 0);
  expect(watch.late()?.sinceMs).toBe(sinceMs);
  poll(300, () => 0);
  expect(watch.late()).toBeUndefined();
});

test.each([-3_600_000, 3_600_000])("a wall clock that is set by %i ms neither hides nor hastens it", (ms) => {
  const { clock, watch, poll } = pollFor(330, () => 9);
  const told = watch.late();
  clock.setBy(ms);
  expect([told, watch.late()]).toEqual([undefined, undefined]);
  poll(50, () => 9);
  expect(watch.late()).toMatchObject({ operation: "vrrp", meanSeconds: 9 });
});

test("more than five skipped polls are a trouble, but for those that an appliance caused by its backoff", () => {
  const { watch, poll } = pollFor(400, () => 0);
  watch.skipped("vrrp", "backoff", 100);
  watch.skipped("vrrp", "overlap", 5);
  expect(watch.late()).toBeUndefined();
  watch.skipped("vrrp", "missed", 1);
  poll(90, () => 0);
  expect(watch.late()).toMatchObject({ operation: undefined, count: 6 });
});
