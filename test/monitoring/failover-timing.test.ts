import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CASES } from "../e2e/cases/all.ts";
import { rehearse } from "../e2e/rehearsal.ts";
import { formatLine } from "../e2e/report.ts";

const PAGE = readFileSync(new URL("../../docs/failover-timing.md", import.meta.url), "utf8");
const TIME = "12.3";

function cellsOf(line: string): readonly string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

test("the page has a time for everything that the suite waits for, and for nothing else", async () => {
  const [, table = ""] = /^\| event +\| alert .*\n\|[ :|-]+\n((?:\|.*\n)*)/m.exec(PAGE) ?? [];
  const documented = table
    .trim()
    .split("\n")
    .map((line) => cellsOf(line).map((cell) => cell.replace(/^\d+\.\d$/, TIME)));
  const lines = await rehearse(CASES);
  expect(lines.length).toBeGreaterThan(30);
  expect(documented).toEqual(lines.map((line) => cellsOf(formatLine(line, TIME))));
});

test("no two events have the same name", async () => {
  const lines = await rehearse(CASES);
  const names = lines.map((line) => formatLine(line, TIME));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
