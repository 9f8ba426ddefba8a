import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { documentOf, pair } from "../exporter/page/documents.ts";
import { SOON, useFleetPage } from "./support.ts";

const open = useFleetPage();

const FLEET = documentOf([pair("ams")]);
/** A quarter of an hour begins: all bins but the last one of the scale are over. */
const NOW_MS = Date.parse("2026-11-26T12:00:00Z");

const WORDS = [
  "192.0.2.100 and 1 more: up 100 % of the 23 h 0 min known",
  "blog http: up 100 % of the 23 h 0 min known",
  "blog https: up 99.565 % of the 23 h 0 min known, down once, 6 min",
  "shop http: up 100 % of the 23 h 0 min known",
  "shop https: up 100 % of the 23 h 0 min known",
];

/** What a screen reader says of each strip of the open cluster. */
async function stripsOf(page: Page): Promise<readonly string[]> {
  const rows = await page.locator(".timelines li:not(.axis)").all();
  return Promise.all(
    rows.map(async (row) => {
      const title = (await row.locator(".title").textContent())?.replace(/\s+/g, " ").trim();
      return `${title}: ${await row.getByRole("img").getAttribute("aria-label")}`;
    }),
  );
}

test.each([true, false])(
  "strips show 24 hours or 30 days, chosen in the form (script: %s)",
  async (javaScriptEnabled) => {
    const { page, server } = await open(FLEET, { wallMs: () => NOW_MS, javaScriptEnabled });
    expect(await stripsOf(page)).toEqual(WORDS);
    expect(await page.locator(".timelines .note").first().textContent()).toBe(
      "Last 24 hours, UTC. The exporter did not watch for 1 h 0 min.",
    );
    await page.getByRole("combobox", { name: "Timelines" }).selectOption("Last 30 days");
    if (!javaScriptEnabled) await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL((url) => url.searchParams.get("timelines") === "month");
    await expect
      .poll(() => page.locator(".timelines .note").first().textContent(), SOON)
      .toContain("Last 30 days");
    expect(await stripsOf(page)).toContain("blog https: up 99.787 % of the 1 d 23 h known, down once, 6 min");
    await page.goto(`${server.url}?timelines=month`);
    expect(await page.getByRole("combobox", { name: "Timelines" }).inputValue()).toBe("month");
  },
);

test("a closed cluster has one strip of the worst of its groups and websites", async () => {
  const { page } = await open(FLEET, { wallMs: () => NOW_MS, query: "?closed=cluster-ams" });
  const strip = page.locator("#cluster-ams summary").getByRole("img");
  expect(await strip.getAttribute("aria-label")).toBe("Last 24 hours: up 100 % of the 23 h 0 min known");
});

test.each([390, 1280])(
  "no strip is wider than the page at %i px, and none is lost in print",
  async (width) => {
    const { page } = await open(FLEET, { wallMs: () => NOW_MS, viewport: { width, height: 900 } });
    const isWider = (): Promise<boolean> =>
      page.evaluate("document.documentElement.scrollWidth > innerWidth");
    expect(await isWider()).toBe(false);
    await page.emulateMedia({ media: "print" });
    const heights = await page
      .locator(".strip")
      .evaluateAll((strips) => strips.map((strip) => strip.getBoundingClientRect().height > 5));
    expect(heights).toEqual(Array(6).fill(true));
  },
);

test("with forced colors what is unknown does not look as what was down", async () => {
  const { page } = await open(FLEET, { wallMs: () => NOW_MS });
  await page.emulateMedia({ forcedColors: "active" });
  const fills = await page.evaluate(() =>
    ["unknown", "down"].map((band) => {
      const path = document.querySelector(`.timelines .strip .${band}`);
      return path && getComputedStyle(path).fill;
    }),
  );
  expect(fills).toEqual(['url("#hatch")', "rgb(0, 0, 0)"]);
});
