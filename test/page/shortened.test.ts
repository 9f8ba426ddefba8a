import { expect, test } from "vitest";
import { shortened } from "../../src/page/view/shortened.ts";

test("a text is whole up to its length, and ends in an ellipsis beyond", () => {
  expect(shortened("", 4)).toBe("");
  expect(shortened("carp", 4)).toBe("carp");
  expect(shortened("carp0", 4)).toBe("car…");
});

test("no character is halved", () => {
  expect(shortened("ab😀cd", 4)).toBe("ab…");
  expect(shortened("a😀bcd", 4)).toBe("a😀…");
});
