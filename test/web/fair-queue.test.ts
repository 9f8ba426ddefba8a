import { expect, test } from "vitest";
import { createFairQueue } from "../../src/web/fair-queue.ts";

/** `a1x`: item `x` of part `1` of owner `a`. */
function fill(limit: number, words: string) {
  const queue = createFairQueue<string>(limit);
  const displaced = words.split(" ").map((word) => queue.add(word.charAt(0), word.charAt(1), word));
  const takeAll = () => {
    const taken: string[] = [];
    for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
    return taken.join(" ");
  };
  return { queue, takeAll, displaced: displaced.filter((item) => item !== undefined).join(" ") };
}

test.each([
  { name: "owners take turns", words: "a1x a1y a1z b1x c1x", taken: "a1z b1x c1x a1y a1x" },
  { name: "the parts of an owner take turns", words: "a1x a1y a1z a2x a3x", taken: "a1z a2x a3x a1y a1x" },
  {
    name: "an owner with many parts gets as many turns as another one",
    words: "a1x a2x a3x b1x b1y b1z",
    taken: "a1x b1z a2x b1y a3x b1x",
  },
  { name: "the latest item of a part comes first", words: "a1x a1y a1z", taken: "a1z a1y a1x" },
])("$name", ({ words, taken }) => {
  expect(fill(99, words).takeAll()).toBe(taken);
});

test.each([
  { name: "the owner with the most items", words: "a1x a1y b1x c1x", displaced: "a1x", taken: "a1y b1x c1x" },
  { name: "its longest part", words: "a1x a2x a2y b1x", displaced: "a2x", taken: "a1x b1x a2y" },
  {
    name: "the new item's owner, if it has the most items",
    words: "b1x a1x a1y a1z",
    displaced: "a1x",
    taken: "b1x a1z a1y",
  },
  {
    name: "the new item's owner, if all have equally many",
    words: "a1x b1x c1x d1x",
    displaced: "d1x",
    taken: "a1x b1x c1x",
  },
])("an item beyond the limit displaces the oldest of $name", ({ words, displaced, taken }) => {
  const filled = fill(3, words);
  expect(filled.displaced).toBe(displaced);
  expect(filled.takeAll()).toBe(taken);
});

test("a removed item gets no turn and cannot be removed again", () => {
  const { queue, takeAll } = fill(99, "a1x a1y b1x");
  expect(queue.remove("b", "1", "b1x")).toBe(true);
  expect(queue.remove("b", "1", "b1x")).toBe(false);
  expect(queue.remove("a", "1", "a1x")).toBe(true);
  expect(takeAll()).toBe("a1y");
});

test("an owner that returns waits behind the others", () => {
  const { queue, takeAll } = fill(99, "a1x b1x b1y");
  expect(queue.take()).toBe("a1x");
  queue.add("a", "1", "a1z");
  expect(takeAll()).toBe("b1y a1z b1x");
});
