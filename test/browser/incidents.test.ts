import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { documentOf, HAPPENED, incident, manyIncidents, pair, shopDown } from "../exporter/page/documents.ts";
import { SOON, useFleetPage } from "./support.ts";

const open = useFleetPage();

const FLEET = documentOf([shopDown(pair("ams")), pair("rtm")], {
  incidents: [...manyIncidents(20).map((each) => ({ ...each, cluster: "ams" })), ...HAPPENED],
});

const openIn = (page: Page): Promise<string[]> =>
  page.locator(".incidents details[open]").evaluateAll((all) => all.map(({ id }) => id));

test("an incident that the reader opened stays open while new ones come, and follows what is known of it", async () => {
  const { page, server, errors } = await open(FLEET);
  await page.locator("#incident-down-0 > summary").click();
  await page.locator("#incident-down-0 dl").waitFor();
  const [first, ...others] = FLEET.incidents;
  if (first === undefined) throw new Error("there are many");
  const over = { ...first, end: new Date().toISOString() };
  server.show({ ...FLEET, incidents: [incident("new", "failover", 0), over, ...others] });
  await page.locator("#incident-new").waitFor();
  expect(await openIn(page)).toEqual(["incident-down-0"]);
  await expect.poll(() => page.locator("#incident-down-0 dl").textContent(), SOON).toContain("Over");
  expect(errors).toEqual([]);
});

test("the address of an earlier incident opens it in view, links lead to others, and a filter keeps it", async () => {
  const { page, server, errors } = await open(FLEET, { query: "?cluster=rtm&incident=failover" });
  expect(await openIn(page)).toEqual(["incident-failover"]);
  const isInView = () =>
    page.locator("#incident-failover").evaluate((one) => one.getBoundingClientRect().top < innerHeight);
  expect(await isInView()).toBe(true);
  await page.getByRole("link", { name: "rtm-1 is down" }).click();
  await expect
    .poll(() => page.url(), SOON)
    .toBe(`${server.url}?cluster=rtm&incident=silence#incident-silence`);
  await expect.poll(() => openIn(page), SOON).toEqual(["incident-failover", "incident-silence"]);
  await page.locator("html[data-connection=live]").waitFor();
  await page.getByRole("searchbox").fill("rtm-2");
  await expect
    .poll(() => page.url(), SOON)
    .toBe(`${server.url}?cluster=rtm&incident=silence&text=rtm-2#incident-silence`);
  await page.locator("#incident-silence > summary").click();
  await expect.poll(() => openIn(page), SOON).toEqual(["incident-failover"]);
  await page.getByRole("link", { name: "Show everything" }).click();
  await expect.poll(() => page.locator("#incident-silence").count(), SOON).toBe(0);
  expect(errors).toEqual([]);
});

test("without a script a link in a closed incident opens it, and the filter keeps it", async () => {
  const { page, server } = await open(FLEET, { javaScriptEnabled: false, query: "?cluster=rtm" });
  await page.locator("#incident-failover > summary").click();
  await page.locator("#incident-failover").getByRole("link", { name: "Show" }).click();
  await expect
    .poll(() => page.url(), SOON)
    .toBe(`${server.url}?cluster=rtm&open=incident-failover#incident-failover`);
  expect(await page.locator("#incident-failover dl").textContent()).toContain(
    "rtm-1 stopped answering (timeout)",
  );
  await page.locator("#incident-failover").getByRole("link", { name: "This incident" }).click();
  await page.waitForURL(/incident=failover/);
  await page.getByRole("searchbox").press("Enter");
  await page.waitForURL(/\?text=&cluster=rtm&incident=failover/);
  expect(await openIn(page)).toEqual(["incident-failover"]);
});
