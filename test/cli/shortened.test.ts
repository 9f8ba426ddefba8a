import { expect, test } from "vitest";
import { shortened } from "../../src/cli/shortened.ts";

test.each([
  ["", ""],
  ["carp", "carp"],
  ["carp0", "car…"],
  ["ab😀cd", "ab…"],
  ["a😀bcd", "a😀…"],
])("%o cut to four units is %o, without half a character", (text, cut) => {
  expect(shortened(text, 4)).toBe(cut);
});
