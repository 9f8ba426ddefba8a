import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { startTestDemo } from "../demo/support.ts";
import { SOON, useBrowser } from "./support.ts";

const open = useBrowser();

const title = (page: Page): Promise<string> => page.title();
const problems = (page: Page): Promise<string[]> => page.locator(".problems .what").allTextContents();
const rolesOf = (page: Page): Promise<string[]> => page.locator(".vrrp td .state").allTextContents();
const eventsOf = (page: Page): Promise<string[]> => page.locator(".events .what").allTextContents();
const announced = (page: Page): Promise<string | null> => page.locator("#announcer").textContent();

/** The color filters of the parts of the page that show the state. */
const colorsOf = (page: Page): Promise<string[]> =>
  page
    .locator("main > :not(.lost)")
    .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).filter));

/** The demo's page once all is well, marked so that a test notices a reload. */
async function openWhenWell() {
  const demo = await startTestDemo();
  const watched = await open(`http://${demo.addresses[0]}/`);
  const { page } = watched;
  await expect.poll(() => title(page), SOON).toBe("All is well – appliance-exporter");
  await page.evaluate("window.isFirst = true");
  await page.evaluate(`window.announcements = [];
    new MutationObserver(() => announcements.push(announcer.textContent)).observe(announcer, { childList: true })`);
  return { demo, ...watched };
}

test("a failover appears by itself: the new master, since when, the problem and the event", async () => {
  const { demo, page, errors } = await openWhenWell();
  expect(await page.locator("h1").textContent()).toBe("All is well");
  expect(await rolesOf(page)).toEqual(["MASTER", "BACKUP", "MASTER", "BACKUP"]);
  demo.step();
  await expect.poll(() => rolesOf(page), SOON).toEqual(["BACKUP", "MASTER", "BACKUP", "MASTER"]);
  await expect
    .poll(() => eventsOf(page), SOON)
    .toContain("Failover demo-b took over 192.0.2.100 (vhid 1) and 198.51.100.100 (vhid 2) from demo-a");
  // On a busy machine polls stall now and then, which is a problem of its own.
  await expect
    .poll(() => problems(page), SOON)
    .toEqual([
      "Warning demo-b is MASTER of 192.0.2.100 (vhid 1) and 198.51.100.100 (vhid 2), and is not the preferred member",
    ]);
  expect(await title(page)).toMatch(/^\d problems? – appliance-exporter$/);
  expect(await page.locator(".vrrp th .words").first().textContent()).toMatch(
    /^One master, not the preferred one +(since just now|for \d+ (s|min))$/,
  );
  expect(await page.evaluate("window.announcements")).toContainEqual(expect.stringContaining("took over"));
  expect(await page.evaluate("window.isFirst")).toBe(true);
  expect(errors).toEqual([]);
});

test("an outage appears and disappears by itself", async () => {
  const { demo, page, errors } = await openWhenWell();
  demo.step();
  demo.step();
  const shop = page.locator(".websites tr").filter({ hasText: "shop" });
  await expect
    .poll(() => shop.locator("td .state").allTextContents(), SOON)
    .toEqual(["no response", "no response"]);
  await expect
    .poll(() => problems(page), SOON)
    .toContainEqual(
      expect.stringMatching(
        /^Critical Website shop is down: https no HTTP response \(.*\) from demo-a and demo-b$/,
      ),
    );
  expect(await shop.locator(".words").textContent()).toMatch(/^Down /);
  demo.step();
  await expect.poll(() => shop.locator("td .state").allTextContents(), SOON).toEqual(["200", "200"]);
  await expect.poll(() => problems(page), SOON).not.toContainEqual(expect.stringContaining("shop"));
  expect(await eventsOf(page)).toContainEqual(
    expect.stringMatching(/^Recovery Up again: website shop \(https\)/),
  );
  expect(await page.evaluate("window.isFirst")).toBe(true);
  expect(errors).toEqual([]);
});

test("the end of the exporter is shown within seconds, and its last answer is not shown as the present state", async () => {
  const { demo, page } = await openWhenWell();
  await demo.stop();
  await expect.poll(() => title(page), SOON).toBe("No answer – appliance-exporter");
  expect(await page.locator("#lost").textContent()).toMatch(
    /^No answer from the exporter since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(\d+ s\)\. Below is its last answer\.$/,
  );
  expect(await page.locator("#connection").textContent()).toBe("No answer");
  expect(await colorsOf(page)).toEqual(["grayscale(1)"]);
  const before = await page
    .locator("h1")
    .evaluate((heading) => getComputedStyle(heading, "::before").content);
  expect(before).toBe('"Last known: "');
  expect(await announced(page)).toBe("No answer from the exporter.");
});

test("the page sends requests to the exporter only", async () => {
  const { demo, requests, page } = await openWhenWell();
  expect(new Set(requests.map((url) => new URL(url).host))).toEqual(new Set(demo.addresses));
  expect(await page.evaluate("performance.getEntriesByType('resource').length")).toBeGreaterThan(3);
});
