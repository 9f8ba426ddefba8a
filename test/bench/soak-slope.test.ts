import { expect, test } from "vitest";
import { slopeOf } from "../../bench/soak/slope.ts";

test("the slope of a line is exact", () => {
  const { estimate, margin } = slopeOf([0, 1, 2, 3, 4].map((x) => [x, 7 + 3 * x] as const));
  expect(estimate).toBeCloseTo(3, 10);
  expect(margin).toBeCloseTo(0, 10);
});

test("residuals that tell nothing of each other give the interval of the textbook", () => {
  // Residuals 1, -1, -1, 1, ... about y = 2x, but for the first and last: 10 points, 8 degrees of freedom, 2.306.
  const residuals = [1, -1, 1, -1, 1, -1, 1, -1, 1, -1];
  const { estimate, margin } = slopeOf(residuals.map((residual, x) => [x, 2 * x + residual] as const));
  const slopeOfResiduals = -5 / 82.5;
  expect(estimate).toBeCloseTo(2 + slopeOfResiduals, 10);
  const square = 10 - slopeOfResiduals ** 2 * 82.5;
  expect(margin).toBeCloseTo(2.306 * Math.sqrt(square / 8 / 82.5), 3);
});

test("three points leave an interval that says so", () => {
  const margin = slopeOf([
    [0, 1],
    [1, 2.1],
    [2, 2],
  ]).margin;
  expect(margin).toBeGreaterThan(1.96 * Math.sqrt(0.24 / 2));
});

test("residuals that go one way for long tell so little that the interval has no end", () => {
  const { margin } = slopeOf(Array.from({ length: 50 }, (_, x) => [x, (x - 25) ** 2] as const));
  expect(margin).toBe(Number.POSITIVE_INFINITY);
});

/** Numbers from 0 to 1, the same ones each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** A level that wanders about zero and keeps `memory` of each value in the next. */
function wandering(
  random: () => number,
  memory: number,
  count: number,
): readonly (readonly [number, number])[] {
  let value = 0;
  return Array.from({ length: count }, (_, x) => {
    const step = Array.from({ length: 12 }, random).reduce((total, one) => total + one, -6);
    value = memory * value + step;
    return [x, value] as const;
  });
}

test.each([0, 0.5, 0.8])("with a memory of %s, about 95 of 100 intervals hold the true slope", (memory) => {
  const random = dice(42);
  const runs = Array.from({ length: 1000 }, () => slopeOf(wandering(random, memory, 180)));
  const held = runs.filter(({ estimate, margin }) => Math.abs(estimate) <= margin).length;
  expect(held).toBeGreaterThan(920);
  expect(held).toBeLessThan(990);
});
