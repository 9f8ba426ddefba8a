import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { fleetOfSize } from "../web/status-page/documents.ts";
import { startFleetServer } from "./fleet-server.ts";
import { useBrowser } from "./support.ts";

const open = useBrowser();

/** How many clusters a picture of the whole page would show empty. */
function undrawn(page: Page): Promise<number> {
  return page
    .locator(".cluster summary h3")
    .evaluateAll((all) => all.filter((one) => !one.checkVisibility({ contentVisibilityAuto: true })).length);
}

test("of a hundred clusters all are drawn, in sight or not", async () => {
  const server = await startFleetServer(fleetOfSize(200));
  const { page } = await open(server.url);
  await page.locator("html[data-connection=live]").waitFor();
  expect(await page.locator(".cluster").count()).toBe(100);
  expect(await undrawn(page)).toBe(0);
});

test("of very many the last are drawn when they come into sight, and all of them on paper", async () => {
  const server = await startFleetServer(fleetOfSize(1000));
  const { page } = await open(server.url);
  await page.locator("html[data-connection=live]").waitFor();
  expect(await undrawn(page)).toBeGreaterThan(300);
  await page.emulateMedia({ media: "print" });
  expect(await undrawn(page)).toBe(0);
});
