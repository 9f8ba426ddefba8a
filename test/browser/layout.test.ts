import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PLAYED_MS, playFleet, type Situation } from "../exporter/page/played-fleet.ts";
import { SOON, useFleetPage, violationsOf } from "./support.ts";

const open = useFleetPage();

const SCREENS = {
  desktop: { width: 1280, height: 800 },
  wide: { width: 1920, height: 1080 },
  phone: { width: 390, height: 844 },
} as const;

async function openPlayed(
  situation: Situation,
  screen: keyof typeof SCREENS,
  { query = "", size }: { readonly query?: string; readonly size?: number } = {},
) {
  const { document, timelines } = await playFleet(situation, size);
  return open(document, {
    timelines,
    wallMs: () => PLAYED_MS,
    query,
    viewport: SCREENS[screen],
    timezoneId: "Europe/Amsterdam",
  });
}

const heightOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollHeight);

test.each(["desktop", "phone"] as const)(
  "the first screen says what is wrong, since when, and who is MASTER there: %s",
  async (screen) => {
    const { page, errors } = await openPlayed("trouble", screen);
    expect(await page.locator("h1").textContent()).toBe("9 problems");
    for (const part of [".what", ".age"]) {
      const bottoms = await page
        .locator(`.problems ${part}`)
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
      expect(bottoms).toHaveLength(9);
      expect(Math.max(...bottoms)).toBeLessThan(SCREENS[screen].height);
    }
    const masters = await page.locator(".problems .who").allInnerTexts();
    expect(masters.filter((text) => text !== "")).toEqual([
      "2 masters: waf-ams-1, waf-ams-2",
      "master not known",
      ...["lon", "waw", "sin", "muc", "ber"].map((name) => `waf-${name}-1`),
    ]);
    const [age] = await page.locator(".problems .age").allInnerTexts();
    expect(age).toBe(screen === "phone" ? "3 min" : "3 min, since 05:31");
    expect(errors).toEqual([]);
  },
);

test.each([
  ["wide", 4000],
  ["phone", 6500],
] as const)(
  "60 clusters with nine problems are at most so high on a screen: %s, %i px",
  async (screen, most) => {
    const { page } = await openPlayed("trouble", screen);
    expect(await page.locator(".cluster").count()).toBe(60);
    expect(await heightOf(page)).toBeLessThan(most);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(SCREENS[screen].width);
  },
);

test.each(
  (["desktop", "phone"] as const).flatMap((screen) => [
    [screen, "well", "vie"] as const,
    [screen, "split", "ams"] as const,
    [screen, "dark", "par"] as const,
  ]),
)(
  "an open cluster of two members, two groups and ten websites is at most 560 px high: %s, %s",
  async (screen, situation, name) => {
    const query = `?open=cluster-${name}#cluster-${name}`;
    const { page } = await openPlayed(situation, screen, { query });
    const cluster = page.locator(`#cluster-${name}`);
    const height = await cluster.evaluate((one) => one.getBoundingClientRect().height);
    expect(height).toBeGreaterThan(200);
    expect(height).toBeLessThanOrEqual(560);
    // The cells of members are beside each other, and the table is not wider than its place.
    const isFitting = await cluster
      .locator(".scroll")
      .first()
      .evaluate((one) => one.scrollWidth <= one.clientWidth);
    expect(isFitting).toBe(true);
    const tops = await cluster
      .locator(".vrrp tr:first-child td:not(:is(.past, .figure))")
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
    expect(tops).toHaveLength(2);
    expect(new Set(tops).size).toBe(1);
  },
);

test.each([
  [60, 14],
  [200, 12],
] as const)(
  "a wall has %i clusters without scrolling, in letters of %i px or more",
  async (size, letters) => {
    const { page, errors } = await openPlayed("trouble", "wide", { query: "?view=wall", size });
    expect(await page.locator(".tiles > li").count()).toBe(size);
    expect(await heightOf(page)).toBe(1080);
    const sizes = await page
      .locator(".tiles :is(strong, .who)")
      .evaluateAll((all) => all.map((one) => Number.parseFloat(getComputedStyle(one).fontSize)));
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(letters);
    expect(await page.locator(".tiles strong").first().textContent()).toBe("ams");
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
  },
);

test("a phone shows one part at a time, below the verdict", async () => {
  const { page } = await openPlayed("trouble", "phone");
  const shown = (): Promise<boolean[]> =>
    Promise.all(["problems", "fleet", "history"].map((id) => page.locator(`#${id}`).isVisible()));
  const tab = (name: string) => page.locator(".tabs").getByRole("link", { name }).click();
  expect(await shown()).toEqual([true, true, false]);
  await tab("Happened");
  await expect.poll(shown, SOON).toEqual([false, false, true]);
  await tab("Clusters 60");
  await expect.poll(shown, SOON).toEqual([false, true, false]);
  await tab("Problems 9");
  await expect.poll(shown, SOON).toEqual([true, true, false]);
  expect(await page.locator("h1").isVisible()).toBe(true);
});

