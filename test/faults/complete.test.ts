import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FAULTS = 84;
const PAGE = new URL("../../docs/faults.md", import.meta.url);

/** The rows of the table in docs/faults.md: the number of a fault, and its links to tests. */
const rows = Array.from(
  readFileSync(PAGE, "utf8").matchAll(/^\| (\d+) \|.*\| ([^|]*) \|$/gm),
  ([, fault, shownBy = ""]) => ({
    fault: Number(fault),
    links: Array.from(shownBy.matchAll(/\[([^\]]*)\]\(([^)]*)\)/g), ([, name = "", path = ""]) => ({
      name,
      path,
    })),
  }),
);

test("docs/faults.md has one row for each fault, in order", () => {
  expect(rows.map(({ fault }) => fault)).toEqual(Array.from({ length: FAULTS }, (_, index) => index + 1));
});

test.each(rows)("fault $fault has tests, and each of them exists", ({ links }) => {
  expect(links.length).toBeGreaterThan(0);
  const missing = links.filter(({ name, path }) => {
    const file = new URL(path, PAGE);
    return !existsSync(file) || !readFileSync(file, "utf8").includes(name);
  });
  expect(missing).toEqual([]);
});
