import type { ServerResponse } from "node:http";
import { test, vi } from "vitest";
import { documentOf, NOW_MS, pair, shopDown } from "../exporter/page/documents.ts";
import { isForFragment } from "./fleet-server.ts";
import { connectionOf, SOON, useFleetPage, type OnFinished } from "./support.ts";

// All pages of this file open at once, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const open = useFleetPage();
const WELL = documentOf([pair("ams")]);
const WRONG = documentOf([shopDown(pair("ams"))]);
const startedMs = Date.now();
/** The document's time, which goes on. */
const documentTime = (): number => NOW_MS + Date.now() - startedMs;

test.concurrent("a change is shown with the first answer that contains it", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await open(WELL, { wallMs: documentTime, onFinished: onTestFinished });
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

test.concurrent("after a loss the last answer is not shown as the present state, and the page recovers by itself", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page, errors } = await open(WELL, { wallMs: documentTime, onFinished: onTestFinished });
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  expect(await page.title()).toBe("No answer – appliance-exporter");
  expect(await page.locator("#lost").textContent()).toMatch(
    /^No answer from the exporter since \d\d:\d\d:\d\d \(UTC\)\. Below is its last answer\.$/,
  );
  expect(await page.getByRole("alert").isVisible()).toBe(true);
  const colors = await page
    .locator("main > :not(.lost)")
    .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).filter));
  expect(colors).toEqual(["grayscale(1)"]);
  const before = await page
    .locator("h1")
    .evaluate((heading) => getComputedStyle(heading, "::before").content);
  expect(before).toBe('"Last known: "');
  server.show(WRONG);
  await server.start();
  await expect.poll(() => connectionOf(page), SOON).toBe("live");
  expect(await page.locator("#lost").isVisible()).toBe(false);
  expect(await page.locator("h1").textContent()).toBe("1 problem");
  expect(await page.title()).toBe("1 problem – appliance-exporter");
  expect(await page.locator("#connection").textContent()).toMatch(/^live \d\d:\d\d:\d\d · UTC$/);
  expect(errors).toEqual([]);
});

test.concurrent("an exporter that accepts connections without answering is lost, and the page recovers", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await open(WELL, { wallMs: documentTime, onFinished: onTestFinished });
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
  const { server, page } = await open(WELL, { wallMs: documentTime, onFinished: onTestFinished });
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
  const { server, page } = await open(WELL, { wallMs: documentTime, onFinished: onTestFinished });
  await page.locator("#rest-cluster-ams > summary").click();
  const age = () => page.locator(".polling time").first().textContent();
  // The browser's clock shows another day.
  await expect.poll(age, SOON).toMatch(/^([3-9]|[1-5]\d) s ago$/);
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  const then = await age();
  await page.waitForEvent("requestfailed");
  await page.waitForEvent("requestfailed");
  expect(await age()).toBe(then);
});

const NEWER = documentOf([shopDown(pair("ams"))], { exporter: { ...WELL.exporter, version: "2.0.0" } });

/** A page whose clock the test moves, and how often it was loaded since. */
async function openCounted(onFinished: OnFinished) {
  const { server, page } = await open(WELL, { onFinished });
  let loads = 0;
  page.on("load", () => (loads += 1));
  await page.clock.install();
  return { server, page, loads: () => loads };
}

test.concurrent("the page reloads when another version answers, but not at once", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page, loads } = await openCounted(onTestFinished);
  server.show(NEWER);
  await page.locator("h1", { hasText: "1 problem" }).waitFor();
  expect(loads()).toBe(0);
  await page.clock.fastForward(60_000);
  await expect.poll(loads, SOON).toBe(1);
});

test.concurrent("while the exporter is lost the page does not reload", async ({ expect, onTestFinished }) => {
  const { server, page, loads } = await openCounted(onTestFinished);
  server.show(NEWER);
  await page.locator("h1", { hasText: "1 problem" }).waitFor();
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  await page.clock.fastForward(60_000);
  await page.waitForEvent("requestfailed");
  expect(loads()).toBe(0);
  await server.start();
  await expect.poll(loads, SOON).toBe(1);
});
