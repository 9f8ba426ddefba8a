import { expect, test } from "vitest";
import { formatConfigError, formatErrors, formatPath, HIDDEN } from "../../../src/exporter/config/errors.ts";

const at = (file: string, line: number, column: number) => ({
  file,
  position: { line, column },
  path: "",
  message: "wrong",
});

test("an error is formatted as file, line, column, path and message", () => {
  expect(formatConfigError({ ...at("config.yaml", 12, 9), path: "clusters[2].name" })).toBe(
    "config.yaml:12:9: clusters[2].name: wrong",
  );
});

test("a path has the keys that are not hidden, and indexes", () => {
  expect(formatPath(["clusters", 0, "labels", HIDDEN, "x-y"])).toBe("clusters[0].labels[...].x-y");
});

test.each([[102, "a: 2 more errors"]])(
  "of %i errors, the first hundred are shown and the rest are counted",
  (count, more) => {
    const errors = Array.from({ length: count }, (_, n) => at("a", n + 1, 1));
    expect(formatErrors(errors)).toEqual([
      ...Array.from({ length: 100 }, (_, n) => `a:${n + 1}:1: wrong`),
      more,
    ]);
  },
);
