import { test } from "vitest";

import { NOW_MS } from "../web/status-page/documents.ts";
import { connectionOf, undrawable, useLivePage, WELL, WRONG } from "./live-page.ts";
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
  "a cache that leaves queries aside and answers %i for ever with what it once had is not the exporter",
  async (status, { expect, onTestFinished }) => {
    const { server, page } = await openLive(onTestFinished);
    const date = new Date(NOW_MS + 60_000).toUTCString();
    server.intercept((request, response) => {
      const etag = request.headers["if-none-match"];
      response.writeHead(status, etag === undefined ? { date } : { date, etag });
      response.end(status === 200 ? JSON.stringify(WRONG) : undefined);
      return true;
    });
    await page.locator("#lost", { hasText: `Something else answers, with status ${status}.` }).waitFor();
    server.intercept(undefined);
    await expect.poll(() => connectionOf(page), SOON).toBe("live");
  },
);

test.concurrent("a cache that gives what it has stored under a date of now hides nothing", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await openLive(onTestFinished);
  const stored = new Set<string | undefined>();
  server.intercept(({ url }, response) => {
    if (!stored.has(url)) return stored.add(url) === undefined;
    response.writeHead(200).end(JSON.stringify(WELL));
    return true;
  });
  await expect.poll(() => stored.size, SOON).toBeGreaterThan(0);
  server.show(WRONG);
  await expect.poll(() => page.locator("h1").textContent(), SOON).toBe("1 problem");
  expect(await connectionOf(page)).toBe("live");
});

test.concurrent.for([
  ["without a tag", undefined],
  ["with another tag", 'W/"another"'],
] as const)("a 304 %s is no answer", async ([, etag], { expect, onTestFinished }) => {
  const { server, page } = await openLive(onTestFinished);
  server.intercept((_request, response) => {
    response.writeHead(304, etag === undefined ? {} : { etag }).end();
    return true;
  });
  await page.locator("#lost", { hasText: "Something else answers, with status 304." }).waitFor();
  server.intercept(undefined);
  await expect.poll(() => connectionOf(page), SOON).toBe("live");
});

test.concurrent("a 304 to a question that carried no tag is no answer", async ({
  expect,
  onTestFinished,
}) => {
  const { server, page } = await openLive(onTestFinished);
  const asked: (string | undefined)[] = [];
  server.intercept(({ headers }, response) => {
    asked.push(headers["if-none-match"]);
    response.writeHead(304, { etag: 'W/"one"' }).end();
    return true;
  });
  // As after what could not be shown: the whole document is asked for.
  await page.evaluate(() => dispatchEvent(new Event("error")));
  await page.locator("#lost", { hasText: "Something else answers, with status 304." }).waitFor();
  expect(asked.at(-1)).toBeUndefined();
});
