import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  changed,
  documentOf,
  HAPPENED,
  fleetOfSize,
  manyIncidents,
  NOW_MS,
  pair,
  polled,
  shopDown,
  splitBrain,
} from "../exporter/page/documents.ts";
import { PLAYED_MS, playFleet } from "../exporter/page/played-fleet.ts";
import { SOON, useFleetPage } from "./support.ts";

const open = useFleetPage();

const FLEET = [pair("ams"), pair("rtm"), pair("lab"), pair("fra")];

const openLive = (clusters = FLEET) =>
  open(documentOf(clusters, { incidents: [...HAPPENED] }), { wallMs: () => NOW_MS });

/** The fleet after another poll: durations differ, and one cluster and the incidents are gone. */
const LATER = documentOf(
  FLEET.slice(0, 3).map((each) => changed(each, { first: { poll: polled({ durationSeconds: 1.5 }) } })),
);

test("an update keeps open what the reader opened, and closed what the reader closed", async () => {
  const many = documentOf(
    Array.from({ length: 12 }, (_, index) => shopDown(pair(`c${index}`))),
    { incidents: manyIncidents(12) },
  );
  const { server, page } = await open(many);
  for (const id of ["cluster-c7", "more-problems", "earlier-incidents", "cluster-c0"])
    await page.locator(`#${id} > summary`).click();
  const openIds = () =>
    page.locator("details[open]").evaluateAll((all) => all.map(({ id }) => id).toSorted());
  const expected = ["cluster-c0", "cluster-c7", "earlier-incidents", "more-problems"];
  await expect.poll(openIds, SOON).toEqual(expected);
  await page.locator("#more-problems li").nth(1).waitFor();
  await page.locator("#earlier-incidents li").nth(3).waitFor();
  server.show({ ...many, incidents: manyIncidents(13) });
  await expect.poll(() => page.locator("#earlier-incidents li").count(), SOON).toBe(5);
  expect(await openIds()).toEqual(expected);
  await page.locator("#cluster-c7 table").waitFor();
});

/** Opens a cluster with its folded part. */
async function openWhole(page: Page): Promise<void> {
  await page.locator("#cluster-rtm > summary").click();
  await page.locator("#rest-cluster-rtm > summary").click();
  await page.locator("#rest-cluster-rtm table").waitFor();
}

test("an update keeps the selection", async () => {
  const { server, page, errors } = await openLive();
  await openWhole(page);
  const address = page.locator("#cluster-rtm .vrrp th .title").first();
  await address.evaluate((element) => getSelection()?.selectAllChildren(element));
  const selected = () => page.evaluate(() => getSelection()?.toString());
  expect(await selected()).toContain("192.0.2.100");
  server.show(LATER);
  await page.locator("#cluster-rtm").getByText("1.5 s").waitFor();
  expect(await selected()).toContain("192.0.2.100");
  expect(errors).toEqual([]);
});

test("an update keeps the focus and the scroll positions", async () => {
  const { server, page } = await openLive();
  await page.setViewportSize({ width: 360, height: 600 });
  await openWhole(page);
  await page.locator("#cluster-rtm > summary").focus();
  await page.evaluate(() => window.scrollTo({ top: 160, behavior: "instant" }));
  const seen = () => page.evaluate(() => [document.activeElement?.parentElement?.id, window.scrollY]);
  const before = await seen();
  expect(before).toEqual(["cluster-rtm", 160]);
  const later = FLEET.map((each) => changed(each, { first: { poll: polled({ durationSeconds: 1.5 }) } }));
  server.show(documentOf(later, { incidents: [...HAPPENED] }));
  await page.locator("#cluster-rtm").getByText("1.5 s").waitFor();
  expect(await seen()).toEqual(before);
});

test("typed text stays, with its cursor and spaces", async () => {
  const { server, page } = await openLive();
  const search = page.getByRole("searchbox");
  await search.pressSequentially("rtm ");
  await expect.poll(() => page.locator(".cluster").count(), SOON).toBe(1);
  server.show(LATER);
  await expect.poll(() => page.locator("#history li").count(), SOON).toBe(0);
  expect(await search.inputValue()).toBe("rtm ");
  await search.press("ArrowLeft");
  server.show(documentOf(FLEET, { incidents: [...HAPPENED] }));
  await page.locator("#history li").first().waitFor();
  await search.pressSequentially("-1");
  expect(await search.inputValue()).toBe("rtm-1 ");
});

test("a cluster with a new problem moves to the top, and keeps its focus", async () => {
  const { server, page } = await openLive();
  const names = () => page.locator(".cluster h3").allTextContents();
  expect(await names()).toEqual(["ams", "rtm", "lab", "fra"]);
  const lab = page.locator("#cluster-lab");
  await lab.locator("summary").focus();
  server.show(documentOf(FLEET.map((each) => (each.name === "lab" ? splitBrain(each) : each))));
  await expect.poll(names, SOON).toEqual(["lab", "ams", "rtm", "fra"]);
  expect(await page.evaluate(() => document.activeElement?.parentElement?.id)).toBe("cluster-lab");
});

