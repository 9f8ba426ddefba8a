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
  const expected = ["cluster-c1", "cluster-c2", "cluster-c7", "earlier-incidents", "more-problems"];
  await expect.poll(openIds, SOON).toEqual(expected);
  await page.locator("#more-problems li").nth(3).waitFor();
  await page.locator("#earlier-incidents li").nth(3).waitFor();
  server.show({ ...many, incidents: manyIncidents(13) });
  await expect.poll(() => page.locator("#earlier-incidents li").count(), SOON).toBe(5);
  expect(await openIds()).toEqual(expected);
  await page.locator("#cluster-c7 table").waitFor();
});

test("an update keeps the selection", async () => {
  const { server, page, errors } = await openLive();
  await page.locator("#cluster-rtm summary").click();
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
  await page.locator("#cluster-rtm summary").click();
  await page.locator("#cluster-rtm table").waitFor();
  await page.evaluate(() => window.scrollTo({ top: 320, behavior: "instant" }));
  const seen = () => page.evaluate(() => [document.activeElement?.parentElement?.id, window.scrollY]);
  const before = await seen();
  expect(before).toEqual(["cluster-rtm", 320]);
  server.show(documentOf(LATER.clusters, { incidents: [...HAPPENED] }));
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

test("a cluster with a new problem moves to the top, opens, and keeps its focus", async () => {
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

test("a cluster that the reader closed stays closed", async () => {
  const { server, page } = await openLive([shopDown(pair("ams")), ...FLEET.slice(1)]);
  const ams = page.locator("#cluster-ams");
  await ams.locator("summary").click();
  server.show(documentOf([splitBrain(pair("ams")), ...FLEET.slice(1)]));
  await page.locator("#cluster-ams .level", { hasText: "Split brain" }).waitFor();
  expect(await ams.evaluate((details) => details.hasAttribute("open"))).toBe(false);
});

test("an update touches only what changed", async () => {
  const { server, page } = await openLive();
  const show = async (site: string) => {
    const next = FLEET.map((each) => (each.name === "lab" ? { ...each, labels: { site } } : each));
    server.show(documentOf(next, { incidents: [...HAPPENED] }));
    await page.locator("#cluster-lab summary", { hasText: `site=${site}` }).waitFor();
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
  expect(new Set(touched)).toEqual(new Set(["cluster-lab", "filter"]));
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
  expect(announced).toContainEqual(expect.stringMatching(/^1 problem\s+Website down, in 1 of 4 clusters\.$/));
  expect(announced.filter((text) => text.includes("pair-000"))).toEqual([
    expect.stringContaining("Website shop is down: https 503 from pair-000-1"),
  ]);
});

test("with a thousand appliances 250 lines are shown, and the filter finds the others", async () => {
  const { page, errors } = await open(fleetOfSize(1000));
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

test("without a script the filter opens each of many clusters, and a link opens all problems and incidents", async () => {
  const { server, page } = await open(fleetOfSize(1000), { javaScriptEnabled: false });
  expect(await page.locator("#connection").textContent()).toContain("choose a cluster in the filter");
  await page.getByRole("combobox", { name: "Cluster" }).selectOption("pair-100");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(`${server.url}?text=&cluster=pair-100&label=&timelines=`);
  expect(await page.locator(".vrrp td .state").first().textContent()).toBe("MASTER");
  expect(await page.locator(".cluster").count()).toBe(1);
  await page.goto(server.url);
  await page.getByRole("link", { name: "show all problems and incidents" }).click();
  await page.waitForURL(`${server.url}?open=more-problems&open=earlier-incidents`);
  expect(await page.locator("#more-problems li").first().isVisible()).toBe(true);
  expect(await page.locator("#earlier-incidents li").count()).toBe(192);
});
