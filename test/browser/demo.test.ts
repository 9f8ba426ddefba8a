import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startTestDemo } from "../program/demo/support.ts";
import { SOON, useBrowser } from "./support.ts";

const open = useBrowser();

const title = (page: Page): Promise<string> => page.title();
const problems = (page: Page): Promise<string[]> =>
  page.locator(".problems .what > span:last-child").allTextContents();
const rolesOf = (page: Page): Promise<string[]> => page.locator(".vrrp td .state").allTextContents();
const incidentsOf = (page: Page): Promise<string[]> => page.locator(".incidents .what").allTextContents();
/** The demo's page once all is well, marked so that a test notices a reload. */
async function openWhenWell() {
  const demo = await startTestDemo();
  const watched = await open(`http://${demo.addresses[0]}/`);
  const { page } = watched;
  await expect.poll(() => title(page), SOON).toBe("All is well – appliance-exporter");
  await page.evaluate("window.isFirst = true");
  return { demo, ...watched };
}

test("a failover appears by itself: the new master, since when, the problem and the incident", async () => {
  const { demo, page, errors } = await openWhenWell();
  // Discovered websites are not known for a moment.
  await expect.poll(() => page.locator("h1").textContent(), SOON).toBe("All is well");
  const [before, after] = [
    ["MASTER", "BACKUP", "BACKUP"],
    ["BACKUP", "MASTER", "BACKUP"],
  ];
  expect(await rolesOf(page)).toEqual([...before, ...before]);
  demo.step();
  await expect.poll(() => rolesOf(page), SOON).toEqual([...after, ...after]);
  await expect
    .poll(() => incidentsOf(page), SOON)
    .toContainEqual(
      expect.stringMatching(
        /^(Warning )?demo-b took over 192\.0\.2\.100 \(vhid 1\) and 1 more VIP from demo-a/,
      ),
    );
  // On a busy machine polls stall now and then, which is a problem of its own.
  await expect
    .poll(() => problems(page), SOON)
    .toEqual(["demo-b is MASTER of 192.0.2.100 and 1 more VIP, and is not the preferred member"]);
  expect(await title(page)).toMatch(/^\d problems? – appliance-exporter$/);
  expect(await page.locator(".vrrp th .words").first().textContent()).toMatch(
    /^One master, not the preferred one +for \d+ (s|min) *$/,
  );
  expect(await page.evaluate("window.isFirst")).toBe(true);
  expect(errors).toEqual([]);
});
