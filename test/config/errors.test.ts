import { expect, test } from "vitest";
import {
  countErrors,
  errorsOf,
  formatConfigError,
  formatPath,
  limitErrors,
  moreErrors,
} from "../../src/config/errors.ts";

test("an error is formatted as file, line, column, path and message", () => {
  const error = {
    file: "config.yaml",
    position: { line: 12, column: 9 },
    path: "clusters[2].appliances[0].base_url",
    message: 'expected an https:// URL, got "10.0.0.1"',
  };
  expect(formatConfigError(error)).toBe(
    'config.yaml:12:9: clusters[2].appliances[0].base_url: expected an https:// URL, got "10.0.0.1"',
  );
});

test("a key that is not a plain word is quoted in a path", () => {
  expect(formatPath(["clusters", 0, "labels", "a b\n", "x"])).toBe('clusters[0].labels["a b\\n"].x');
});

const at = (file: string, line: number, column: number) => ({
  file,
  position: { line, column },
  path: "",
  message: "wrong",
});

test("errors are sorted by file as given, then by line and column, without duplicates", () => {
  const sorted = limitErrors(
    [at("a", 1, 1), at("b", 9, 2), at("b", 9, 1), at("b", 2, 5), at("b", 9, 1)],
    ["b", "a"],
  );
  expect(sorted.map(formatConfigError)).toEqual([
    "b:2:5: wrong",
    "b:9:1: wrong",
    "b:9:2: wrong",
    "a:1:1: wrong",
  ]);
});

const many = (file: string, count: number) => Array.from({ length: count }, (_, n) => at(file, n + 1, 1));

test("of more than a hundred errors, the first hundred are shown and the rest are counted", () => {
  const sorted = limitErrors(many("a", 102).toReversed(), ["a"]);
  expect(sorted.map(formatConfigError)).toEqual([
    ...Array.from({ length: 100 }, (_, n) => `a:${n + 1}:1: wrong`),
    "a: 2 more errors",
  ]);
  expect(countErrors(sorted)).toBe(102);
});

test("errors that are already counted are added to the count", () => {
  const errors = [...many("a", 100), moreErrors("a", 1)];
  expect(formatConfigError(limitErrors(errors, ["a"])[100] ?? at("a", 1, 1))).toBe("a: 1 more error");
  const both = errorsOf({ ok: false, errors }, { ok: true }, { ok: false, errors: many("b", 50) });
  expect(both).toHaveLength(101);
  expect(both.at(-1)).toEqual({ file: "a", path: "", message: "51 more errors", more: 51 });
});
