import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { documentOf, HAPPENED, pair, shopDown } from "../exporter/page/documents.ts";
import { SOON, useFleetPage } from "./support.ts";

const open = useFleetPage();

const FLEET = documentOf(
  [
    pair("ams"),
    shopDown(pair("rtm", { labels: { site: "rotterdam" } })),
    pair("lab", { labels: { site: "rotterdam", stage: "test" } }),
  ],
  { incidents: [...HAPPENED] },
);

const clustersOf = (page: Page): Promise<string[]> => page.locator(".cluster h3").allTextContents();

test("a typed filter narrows clusters, problems and incidents, but not the verdict", async () => {
  const { page } = await open(FLEET);
  expect(await clustersOf(page)).toEqual(["rtm", "ams", "lab"]);
  await page.keyboard.press("/");
  await page.keyboard.type("ams-2");
  await expect.poll(() => clustersOf(page), SOON).toEqual(["ams"]);
  expect(await page.locator("#matching").textContent()).toBe("1 of 3 clusters match the filter.");
  expect(await page.locator(".problems > li").count()).toBe(0);
  expect(await page.locator("#problems .note").textContent()).toBe("0 of 1 problem shown.");
  expect(await page.locator(".incidents .what").allTextContents()).toEqual([
    expect.stringContaining("ams-2"),
  ]);
  expect(await page.locator("h1").textContent()).toBe("1 problem");
});

test("a filter is part of the URL, survives a reload and new states, and can be cleared", async () => {
  const { server, page } = await open(FLEET);
  await page.getByRole("link", { name: "site=rotterdam" }).click();
  await expect.poll(() => clustersOf(page), SOON).toEqual(["rtm", "lab"]);
  await page.getByRole("searchbox").fill("lab");
  await expect.poll(() => clustersOf(page), SOON).toEqual(["lab"]);
  expect(page.url()).toBe(`${server.url}?label=site%3Drotterdam&text=lab`);
  await page.reload();
  expect(await clustersOf(page)).toEqual(["lab"]);
  await page.locator("html[data-connection=live]").waitFor();
  server.show(documentOf([pair("ams"), pair("lab", { labels: { site: "rotterdam" } })]));
  await expect.poll(() => page.locator("h1").textContent(), SOON).toBe("All is well");
  expect(await clustersOf(page)).toEqual(["lab"]);
  expect(await page.locator(".chip").allTextContents()).toEqual([
    "All 2",
    "site=rotterdam",
    "24 h",
    "30 days",
  ]);
  await page.getByRole("link", { name: "Show everything" }).click();
  await expect.poll(() => clustersOf(page), SOON).toEqual(["ams", "lab"]);
  expect(new URL(page.url()).search).toBe("");
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
});

test("without a script the page shows the whole state with its time, and the filter works by its button", async () => {
  const { page, server } = await open(FLEET, { javaScriptEnabled: false });
  expect(await page.title()).toBe("1 problem – appliance-exporter");
  expect(await page.locator(".problems .what").allTextContents()).toEqual([
    "Critical Website down Website shop is down: https 503",
  ]);
  expect(await clustersOf(page)).toEqual(["rtm", "ams", "lab"]);
  expect(await page.locator("#cluster-rtm .vrrp td .state").allTextContents()).toEqual([
    "MASTER",
    "BACKUP",
    "MASTER",
    "BACKUP",
  ]);
  expect(await page.locator("#connection").textContent()).toMatch(/as of \d\d:\d\d UTC\. Reload/);
  await page.getByRole("searchbox", { name: "Search" }).fill("ams-2");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(`${server.url}?text=ams-2`);
  expect(await clustersOf(page)).toEqual(["ams"]);
  await page.getByRole("link", { name: "Show everything" }).click();
  await page.waitForURL(`${server.url}?`);
  expect(await clustersOf(page)).toEqual(["rtm", "ams", "lab"]);
});

test("the form and the page follow the URL when the reader goes back and forward", async () => {
  const { page, server } = await open(FLEET);
  const search = page.getByRole("searchbox", { name: "Search" });
  await page.locator(".problems").getByRole("link", { name: "Website shop is down" }).click();
  await expect.poll(() => page.url(), SOON).toMatch(/problem=.*#cluster-rtm$/);
  await page.getByRole("link", { name: "stage=test" }).click();
  await search.fill("lab");
  await expect.poll(() => clustersOf(page), SOON).toEqual(["lab"]);
  await page.goBack();
  expect(page.url()).toMatch(/problem=.*#cluster-rtm$/);
  await page.goBack();
  expect(page.url()).toBe(server.url);
  await expect.poll(() => clustersOf(page), SOON).toEqual(["rtm", "ams", "lab"]);
  expect(await search.inputValue()).toBe("");
  expect(await page.locator(".clear").count()).toBe(0);
  await page.goForward();
  await page.goForward();
  await expect.poll(() => clustersOf(page), SOON).toEqual(["lab"]);
  expect(await search.inputValue()).toBe("lab");
  expect(await page.locator(".chip[aria-current]").first().textContent()).toBe("stage=test");
});
