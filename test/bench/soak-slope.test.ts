import { expect, test } from "vitest";
import { slopeOf } from "../../bench/soak/slope.ts";

test("the slope of a line is exact", () => {
  const { estimate, margin } = slopeOf([0, 1, 2, 3, 4], [7, 10, 13, 16, 19]);
  expect(estimate).toBeCloseTo(3, 10);
  expect(margin).toBeCloseTo(0, 10);
});

test("residuals that tell nothing of each other give the interval of the textbook", () => {
  // Residuals 1, -1, -1, 1, ... about y = 2x, but for the first and last: 10 points, 8 degrees of freedom, 2.306.
  const residuals = [1, -1, 1, -1, 1, -1, 1, -1, 1, -1];
  const { estimate, margin } = slopeOf(
    residuals.map((_, x) => x),
    residuals.map((residual, x) => 2 * x + residual),
  );
  const slopeOfResiduals = -5 / 82.5;
  expect(estimate).toBeCloseTo(2 + slopeOfResiduals, 10);
  const square = 10 - slopeOfResiduals ** 2 * 82.5;
  expect(margin).toBeCloseTo(2.306 * Math.sqrt(square / 8 / 82.5), 3);
});

test("three points leave an interval that says so", () => {
  const { margin } = slopeOf([0, 1, 2], [1, 2.1, 2]);
  expect(margin).toBeGreaterThan(1.96 * Math.sqrt(0.24 / 2));
});

const FIFTY = Array.from({ length: 50 }, (_, x) => x);

test("what was measured beside it is taken out, and what says nothing there costs nothing", () => {
  const load = FIFTY.map((x) => (x > 30 ? 7 : 1) + (x % 3));
  const y = FIFTY.map((x, i) => 4 + 3 * x + 100 * (load[i] ?? 0));
  expect(slopeOf(FIFTY, y).estimate).not.toBeCloseTo(3, 1);
  const { estimate, margin } = slopeOf(FIFTY, y, [load, FIFTY.map(() => 5)]);
  expect(estimate).toBeCloseTo(3, 8);
  expect(margin).toBeCloseTo(0, 8);
});

test("residuals that go one way for long tell so little that the interval has no end", () => {
  const { margin } = slopeOf(
    FIFTY,
    FIFTY.map((x) => (x - 25) ** 2),
  );
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
function wandering(random: () => number, memory: number, count: number): readonly number[] {
  let value = 0;
  return Array.from({ length: count }, () => {
    const step = Array.from({ length: 12 }, random).reduce((total, one) => total + one, -6);
    value = memory * value + step;
    return value;
  });
}

test.each([0, 0.5, 0.8])("with a memory of %s, about 95 of 100 intervals hold the true slope", (memory) => {
  const random = dice(42);
  const x = Array.from({ length: 180 }, (_, at) => at);
  const runs = Array.from({ length: 1000 }, () => slopeOf(x, wandering(random, memory, x.length)));
  const held = runs.filter(({ estimate, margin }) => Math.abs(estimate) <= margin).length;
  expect(held).toBeGreaterThan(920);
  expect(held).toBeLessThan(990);
});
