import { expect, test } from "vitest";
import { createLossCounter } from "../../bench/soak/losses.ts";
import { slopeOf } from "../../bench/soak/slope.ts";

/** Ends of polls at these seconds, looked at twice a second until `untilSeconds`. */
function lostOf(endsAtSeconds: readonly number[], untilSeconds: number): number {
  const losses = createLossCounter(5000, 7500);
  for (let seconds = 0; seconds <= untilSeconds; seconds += 0.5) {
    const polls = endsAtSeconds.filter((atSeconds) => atSeconds <= seconds).length;
    losses.see("a vrrp", polls, seconds * 1000);
  }
  return losses.lost(untilSeconds * 1000);
}

test("polls that end early and late by turns are not lost", () => {
  expect(lostOf([0.1, 6.5, 10.1, 16.4, 20.2], 22)).toBe(0);
});

test("each poll that was not made is counted", () => {
  expect(lostOf([0.1, 5.1, 15.1, 20.1], 22)).toBe(1);
  expect(lostOf([0.1, 5.1, 20.1], 22)).toBe(2);
});

test("polls that never come again are lost", () => {
  expect(lostOf([0.1, 5.1], 22)).toBe(1);
});

test("the slope of a line is exact", () => {
  const { estimate, margin } = slopeOf([0, 1, 2, 3, 4].map((x) => [x, 7 + 3 * x] as const));
  expect(estimate).toBeCloseTo(3, 10);
  expect(margin).toBeCloseTo(0, 10);
});

test("the interval of a noisy slope is that of the textbook", () => {
  // Residuals -0.2, 0.4, -0.2 about y = 1.2 + 0.5 x: 1.96 * sqrt(0.24 / 1 / 2) beside the slope.
  const { estimate, margin } = slopeOf([
    [0, 1],
    [1, 2.1],
    [2, 2],
  ]);
  expect(estimate).toBeCloseTo(0.5, 10);
  expect(margin).toBeCloseTo(1.96 * Math.sqrt(0.24 / 2), 10);
});
