import { test } from "vitest";

import type { FleetDocument } from "../../src/status/schema.ts";
import { NOW_MS } from "../web/status-page/documents.ts";
import { connectionOf, useLivePage, WRONG } from "./live-page.ts";
import { SOON } from "./support.ts";

const openLive = useLivePage();

/** What a page made for another version of the document cannot draw: all of it, or of a cluster what is seen when it opens. */
function undrawable(document: FleetDocument, where: "page" | "table"): FleetDocument {
  if (where === "page") return Object.assign({ ...document }, { verdict: "later" });
  const clusters = document.clusters.map((cluster) => ({
    ...cluster,
    groups: cluster.groups.map((group) => Object.assign({ ...group }, { state: "later" })),
  }));
  return { ...document, clusters };
}

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

test.concurrent("a newer version whose document cannot be shown brings its own page", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await openLive(onTestFinished);
  await page.clock.install();
  let loads = 0;
  const newer = { ...WRONG, exporter: { ...WRONG.exporter, version: "2.0.0" } };
  server.intercept(({ url }, response) => {
    if (url === "/") loads += 1;
    // The clock that was moved stays so: the new page would think itself old, and find its own exporter another one.
    if (url !== "/api/v1/fleet" || loads > 0) return false;
    response.end(JSON.stringify(undrawable(newer, "page")));
    return true;
  });
  await page.clock.fastForward(60_000);
  await expect.poll(() => loads, SOON).toBe(1);
});

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
