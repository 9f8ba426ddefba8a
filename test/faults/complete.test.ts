import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FAILING_POLLS } from "./failing-polls.ts";
import { HOSTILE_ANSWERS } from "./hostile-answers.ts";
import { PROOFS } from "./proofs.ts";
import { readFaultTable } from "./table.ts";

const LAST_FAULT = 56;

const suite = [...FAILING_POLLS, ...HOSTILE_ANSWERS, ...PROOFS];
const table = readFaultTable();

it("docs/faults.md has one row for each fault, in order", () => {
  const all = Array.from({ length: LAST_FAULT }, (_, index) => index + 1);
  expect(table.map(({ fault }) => fault)).toEqual(all);
});

it("every fault of the suite is in docs/faults.md", () => {
  const documented = new Set(table.map(({ fault }) => fault));
  expect(suite.filter(({ fault }) => !documented.has(fault))).toEqual([]);
});

describe.each(table)("fault $fault", ({ fault, links }) => {
  it("has tests that are there", () => {
    expect(links.length).toBeGreaterThan(0);
    const broken = links.filter(
      ({ file, text }) => !existsSync(file) || !readFileSync(file, "utf8").includes(text),
    );
    expect(broken).toEqual([]);
  });

  it("has a test of this suite under its own number", () => {
    const names = suite.filter((row) => row.fault === fault).map(({ name }) => name);
    const own = links.filter(({ text }) => names.some((name) => name.includes(text)));
    expect(own.length).toBeGreaterThan(0);
  });
});
