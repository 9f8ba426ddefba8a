import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { JournalRecord } from "../../src/history/journal/record.ts";
import { availabilityOf } from "../../src/history/report/availability.ts";
import { createCalendar } from "../../src/history/report/calendar.ts";
import { createHistory } from "../../src/history/report/history.ts";
import { formatHtml } from "../../src/history/report/html.ts";
import { instantOf } from "../../src/exporter/judge/words.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { alive, failedOver, group, run, START, website } from "../history/report/records.ts";
import { useBrowser, violationsOf } from "./support.ts";

const open = useBrowser();
const LONG = "n".repeat(250);
const RANGE = { fromMs: START, toMs: START + 31 * 86_400_000 };

/** Three days of a cluster with short and long names. */
const RECORDS: readonly JournalRecord[] = [
  run(0, "start"),
  group(0, "one_master"),
  group(0, "one_master", LONG),
  website(0, "up"),
  website(0, "up", `${LONG}-1`),
  website(0, "up", `${LONG}-2`),
  website(1000, "down"),
  website(1239, "up"),
  failedOver(86_400, "one", { from: LONG, to: LONG }),
  website(90_000, "down", `${LONG}-1`),
  website(93_600, "up", `${LONG}-1`),
  group(100_000, "unknown"),
  group(110_000, "one_master"),
  alive(3 * 86_400),
];

const SOURCE = {
  folder: `/var/lib/${LONG}`,
  starts: 1,
  gaps: 2,
  setBack: 1,
  versions: ["1.0.0"],
  shards: ["0/1"],
  leftOut: 3,
  damagedLines: 1,
  cutFiles: 0,
  files: Array.from({ length: 31 }, (_, nth) => {
    return { name: `2026-10-${nth + 1}.jsonl.gz`, bytes: 100_000, sha256: "0123456789abcdef".repeat(4) };
  }),
};

async function openReport(width: number): Promise<Page> {
  const calendar = createCalendar("Europe/Amsterdam");
  if (calendar === undefined) throw new Error("no such time zone");
  const history = createHistory(RANGE);
  for (const record of RECORDS) history.read(record);
  const report = {
    version: "1.0.0",
    createdAt: instantOf(RANGE.toMs),
    month: "2026-10",
    timeZone: calendar.timeZone,
    from: instantOf(RANGE.fromMs),
    to: instantOf(RANGE.toMs),
    isOver: true,
    ...availabilityOf(history.end(), RANGE),
    sources: [SOURCE],
  };
  const path = join(await createFolder({}), "report.html");
  await writeFile(path, formatHtml(report, calendar));
  const { page } = await open(`file://${path}`, { viewport: { width, height: 800 } });
  return page;
}

function widthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}

test.each([390, 1280])(
  "at %i px nothing of a report is wider than the screen except tables that scroll, and axe finds nothing",
  async (width) => {
    const page = await openReport(width);
    expect(await widthOf(page)).toBe(width);
    expect(await violationsOf(page)).toEqual([]);
  },
);

test("a report is not wider than a page of paper, and a long name takes few lines of it", async () => {
  // A4 in landscape without its margins.
  const page = await openReport(1032);
  await page.emulateMedia({ media: "print" });
  expect(await widthOf(page)).toBe(1032);
  const tables = await page
    .locator("table")
    .evaluateAll((all) => all.map((table) => table.getBoundingClientRect().right <= innerWidth));
  expect(tables).toEqual(Array(6).fill(true));
  const rows = await page
    .locator(".figures tbody tr")
    .evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height < 120));
  expect(rows).toEqual(Array(6).fill(true));
});

test("long names that differ at their end remain different, and strips say what they show", async () => {
  const page = await openReport(1280);
  const names = await page
    .locator(".figures tbody th")
    .evaluateAll((all) => all.map((one) => one.textContent));
  expect(new Set(names).size).toBe(6);
  const words = await page
    .locator(".strip")
    .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  expect(words).toContain("up 99.907 % of the 3 d 0 h known, down once, 4 min");
});
