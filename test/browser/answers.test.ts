import { test } from "vitest";

import { NOW_MS } from "../web/status-page/documents.ts";
import { connectionOf, undrawable, useLivePage, WRONG } from "./live-page.ts";
import { SOON } from "./support.ts";

const openLive = useLivePage();

test.concurrent.for(["page", "table"] as const)(
  "a document that cannot be shown is no answer, and is asked for again: %s",
  async (where, { expect, onTestFinished }) => {
    const { server, page } = await openLive(onTestFinished);
    server.show(undrawable(WRONG, where));
    await page.locator("#lost", { hasText: "What it sends now cannot be shown here" }).waitFor();
    expect(await connectionOf(page)).toBe("lost");
    const statuses: number[] = [];
    server.intercept((_request, response) => {
      response.once("finish", () => statuses.push(response.statusCode));
      return false;
    });
    await expect.poll(() => statuses.length, SOON).toBeGreaterThan(2);
    expect(new Set(statuses)).toEqual(new Set([200]));
    server.show(WRONG);
    await expect.poll(() => connectionOf(page), SOON).toBe("live");
    expect(await page.locator("h1").textContent()).toBe("1 problem");
  },
);

test.concurrent("what fails when it is opened is not hidden behind answers that nothing has changed", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await openLive(onTestFinished);
  await page.locator(".cluster summary").click();
  server.show(undrawable(WRONG, "table"));
  await page.locator("h1", { hasText: "1 problem" }).waitFor();
  expect(await connectionOf(page)).toBe("live");
  await page.locator(".cluster summary").click();
  await page.locator("#lost", { hasText: "What it sends now cannot be shown here" }).waitFor();
  expect(await connectionOf(page)).toBe("lost");
});

test.concurrent.for([304, 200])(
  "a cache that answers %i for ever with what it once had is not the exporter",
  async (status, { expect, onTestFinished }) => {
    const { server, page } = await openLive(onTestFinished);
    const date = new Date(NOW_MS + 60_000).toUTCString();
    server.intercept((_request, response) => {
      response.writeHead(status, { date }).end(status === 200 ? JSON.stringify(WRONG) : undefined);
      return true;
    });
    await page.locator("#lost", { hasText: `Something else answers, with status ${status}.` }).waitFor();
    server.intercept(undefined);
    await expect.poll(() => connectionOf(page), SOON).toBe("live");
  },
);
