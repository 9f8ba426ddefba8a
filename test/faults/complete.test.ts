import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { documentedFaults } from "./documented-tests.ts";

const FAULTS = 107;
const rows = documentedFaults();

test("docs/reference/faults.md has one row for each fault, in order", () => {
  expect(rows.map(({ fault }) => fault)).toEqual(Array.from({ length: FAULTS }, (_, index) => index + 1));
});

// The reporter in documented-tests.ts checks that these tests ran.
test("every fault has tests, in files that exist", () => {
  expect(rows.filter(({ links }) => links.length === 0)).toEqual([]);
  expect(rows.flatMap(({ links }) => links).filter(({ file }) => !existsSync(file))).toEqual([]);
});
