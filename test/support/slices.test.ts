import { expect, test } from "vitest";
import { inSlices } from "../../src/support/slices.ts";

/** How many items of 1 ms each slice takes while everything else takes `othersMs` between two slices. */
async function slicesBeside(othersMs: number): Promise<readonly number[]> {
  let nowMs = 0;
  const slices: number[] = [];
  let items = 0;
  let isDone = false;
  function others(): void {
    slices.push(items);
    items = 0;
    nowMs += othersMs;
    if (!isDone) setImmediate(others);
  }
  setImmediate(others);
  const work = () => {
    items += 1;
    nowMs += 1;
  };
  await inSlices(Array.from({ length: 60 }), work, () => nowMs);
  isDone = true;
  return slices;
}

test.each([
  ["nothing", 0, [10, 10, 10, 10, 10]],
  ["20 ms", 20, [10, 10, 10, 10, 10]],
  ["40 ms", 40, [10, 20, 20]],
  ["a second", 1000, [10, 25]],
])(
  "a slice takes 10 ms, or half as long as everything else before it: beside %s",
  async (_, othersMs, slices) => {
    expect((await slicesBeside(othersMs)).slice(0, slices.length)).toEqual(slices);
  },
);