test("planned work is blue in its line, its clusters and its incidents", async () => {
  const { page } = await openPlayed("planned", "desktop", { query: "?open=cluster-rtm" });
  expect(await page.locator("h1").textContent()).toBe("All is well but planned work: 2 until 06:00");
  const levelsOf = (selector: string): Promise<(string | null)[]> =>
    page.locator(selector).evaluateAll((all) => all.map((one) => one.getAttribute("data-level")));
  expect(new Set(await levelsOf(".problems > li"))).toEqual(new Set(["planned"]));
  expect((await levelsOf(".cluster")).slice(0, 3)).toEqual(["planned", "planned", "well"]);
  expect(new Set(await levelsOf("#cluster-rtm .vrrp tr[data-level]"))).toEqual(new Set(["planned"]));
  expect((await levelsOf(".incidents > li")).slice(0, 3)).toEqual(["planned", "planned", "planned"]);
});

test.each([
  ["a click in a row", "#cluster-ams .vrrp tr:first-child .strip", false],
  ["Enter in a row", "#cluster-ams .vrrp tr:first-child .strip", true],
  ["a click in a line", "#cluster-ams > summary .strip", false],
] as const)("what opens the incident of trouble in a strip: %s", async (_, selector, isKey) => {
  const { page, errors } = await openPlayed("split", "desktop", { query: "?open=cluster-ams" });
  const strip = page.locator(selector).first();
  const { width, height } = (await strip.boundingBox()) ?? { width: 0, height: 0 };
  if (isKey) await strip.press("Enter");
  else await strip.click({ position: { x: width - 1, y: height / 2 } });
  const opened = page.locator(".incidents li[aria-current] .what");
  await expect.poll(() => opened.allTextContents(), SOON).toEqual([expect.stringMatching(/Split brain/)]);
  expect(await page.locator("#cluster-ams").getAttribute("open")).not.toBeNull();
  expect(errors).toEqual([]);
});

test("a line says which problems may follow from the one above", async () => {
  const { page } = await openPlayed("trouble", "desktop");
  const followers = await page.locator(".problems li:has(.follows)").allInnerTexts();
  expect(followers).toHaveLength(1);
  expect(followers[0]).toMatch(/^muc\s+May follow from that:\s+→\s+Unknown\s+Backup unknown/);
});

test("however long the name of a trouble is, its age is in sight", async () => {
  const { page } = await openPlayed("trouble", "desktop");
  const isInside = await page.locator("#cluster-muc > summary .level").evaluate((level) => {
    const age = level.querySelector("time")?.getBoundingClientRect();
    return age !== undefined && age.width > 0 && age.right <= level.getBoundingClientRect().right + 1;
  });
  expect(isInside).toBe(true);
});

test("with forced colors each state has a sign of its own within a border", async () => {
  const { page } = await openPlayed("trouble", "desktop", { query: "?open=cluster-ams&open=cluster-par" });
  await page.emulateMedia({ forcedColors: "active" });
  const signs = await page.locator(".mark").evaluateAll((all) =>
    all.map((one) => {
      const { backgroundColor, borderTopStyle } = getComputedStyle(one);
      const { content } = getComputedStyle(one, "::before");
      const level = one.getAttribute("data-level") ?? "";
      return { level, isBordered: borderTopStyle === "solid", look: `${content} ${backgroundColor}` };
    }),
  );
  const looks = new Map(signs.map(({ level, look }) => [level, look]));
  expect([...looks.keys()].toSorted()).toEqual([
    "backup",
    "critical",
    "master",
    "unknown",
    "warning",
    "well",
  ]);
  expect(new Set(looks.values()).size).toBe(looks.size);
  expect(signs.filter(({ isBordered }) => !isBordered)).toEqual([]);
});

test("in print the tables of what is not well are open, and afterwards as before", async () => {
  const { page, errors } = await openPlayed("trouble", "desktop");
  const opened = (): Promise<number> => page.locator(".cluster > details[open] table").count();
  expect(await opened()).toBe(0);
  await page.evaluate(() => {
    const { dataset } = document.documentElement;
    addEventListener("beforeprint", () => {
      dataset["printed"] = String(document.querySelectorAll(".cluster > details[open] table").length);
    });
  });
  await page.pdf();
  expect(await page.locator("html").getAttribute("data-printed")).toBe("7");
  await expect.poll(opened, SOON).toBe(0);
  expect(errors).toEqual([]);
});

test("in print the verdict does not stick, and the controls are gone", async () => {
  const { page } = await openPlayed("split", "desktop", { query: "?open=cluster-ams" });
  await page.emulateMedia({ media: "print" });
  expect(await page.locator(".bar").isVisible()).toBe(false);
  expect(await page.locator("#cluster-ams table").first().isVisible()).toBe(true);
  expect(await page.locator(".verdict").evaluate((one) => getComputedStyle(one).position)).toBe("static");
});