test("a cluster that the reader closed stays closed", async () => {
  const { server, page } = await openLive([shopDown(pair("ams")), ...FLEET.slice(1, 3)]);
  const ams = page.locator("#cluster-ams");
  await page.locator("#cluster-ams > summary").click();
  server.show(documentOf([splitBrain(pair("ams")), ...FLEET.slice(1, 3)]));
  await page.locator("#cluster-ams .level", { hasText: "Split brain" }).waitFor();
  expect(await ams.evaluate((details) => details.hasAttribute("open"))).toBe(false);
});

test("an update touches only what changed", async () => {
  const { server, page } = await openLive();
  const show = async (site: string) => {
    const next = FLEET.map((each) => (each.name === "lab" ? { ...each, labels: { site } } : each));
    server.show(documentOf(next, { incidents: [...HAPPENED] }));
    await page.locator(`#cluster-lab h3[title="site=${site}"]`).waitFor();
  };
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
  // The filter offers the labels.
  expect(new Set(touched)).toEqual(new Set(["cluster-lab", "fleet"]));
});

test("screen readers announce a new verdict and new incidents, and nothing else", async () => {
  const { server, page } = await openLive();
  await page.evaluate(() => {
    const announced: string[] = [];
    Object.assign(window, { announced });
    const note = (records: readonly MutationRecord[]): void => {
      for (const { target, addedNodes } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        const region = element?.closest("[role=status], [aria-relevant=additions]");
        if (region?.matches("[role=status]")) announced.push(region.textContent.trim());
        else if (region) for (const node of addedNodes) announced.push(node.textContent?.trim() ?? "");
      }
    };
    const options = { subtree: true, childList: true, characterData: true };
    new MutationObserver(note).observe(document.body, options);
  });
  const [latest] = manyIncidents(1);
  if (latest === undefined) throw new Error("there is one");
  const down = [shopDown(pair("ams")), ...FLEET.slice(1)];
  server.show(documentOf(down, { incidents: [latest, ...HAPPENED] }));
  await page.locator("#history li").nth(HAPPENED.length).waitFor();
  const announced = await page.evaluate<string[]>("window.announced");
  expect(announced).toContainEqual(expect.stringMatching(/^1 problem\s+1 critical\s+3 of 4 clusters well$/));
  expect(announced.filter((text) => text.includes("pair-000"))).toEqual([
    expect.stringContaining("Website shop is down: https 503 from pair-000-1"),
  ]);
});

test("with a thousand appliances 250 lines are shown, and the filter finds the others", async () => {
  const { page, errors } = await open(fleetOfSize(1000));
  expect(await page.locator(".cluster").count()).toBe(250);
  expect(await page.locator("#fleet > .note").last().textContent()).toContain("250 more clusters");
  expect(await page.getByRole("table").count()).toBe(0);
  await page.locator("#cluster-pair-200 > summary").click();
  const first = (name: string) => page.locator(`#cluster-${name} .vrrp td .state`).first().textContent();
  await expect.poll(() => first("pair-200"), SOON).toBe("MASTER");
  await page.evaluate(() => (location.hash = "#cluster-pair-499"));
  await expect.poll(() => first("pair-499"), SOON).toBe("MASTER");
  await expect.poll(() => page.evaluate(() => window.scrollY), SOON).toBeGreaterThan(1000);
  await page.getByRole("searchbox").fill("pair-321");
  await expect.poll(() => page.locator(".cluster").count(), SOON).toBe(1);
  expect(errors).toEqual([]);
});

test("without a script a link in each closed cluster and list opens it", async () => {
  const { server, page } = await open(fleetOfSize(1000), { javaScriptEnabled: false });
  await page.locator("#cluster-pair-100 > summary").click();
  await page.locator("#cluster-pair-100").getByRole("link", { name: "Show" }).click();
  await expect.poll(() => page.url(), SOON).toBe(`${server.url}?open=cluster-pair-100#cluster-pair-100`);
  expect(await page.locator("#cluster-pair-100 .vrrp td .state").first().textContent()).toBe("MASTER");
  await page.locator("#earlier-incidents > summary").click();
  await page.locator("#earlier-incidents").getByRole("link", { name: "Show" }).click();
  await page.locator("#earlier-incidents li").nth(191).waitFor();
  expect(await page.locator("#cluster-pair-100 table").count()).toBe(1);
});

test("a click on a problem opens its cluster, and its row is marked and in view", async () => {
  const { document, timelines } = await playFleet("trouble");
  const { page, errors } = await open(document, {
    timelines,
    wallMs: () => PLAYED_MS,
    viewport: { width: 1280, height: 800 },
  });
  await page.getByRole("link", { name: "api is down" }).click();
  const marked = page.locator("tr[aria-current]");
  await expect.poll(() => marked.locator(".title").allTextContents(), SOON).toEqual(["api https"]);
  const isInView = () =>
    marked.evaluate((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    });
  await expect.poll(isInView, SOON).toBe(true);
  const advice = page.locator("#cluster-sin .advices");
  expect(await advice.getByRole("link", { name: "Runbook: WebsiteDown" }).count()).toBe(2);
  expect(await advice.getByRole("link", { name: "Incident" }).count()).toBe(2);
  await page.getByRole("link", { name: "blog is down" }).click();
  await expect.poll(() => marked.locator(".title").allTextContents(), SOON).toEqual(["blog http + https"]);
  expect(errors).toEqual([]);
});
