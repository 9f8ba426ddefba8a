import type { ServerResponse } from "node:http";

import { test, vi } from "vitest";

import { documentOf, NOW_MS, pair, shopDown } from "../page/documents.ts";
import { isForFragment } from "./fleet-server.ts";
import { connectionOf, SOON, useFleetPage } from "./support.ts";

// All pages of this file open at once, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const open = useFleetPage();
const WELL = documentOf([pair("ams")]);
const WRONG = documentOf([shopDown(pair("ams"))]);

test.concurrent("a change is shown with the first answer that contains it", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await open(WELL, { nowMs: NOW_MS, onFinished: onTestFinished });
  let answers = 0;
  server.intercept((request, response) => {
    if (isForFragment(request)) response.once("finish", () => (answers += 1));
    return false;
  });
  for (const document of [WRONG, WELL, WRONG]) {
    const headline = document === WELL ? "All is well" : "1 problem";
    const before = answers;
    server.show(document);
    await page.locator("h1", { hasText: headline }).waitFor();
    // One answer may have been in flight, and another may have arrived before this process looked.
    expect(answers - before).toBeLessThanOrEqual(3);
  }
});

test.concurrent("after a loss the page recovers by itself and shows the present state", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page, errors } = await open(WELL, { nowMs: NOW_MS, onFinished: onTestFinished });
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

test.concurrent("an exporter that accepts connections without answering is lost, and the page recovers", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await open(WELL, { nowMs: NOW_MS, onFinished: onTestFinished });
  const silent: ServerResponse[] = [];
  server.intercept((_request, response) => silent.push(response) > 0);
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  expect(silent).not.toEqual([]);
  server.intercept(undefined);
  await expect.poll(() => connectionOf(page), SOON).toBe("live");
});

test.concurrent("an answer of a proxy is not an answer of the exporter", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await open(WELL, { nowMs: NOW_MS, onFinished: onTestFinished });
  for (const [status, type, body] of [
    [502, "text/html", "<h1>Bad Gateway</h1>"],
    [200, "text/html", "<h1>Who are you?</h1>"],
    [304, "text/html", ""],
  ] as const) {
    server.intercept((_request, response) => {
      response.writeHead(status, { "content-type": type }).end(body);
      return true;
    });
    await page
      .locator("#lost", { hasText: `The last response was not the status page (HTTP ${status}).` })
      .waitFor();
  }
  expect(await connectionOf(page)).toBe("lost");
});

test.concurrent("relative times follow the server's clock, and stop when the exporter is lost", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await open(WELL, { nowMs: NOW_MS, onFinished: onTestFinished });
  const age = () => page.locator(".polling time").first().textContent();
  // The browser's clock shows another day.
  await expect.poll(age, SOON).toMatch(/^([3-9]|[1-5]\d) s ago$/);
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  const then = await age();
  const since = await page.locator("#lost").textContent();
  await expect.poll(() => page.locator("#lost").textContent(), SOON).not.toBe(since);
  expect(await age()).toBe(then);
});
