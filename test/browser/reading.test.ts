import { expect, test } from "vitest";

import {
  changed,
  documentOf,
  EVENTS,
  fleetOfSize,
  pair,
  polled,
  shopDown,
  splitBrain,
} from "../page/documents.ts";
import { startFleetServer } from "./fleet-server.ts";
import { SOON, useBrowser } from "./support.ts";

const open = useBrowser();

const FLEET = [pair("ams"), pair("rtm"), pair("lab"), pair("fra")];

async function openLive(clusters = FLEET) {
  const server = await startFleetServer(documentOf(clusters, { events: [...EVENTS] }));
  const { page, errors } = await open(server.url);
  await page.locator("html[data-connection=live]").waitFor();
  return { server, page, errors };
}

test("new states leave focus, selection, scroll position and what the reader opened as they are", async () => {
  const { server, page, errors } = await openLive();
  const rtm = page.locator("#cluster-rtm");
  await rtm.locator("summary").click();
  await page.evaluate(() => {
    const address = document.querySelector("#cluster-rtm .vrrp th .title");
    if (address !== null) getSelection()?.selectAllChildren(address);
    window.scrollTo({ top: 120, behavior: "instant" });
  });
  const selected = await page.evaluate(() => getSelection()?.toString());
  const scrolled = await page.evaluate(() => window.scrollY);
  server.show(
    documentOf(
      FLEET.slice(0, 3).map((each) => changed(each, { first: { poll: polled({ durationSeconds: 1.5 }) } })),
      { events: [] },
    ),
  );
  await rtm.getByText("1.5 s").waitFor();
  expect(await rtm.evaluate((details) => details.hasAttribute("open"))).toBe(true);
  expect(await page.evaluate(() => document.activeElement?.parentElement?.id)).toBe("cluster-rtm");
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(selected);
  expect(selected).toContain("192.0.2.100");
  expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);
  expect(errors).toEqual([]);
});

test("a cluster that comes into trouble goes to the top, opens, and keeps the focus that it had", async () => {
  const { server, page } = await openLive();
  const names = () => page.locator(".cluster h3").allTextContents();
  expect(await names()).toEqual(["ams", "rtm", "lab", "fra"]);
  const lab = page.locator("#cluster-lab");
  await lab.locator("summary").focus();
  server.show(documentOf(FLEET.map((each) => (each.name === "lab" ? splitBrain(each) : each))));
  await expect.poll(names, SOON).toEqual(["lab", "ams", "rtm", "fra"]);
  expect(await lab.evaluate((details) => details.hasAttribute("open"))).toBe(true);
  await expect
    .poll(() => lab.locator(".vrrp td .state").allTextContents(), SOON)
    .toEqual(["MASTER", "MASTER", "MASTER", "MASTER"]);
  expect(await page.evaluate(() => document.activeElement?.parentElement?.id)).toBe("cluster-lab");
});

test("what the reader has closed stays closed", async () => {
  const { server, page } = await openLive([shopDown(pair("ams")), ...FLEET.slice(1)]);
  const ams = page.locator("#cluster-ams");
  await ams.locator("summary").click();
  server.show(documentOf([splitBrain(pair("ams")), ...FLEET.slice(1)]));
  await page.locator("#cluster-ams .level", { hasText: "Split brain" }).waitFor();
  expect(await ams.evaluate((details) => details.hasAttribute("open"))).toBe(false);
});

test("a cluster that opens shows what is true now, by its line as by a link", async () => {
  const { server, page } = await openLive();
  const states = (name: string) => page.locator(`#cluster-${name} .vrrp td .state`).allTextContents();
  server.show(documentOf(FLEET.map(splitBrain)));
  await page.locator("#cluster-fra .level", { hasText: "Split brain" }).waitFor();
  expect(await states("fra")).toEqual([]);
  await page.locator("#cluster-fra summary").click();
  await expect.poll(() => states("fra"), SOON).toEqual(["MASTER", "MASTER", "MASTER", "MASTER"]);
  server.show(documentOf(FLEET));
  await expect.poll(() => states("fra"), SOON).toEqual(["MASTER", "BACKUP", "MASTER", "BACKUP"]);
  await page.evaluate(() => (location.hash = "#cluster-lab"));
  await expect.poll(() => states("lab"), SOON).toEqual(["MASTER", "BACKUP", "MASTER", "BACKUP"]);
});

