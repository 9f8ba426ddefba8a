import type { ServerResponse } from "node:http";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { documentOf, pair, shopDown, NOW_MS } from "../web/status-page/documents.ts";
import { startFleetServer } from "./fleet-server.ts";
import { SOON, useBrowser } from "./support.ts";

const open = useBrowser();

const WELL = documentOf([pair("ams")]);
const WRONG = documentOf([shopDown(pair("ams"))]);

const connectionOf = (page: Page): Promise<string | null> =>
  page.evaluate(() => document.documentElement.getAttribute("data-connection"));

async function openLive() {
  const server = await startFleetServer(WELL, NOW_MS);
  const { page, errors, requests } = await open(server.url);
  await expect.poll(() => connectionOf(page), SOON).toBe("live");
  return { server, page, errors, requests };
}

test("a change is shown within two seconds", async () => {
  const { server, page } = await openLive();
  const delaysMs: number[] = [];
  // One of three at least, on a machine that has other things to do.
  for (const document of [WRONG, WELL, WRONG]) {
    const headline = document === WELL ? "All is well" : "1 problem";
    const startedMs = performance.now();
    server.show(document);
    await page.locator("h1", { hasText: headline }).waitFor();
    delaysMs.push(performance.now() - startedMs);
  }
  expect(Math.min(...delaysMs)).toBeLessThan(2000);
});

test("while nothing changes, the exporter answers 304 and the page stays live", async () => {
  const { server, page } = await openLive();
  const statuses: number[] = [];
  server.intercept((request, response) => {
    if (request.url === "/api/v1/fleet") response.once("finish", () => statuses.push(response.statusCode));
    return false;
  });
  await expect.poll(() => statuses.length, SOON).toBeGreaterThan(3);
  expect(new Set(statuses)).toEqual(new Set([304]));
  expect(await connectionOf(page)).toBe("live");
});

test("after a loss the page recovers by itself, with what is true then", async () => {
  const { server, page, errors } = await openLive();
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  expect(await page.locator("#lost").isVisible()).toBe(true);
  server.show(WRONG);
  await server.start();
  await expect.poll(() => connectionOf(page), SOON).toBe("live");
  expect(await page.locator("#lost").isVisible()).toBe(false);
  expect(await page.locator("h1").textContent()).toBe("1 problem");
  expect(await page.title()).toBe("1 problem – appliance-exporter");
  expect(await page.locator("#connection").textContent()).toMatch(/^Live, \d\d:\d\d:\d\d UTC$/);
  expect(errors).toEqual([]);
});

test("an exporter that accepts connections and says nothing is lost, and found again", async () => {
  const { server, page } = await openLive();
  const silent: ServerResponse[] = [];
  server.intercept((_request, response) => silent.push(response) > 0);
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  expect(silent).not.toEqual([]);
  server.intercept(undefined);
  await expect.poll(() => connectionOf(page), SOON).toBe("live");
});

test("what a proxy answers in its place is no answer of the exporter", async () => {
  const { server, page } = await openLive();
  for (const [status, type, body] of [
    [502, "text/html", "<h1>Bad Gateway</h1>"],
    [200, "text/html", "<h1>Who are you?</h1>"],
    [201, "application/json", "{}"],
  ] as const) {
    server.intercept((_request, response) => {
      response.writeHead(status, { "content-type": type }).end(body);
      return true;
    });
    await page.locator("#lost", { hasText: `Something else answers, with status ${status}.` }).waitFor();
  }
  expect(await connectionOf(page)).toBe("lost");
});

test("who is asked to wait waits, and says that what it shows is old", async () => {
  const { server, page } = await openLive();
  let asked = 0;
  server.intercept((_request, response) => {
    asked += 1;
    response.writeHead(429, { "retry-after": "60" }).end();
    return true;
  });
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  expect(asked).toBe(1);
});

test("relative times go on by the server's clock, and stop when the exporter is lost", async () => {
  const { server, page } = await openLive();
  const age = () => page.locator(".polling time[data-wording=ago]").first().textContent();
  // The documents are of another day than the browser's.
  await expect.poll(age, SOON).toMatch(/^[3-9] s ago$/);
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  const then = await age();
  const since = await page.locator("#lost").textContent();
  await expect.poll(() => page.locator("#lost").textContent(), SOON).not.toBe(since);
  expect(await age()).toBe(then);
});

test("a page of another version loads itself anew, though not at once", async () => {
  const { server, page } = await openLive();
  const version = () => page.locator("html").getAttribute("data-version");
  let loads = 0;
  page.on("load", () => (loads += 1));
  await page.clock.install();
  server.show({ ...WRONG, exporter: { ...WRONG.exporter, version: "2.0.0" } });
  await page.locator("h1", { hasText: "1 problem" }).waitFor();
  expect(await version()).toBe("1.2.3");
  await page.clock.fastForward(60_000);
  await expect.poll(version, SOON).toBe("2.0.0");
  await expect.poll(() => loads, SOON).toBe(1);
});
