import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { listen } from "../appliance/support.ts";
import { underPrefix } from "../../src/exporter/web/paths.ts";
import { createStatusPage, loadAssets } from "../../src/exporter/page/page.ts";
import { loadRunbook } from "../../src/exporter/page/runbook.ts";
import { createTimelines } from "../../src/history/timeline/timelines.ts";
import { documentOf, HAPPENED, pair, shopDown } from "../exporter/page/documents.ts";
import { routes, serve } from "../exporter/web/support.ts";
import { startFleetServer } from "./fleet-server.ts";
import { SOON, useBrowser } from "./support.ts";

const open = useBrowser();

test("the page, its links and updates work behind a proxy that removes a path prefix", async () => {
  const server = await startFleetServer(documentOf([pair("ams")], { incidents: [...HAPPENED] }));
  const prefix = "/tools/exporter";
  const proxy = createServer((incoming, response) => {
    if (incoming.url?.startsWith(`${prefix}/`) !== true) {
      response.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const forwarded = request(
      new URL(incoming.url.slice(prefix.length + 1), server.url),
      { method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on("error", () => response.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  const origin = `http://127.0.0.1:${await listen(proxy)}`;
  const { page, requests, errors } = await open(`${origin}${prefix}/?incident=failover`);
  await page.locator("html[data-connection=live]").waitFor();
  server.show(documentOf([shopDown(pair("ams"))], { incidents: [...HAPPENED] }));
  await expect.poll(() => page.title(), SOON).toBe("1 problem – appliance-exporter");
  await page.getByRole("link", { name: "rtm-1 is down" }).click();
  await expect.poll(() => page.url(), SOON).toBe(`${origin}${prefix}/?incident=silence#incident-silence`);
  const links = await page
    .locator("a")
    .evaluateAll((all) => all.map((link) => link instanceof HTMLAnchorElement && link.href));
  const outside = [...links, ...requests].filter((url) => !String(url).startsWith(`${origin}${prefix}/`));
  expect(outside).toEqual([]);
  expect(links.length).toBeGreaterThan(7);
  expect(errors).toEqual([]);
});

test("the page, its links and updates work under the exporter's own prefix", async () => {
  const assets = await loadAssets();
  const renderPage = createStatusPage({
    document: () => documentOf([pair("ams")]),
    timelines: { ...createTimelines(), damages: () => [] },
    wallMs: Date.now,
    telemetryPath: "/metrics",
    assets: assets.folder,
  });
  const pages = routes({ renderPage, assets: assets.files, runbook: await loadRunbook(assets.folder) });
  const origin = `http://127.0.0.1:${await serve(underPrefix("/vrrp", pages))}`;
  const { page, requests, errors } = await open(`${origin}/vrrp`);
  await page.locator("html[data-connection=live]").waitFor();
  expect(page.url()).toBe(`${origin}/vrrp/`);
  expect(requests).toContainEqual(expect.stringMatching(`^${origin}/vrrp/\\?fragment`));
  await page.getByRole("link", { name: "Runbook" }).click();
  await page.waitForURL(`${origin}/vrrp/runbook`);
  await page.getByRole("link", { name: "Status page" }).click();
  await page.waitForURL(`${origin}/vrrp/`);
  await page.getByRole("link", { name: "Configuration" }).click();
  await page.waitForURL(`${origin}/vrrp/config`);
  expect(errors).toEqual([]);
});

test("a page whose URL contains a name and a password is live, and its filter works", async () => {
  const server = await startFleetServer(documentOf([pair("ams"), pair("rtm")]));
  server.intercept(({ headers }, response) => {
    const isKnown = headers.authorization === `Basic ${btoa("operator:secret")}`;
    if (!isKnown) response.writeHead(401, { "www-authenticate": 'Basic realm="exporter"' }).end();
    return !isKnown;
  });
  const { page, errors } = await open(server.url.replace("//", "//operator:secret@"));
  await page.locator("html[data-connection=live]").waitFor();
  server.show(documentOf([shopDown(pair("ams")), pair("rtm")]));
  await expect.poll(() => page.title(), SOON).toBe("1 problem – appliance-exporter");
  await page.getByRole("searchbox").fill("rtm");
  await expect.poll(() => page.locator(".cluster h3").allTextContents(), SOON).toEqual(["rtm"]);
  expect(page.url()).toMatch(/\?text=rtm$/);
  expect(errors).toEqual([]);
});