test("a link to a cluster opens it each time that it is followed", async () => {
  const { page } = await openLive([shopDown(pair("ams")), ...FLEET.slice(1)]);
  const [ams, link] = [page.locator("#cluster-ams"), page.getByRole("link", { name: "Cluster ams" })];
  const table = ams.getByRole("table");
  for (const round of [1, 2]) {
    await ams.locator("summary").click();
    await table.waitFor({ state: "hidden" });
    await link.click();
    await table.waitFor({ state: "visible" });
    expect(page.url(), `round ${round}`).toMatch(/#cluster-ams$/);
  }
});

test("what did not change is not touched", async () => {
  const { server, page } = await openLive();
  const show = async (site: string) => {
    const next = FLEET.map((each) => (each.name === "lab" ? { ...each, labels: { site } } : each));
    server.show(documentOf(next, { events: [...EVENTS] }));
    await page.locator("#cluster-lab summary", { hasText: `site=${site}` }).waitFor();
  };
  // The first state takes the place of what the page came with.
  await show("here");
  await page.evaluate(() => {
    const touched: string[] = [];
    Object.assign(window, { touched });
    new MutationObserver((records) => {
      for (const { target } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        if (element?.closest("time, #connection") === null) touched.push(element.closest("[id]")?.id ?? "");
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  await show("elsewhere");
  const touched = await page.evaluate<string[]>("window.touched");
  // The labels on offer are the filter's.
  expect(new Set(touched)).toEqual(new Set(["cluster-lab", "filter"]));
});

test("screen readers hear about changes", async () => {
  const { server, page } = await openLive();
  server.show(documentOf([shopDown(pair("ams")), ...FLEET.slice(1)], { events: [...EVENTS] }));
  const announcer = page.getByRole("status");
  await expect
    .poll(() => announcer.textContent(), SOON)
    .toBe("1 problem. Website shop is down: https 503 from ams-1, https no HTTP response from ams-2.");
  server.show(documentOf(FLEET, { events: [...EVENTS] }));
  await expect
    .poll(() => announcer.textContent(), SOON)
    .toBe(
      "All is well. No longer: Website shop is down: https 503 from ams-1, https no HTTP response from ams-2.",
    );
});

test("of a thousand appliances 250 lines are shown, and the others are found", async () => {
  const server = await startFleetServer(fleetOfSize(1000));
  const { page, errors } = await open(server.url);
  await page.locator("html[data-connection=live]").waitFor();
  expect(await page.locator(".cluster").count()).toBe(250);
  expect(await page.locator("#fleet > .note").last().textContent()).toContain("250 more clusters");
  expect(await page.locator("details[open]").count()).toBe(3);
  expect(await page.getByRole("table").count()).toBe(3);
  await page.locator("#cluster-pair-200 summary").click();
  const first = (name: string) => page.locator(`#cluster-${name} .vrrp td .state`).first().textContent();
  await expect.poll(() => first("pair-200"), SOON).toBe("MASTER");
  await page.evaluate(() => (location.hash = "#cluster-pair-499"));
  await expect.poll(() => first("pair-499"), SOON).toBe("MASTER");
  await expect.poll(() => page.evaluate(() => window.scrollY), SOON).toBeGreaterThan(1000);
  await page.getByRole("searchbox").fill("pair-321");
  await expect.poll(() => page.locator(".cluster").count(), SOON).toBe(1);
  expect(errors).toEqual([]);
});

test("of many clusters each is a link away without a script", async () => {
  const server = await startFleetServer(fleetOfSize(202));
  const { page } = await open(server.url, { javaScriptEnabled: false });
  const last = page.locator("#cluster-pair-100");
  await last.locator("summary").click();
  await last.getByRole("link", { name: "Show only pair-100" }).click();
  await page.waitForURL(`${server.url}?cluster=pair-100`);
  expect(await page.locator(".vrrp td .state").first().textContent()).toBe("MASTER");
  expect(await page.locator(".cluster").count()).toBe(1);
});
