import { expect, test } from "vitest";
import {
  connectionWaitMs,
  endOfScheduled,
  expiresAtMs,
  firstExpiryMs,
  nextOnGrid,
  waitEndsMs,
} from "../../../src/exporter/polling/instants.ts";

const WEBSITES = [30_000, 20_000] as const;
const YEAR_MS = 31_536_000_000;

test("a result is stale two gaps and one timeout after the instant at which it starts to count", () => {
  expect(expiresAtMs(1_000, ...WEBSITES)).toBe(81_000);
});

test.each([
  ["an interval", { kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 }, 15_000],
  [
    "a schedule, whose first poll does not wait for it",
    { kind: "schedule", expression: "0 0 3 * * *", timeoutMs: 100 },
    1_300,
  ],
] as const)(
  "an operation that was never polled is stalled after the spread of first polls and: %s",
  (_, timing, expected) => {
    expect(firstExpiryMs(timing, 0)).toBe(expected);
  },
);

test.each([
  ["due on time after a result at 0", 30_000, expiresAtMs(0, ...WEBSITES), ...WEBSITES, 52_500],
  ["due early", 15_000, expiresAtMs(0, ...WEBSITES), ...WEBSITES, 52_500],
  ["due when the result is nearly stale", 59_000, expiresAtMs(0, ...WEBSITES), ...WEBSITES, 66_500],
  ["due long after the result was stale", 500_000, expiresAtMs(0, ...WEBSITES), ...WEBSITES, 507_500],
  ["with a timeout as long as its interval", 1_000, 3_000, 1_000, 1_000, 1_750],
  ["once a year", YEAR_MS, 2 * YEAR_MS + 1_000, YEAR_MS, 1_000, YEAR_MS + 86_400_000],
] as const)("how long a test waits for a slot: %s", (_, dueMs, latestUntilMs, gapMs, timeoutMs, expected) => {
  expect(waitEndsMs(dueMs, latestUntilMs, gapMs, timeoutMs)).toBe(expected);
});

test.each([
  ["until a quarter of a gap before the latest result expires", 30_000, 42_500],
  ["for a quarter of a gap when that is as long", 65_000, 7_500],
  ["for a quarter of a gap when the latest result is nearly stale", 80_000, 7_500],
])("a poll waits for a connection %s", (_, nowMs, expected) => {
  expect(connectionWaitMs(expiresAtMs(0, ...WEBSITES), WEBSITES[0], nowMs)).toBe(expected);
});

test("a poll once a year waits for a connection for a day at most", () => {
  expect(connectionWaitMs(expiresAtMs(0, YEAR_MS, 1_000), YEAR_MS, YEAR_MS)).toBe(86_400_000);
});

test.each([
  [499, 500],
  [500, 500],
  [501, 1_500],
])(
  "from %d ms on, the next instant of a grid of a second with half a second as phase is %d ms",
  (fromMs, expected) => {
    expect(nextOnGrid(0.5, 1_000, fromMs)).toBe(expected);
  },
);

const MINUTE_MS = 60_000;

test.each([
  ["that goes on", { firstMs: 5_000, secondMs: 10_000, usualGapMs: 5_000 }, { expiresAtMs: 11_000 }],
  [
    "whose first poll is due at the end of the longest wait",
    { firstMs: 5 * MINUTE_MS, secondMs: 99 * MINUTE_MS, usualGapMs: 5_000 },
    { expiresAtMs: 5 * MINUTE_MS + 1_000 },
  ],
  [
    "that rests after five minutes",
    { firstMs: 5 * MINUTE_MS + 1, secondMs: 6 * MINUTE_MS, usualGapMs: 5_000 },
    {
      expiresAtMs: 5 * MINUTE_MS,
      rest: { untilMs: 1_700_000_000_000, stalledAtMs: 6 * MINUTE_MS + 1_000 },
    },
  ],
  [
    "that rests after two of its usual gaps, and then soon again",
    { firstMs: 600 * MINUTE_MS, secondMs: 9_000 * MINUTE_MS, usualGapMs: 60 * MINUTE_MS },
    {
      expiresAtMs: 120 * MINUTE_MS,
      rest: { untilMs: 1_700_000_000_000, stalledAtMs: 720 * MINUTE_MS + 1_000 },
    },
  ],
])("the end of a result of a schedule %s", (_, upcoming, expected) => {
  expect(endOfScheduled(0, { ...upcoming, firstUnixMs: 1_700_000_000_000 }, 1_000)).toEqual(expected);
});
