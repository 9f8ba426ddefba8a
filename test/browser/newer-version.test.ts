import { test, vi } from "vitest";

import { documentOf, pair, shopDown } from "../page/documents.ts";
import { isForFragment } from "./fleet-server.ts";
import { connectionOf, SOON, useFleetPage, type OnFinished } from "./support.ts";

// All pages of this file open at once, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const open = useFleetPage();

const OLDER = documentOf([pair("ams")]);
const NEWER = documentOf([shopDown(pair("ams"))], { exporter: { ...OLDER.exporter, version: "2.0.0" } });

/** A page whose clock the test moves, and how often it was loaded since. */
async function openCounted(onFinished: OnFinished) {
  const { server, page } = await open(OLDER, { onFinished });
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

test.concurrent("a slow reload is not started again", async ({ expect, onTestFinished }) => {
  const { server, page, loads } = await openCounted(onTestFinished);
  let [requests, answers] = [0, 0];
  let release: (() => void) | undefined;
  server.intercept((request, response) => {
    if (isForFragment(request) && release !== undefined && ++answers === 3) release();
    if (request.url !== "/") return false;
    requests += 1;
    release = () => {
      server.intercept(undefined);
      response.writeHead(302, { location: "/" }).end();
    };
    return true;
  });
  server.show(NEWER);
  await page.clock.fastForward(60_000);
  await expect.poll(loads, SOON).toBe(1);
  expect({ requests, answers }).toEqual({ requests: 1, answers: 3 });
});

test.concurrent("while the exporter is lost the page does not reload", async ({ expect, onTestFinished }) => {
  const { server, page, loads } = await openCounted(onTestFinished);
  server.show(NEWER);
  await page.locator("h1", { hasText: "1 problem" }).waitFor();
  await server.stop();
  await expect.poll(() => connectionOf(page), SOON).toBe("lost");
  await page.clock.fastForward(60_000);
  await page.locator("#lost", { hasText: "(1 min)" }).waitFor();
  expect(loads()).toBe(0);
  await server.start();
  await expect.poll(loads, SOON).toBe(1);
});
