import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { documentOf, pair } from "../exporter/page/documents.ts";
import { SOON, useFleetPage } from "./support.ts";

const open = useFleetPage();

const FLEET = documentOf([pair("ams")]);
/** A quarter of an hour begins: all bins but the last one of the scale are over. */
const NOW_MS = Date.parse("2026-11-26T12:00:00Z");

const WORDS = [
  "192.0.2.100 vhid 1: up 100 % of the 23 h 0 min known, 100 %",
  "2001:db8::100 vhid 2: up 100 % of the 23 h 0 min known, 100 %",
  "blog http + https: http up 100 % of the 23 h 0 min known; https up 99.565 % of the 23 h 0 min known, down once, 6 min, 99.565 %",
  "shop http + https: up 100 % of the 23 h 0 min known, 100 %",
];

/** What a screen reader says of each strip of the open cluster, and the figure beside it. */
async function stripsOf(page: Page): Promise<readonly string[]> {
  const rows = await page.locator("tbody tr:has(.strip)").all();
  return Promise.all(
    rows.map(async (row) => {
      const title = (await row.locator(".title").textContent())?.replace(/\s+/g, " ").trim();
      const words = await row.getByRole("img").getAttribute("aria-label");
      return `${title}: ${words?.replace(/^Last .*?: /, "")}, ${await row.locator(".figure").textContent()}`;
    }),
  );
}

test.each([true, false])(
  "strips show 24 hours or 30 days, chosen by a link (script: %s)",
  async (javaScriptEnabled) => {
    const { page, server } = await open(FLEET, { wallMs: () => NOW_MS, javaScriptEnabled });
    expect(await stripsOf(page)).toEqual(WORDS);
    expect((await page.locator(".legend").textContent())?.trim()).toMatch(
      /^up +impaired +planned +down +not known +The exporter did not watch for 1 h 0 min\.$/,
    );
    await page.getByRole("link", { name: "30 days" }).click();
    await page.waitForURL((url) => url.searchParams.get("timelines") === "month");
    await expect
      .poll(() => stripsOf(page), SOON)
      .toContain(
        "blog http + https: http up 100 % of the 1 d 23 h known; https up 99.787 % of the 1 d 23 h known, down once, 6 min, 99.787 %",
      );
    await page.goto(`${server.url}?timelines=month`);
    expect(await page.locator(".scales [aria-current]").textContent()).toBe("30 days");
  },
);

test("a closed cluster has one strip of the worst of its groups and websites", async () => {
  const { page } = await open(FLEET, { wallMs: () => NOW_MS, query: "?closed=cluster-ams" });
  const strip = page.locator("#cluster-ams summary").getByRole("img");
  expect(await strip.getAttribute("aria-label")).toBe("Last 24 hours: up 100 % of the 23 h 0 min known");
});

test("the pointer and the arrow keys read a strip, in the zone of the reader", async () => {
  const { page, errors } = await open(FLEET, { wallMs: () => NOW_MS, timezoneId: "Europe/Amsterdam" });
  const strip = page.locator(".websites tr", { hasText: "blog" }).getByRole("img");
  const tip = page.locator(".tip");
  await strip.hover();
  await expect.poll(() => tip.textContent(), SOON).toMatch(/^Nov 2\d \d\d:\d\d to .*: up, \d+ h \d+ min$/);
  await strip.focus();
  await expect.poll(() => tip.textContent(), SOON).toBe("11:00 to 13:00: up, 2 h 0 min");
  await strip.press("ArrowLeft");
  await expect
    .poll(() => tip.textContent(), SOON)
    .toBe("10:00 to 11:00: up, with something wrong, 1 h 0 min");
  await strip.press("ArrowLeft");
  await strip.press("ArrowLeft");
  await expect.poll(() => tip.textContent(), SOON).toBe("08:00 to 08:15: down, 15 min");
  await strip.press("Escape");
  expect(await tip.isVisible()).toBe(false);
  expect(errors).toEqual([]);
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
      .locator(".cluster summary .strip")
      .evaluateAll((strips) => strips.map((strip) => strip.getBoundingClientRect().height > 5));
    expect(heights).toEqual([true]);
  },
);

test("with forced colors what is unknown does not look as what was down", async () => {
  const { page } = await open(FLEET, { wallMs: () => NOW_MS });
  await page.emulateMedia({ forcedColors: "active" });
  const heights = await page
    .locator(".websites .strip path:is(.unknown, .down)")
    .evaluateAll((paths) =>
      paths.map((path) => [path.getAttribute("class"), path.getBoundingClientRect().height]),
    );
  const tallest = (band: string): number =>
    Math.max(...heights.map(([own, height]) => (own === band ? Number(height) : 0)));
  expect(tallest("down")).toBeGreaterThan(10);
  expect(tallest("unknown")).toBeLessThan(3);
});
