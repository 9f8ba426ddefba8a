import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { anchorOf } from "../../scripts/runbook.ts";

const PAGES = [".", "docs", "packaging"].flatMap((folder) =>
  readdirSync(folder, { recursive: folder !== ".", encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name)),
);

/** The text without blocks of code. */
function readProse(page: string): string {
  return readFileSync(page, "utf8").replaceAll(/^( *)```.*?^\1```$/gms, "");
}

/** The anchors of the headings, as GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = Array.from(readProse(page).matchAll(/^#+ (.*)$/gm), ([, heading = ""]) => heading);
  return new Set(headings.map(anchorOf));
}

/** Returns the links of a page to what this project does not have. */
function brokenLinks(page: string): readonly string[] {
  const links = Array.from(readProse(page).matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(target)) return true;
    return anchor !== undefined && (statSync(target).isDirectory() || !anchorsOf(target).has(anchor));
  });
}

test("the pages are those of the project, and their folders", () => {
  expect(PAGES).toEqual(expect.arrayContaining(["README.md", "SECURITY.md", "docs/operations.md"]));
});

test.each(PAGES)("each link in %s leads to a file and a heading that exist", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

/** The folders from which docs/architecture.md names files. */
const ROOTS = ["", "src", "src/exporter", "src/history/journal"];

test("each file that docs/architecture.md names exists", () => {
  const names = Array.from(
    readProse("docs/architecture.md").matchAll(/`([\w/-]+\.(?:m?ts|json))`/g),
    ([, name = ""]) => name,
  );
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !ROOTS.some((root) => existsSync(join(root, name))))).toEqual([]);
});
