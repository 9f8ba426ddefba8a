import { expect, test } from "vitest";
import type { ClusterDocument, FleetDocument } from "../../src/exporter/document/schema.ts";
import {
  documentOf,
  HAPPENED,
  fleetOfSize,
  pair,
  PENDING,
  changed,
  secondSilent,
  shopDown,
  shopDownInPart,
  splitBrain,
} from "../exporter/page/documents.ts";
import { SOON, useFleetPage, violationsOf } from "./support.ts";

const open = useFleetPage();

const SCRIPT = "<script>alert(1)</script>";
const TROUBLES = [splitBrain(pair("ams")), secondSilent(pair("rtm")), shopDownInPart(pair("lab"))];
const TROUBLE = documentOf(TROUBLES, { incidents: [...HAPPENED] });
const WELL = documentOf([pair("ams"), pair("rtm")], { incidents: HAPPENED.slice(0, 1) });
const SCRIPTED = HAPPENED.map((each) => ({ ...each, summary: SCRIPT }));
const PENDING_PAIR = changed(pair("new"), { first: { poll: PENDING }, second: { poll: PENDING } });
const STATES: readonly (readonly [name: string, document: FleetDocument])[] = [
  ["all is well, many clusters, closed", fleetOfSize(16)],
  [
    "trouble, nothing known yet, and names that are scripts",
    documentOf([...TROUBLES, PENDING_PAIR, shopDown(pair(SCRIPT))], { incidents: SCRIPTED }),
  ],
  ["no appliance", documentOf([], { verdict: "unknown" })],
];

const NAMES = ["production_frontend_loadbalancers_amsterdam_01", "n".repeat(120)] as const;

/** Colors do not depend on the width, nor the layout on the colors. */
const LOOKS = [
  ["light", 1280],
  ["dark", 360],
] as const;

test.each(
  LOOKS.flatMap(([colorScheme, width]) =>
    STATES.map(([name, document]) => [name, colorScheme, width, document] as const),
  ),
)("axe finds nothing: %s, %s, %i px", async (_name, colorScheme, width, document) => {
  const query = "?incident=failover";
  const { page } = await open(document, { query, colorScheme, viewport: { width, height: 900 } });
  expect(await violationsOf(page)).toEqual([]);
});

test.each(LOOKS)(
  "axe finds nothing in the runbook, and it is not too wide: %s, %i px",
  async (colorScheme, width) => {
    const { server, page, errors } = await open(WELL, { colorScheme, viewport: { width, height: 900 } });
    await page.goto(`${server.url}runbook#FailoverNotReady`);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await page.evaluate(() => document.querySelector("h3:has(:target)")?.id)).toBe("failovernotready");
    expect(errors).toEqual([]);
  },
);

test("axe finds nothing while the exporter is lost", async () => {
  const { server, page } = await open(TROUBLE, { colorScheme: "dark" });
  await server.stop();
  await page.locator("html[data-connection=lost]").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test("axe finds a fault that is there", async () => {
  const { page } = await open(TROUBLE);
  await page.evaluate(() => document.querySelector("#filter label")?.remove());
  await page.evaluate(() => document.querySelector("#search")?.removeAttribute("placeholder"));
  await page.evaluate(() => document.querySelector("main")?.insertAdjacentHTML("beforeend", "<input>"));
  expect(await violationsOf(page)).toContainEqual(expect.stringMatching(/^label:/));
});

test("the keyboard reaches every control in the order of the page, and the focus is visible", async () => {
  const { page } = await open(WELL);
  const stops: string[] = [];
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      const name =
        focused.getAttribute("aria-label") ??
        focused.getAttribute("name") ??
        focused.querySelector("h3")?.textContent ??
        (focused.localName === "summary" ? focused.parentElement?.id : focused.textContent);
      return `${focused.localName} ${name?.trim()} ${outlineStyle} ${outlineWidth}`;
    });
    if (stop === undefined) break;
    stops.push(stop);
  }
  const strips = Array.from({ length: 4 }, () => "svg strip");
  expect(stops.map((stop) => stop.replace(/svg Last.* (solid)/, "svg strip $1"))).toEqual(
    [
      "a Skip to the clusters",
      "input text",
      "a All 2",
      "a 24 h",
      "a 30 days",
      "summary ams",
      "div Table of ams",
      ...strips,
      "summary rest-cluster-ams",
      "summary rtm",
      "div Table of rtm",
      ...strips,
      "summary rest-cluster-rtm",
      "summary incident-shop",
      "a Wall",
      "a Runbook",
      "a Metrics",
      "a This page as JSON",
      "a Configuration",
      "a Health",
      "a Readiness",
    ].map((stop) => `${stop} solid 3px`),
  );
});

test("the keyboard opens and closes a cluster, and the first link skips the problems", async () => {
  const { page } = await open(documentOf([...TROUBLES, pair("waw")]));
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.id), SOON).toBe("fleet");
  const waw = page.locator("#cluster-waw");
  await waw.locator("summary").focus();
  await page.keyboard.press("Enter");
  await waw.getByRole("table").waitFor({ state: "visible" });
  await page.keyboard.press("Space");
  await waw.getByRole("table").waitFor({ state: "hidden" });
});

test("a screen reader finds landmarks, headings and tables, on a narrow screen too", async () => {
  const document = documentOf([shopDownInPart(pair("ams"))]);
  const { page } = await open(document, { viewport: { width: 360, height: 800 } });
  await page.locator("#rest-cluster-ams > summary").click();
  await page.locator("#rest-cluster-ams table").waitFor();
  const tree = await page.locator("body").ariaSnapshot();
  for (const part of [
    "- main",
    '- region "What is wrong"',
    '- heading "1 problem" [level=1]',
    '- search "Filter"',
    '- heading "Clusters 1" [level=2]',
    '- navigation "Parts of the page"',
    '- region "Table of ams"',
    '- columnheader "ams-2 up"',
    '- cell "301 + 503 https down"',
    '- navigation "Pages of the exporter"',
    "- contentinfo",
  ])
    expect(tree).toContain(part);
  expect(tree).toMatch(/- rowheader "shop http \+ https https partially down for .*"/);
  expect(tree).toMatch(/- rowheader "If ams-1 fails Losses for .*"/);
  expect(tree).toMatch(/rowheader "shop https shop https is lost: 503 at ams-2.*"/);
  expect(tree).toMatch(/- cell "Website down seen .* ago"/);
});

test("nothing is wider than the screen except tables that scroll, at 360, 768 and 1280 px", async () => {
  const clusters = [secondSilent(pair("ams")), splitBrain(pair("a-name-of-some-length.rotterdam.example"))];
  const fleet = documentOf(clusters, { incidents: [...HAPPENED] });
  const { page } = await open(fleet, { query: "?incident=failover" });
  for (const width of [360, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

test.each([
  [360, NAMES[0]],
  [1100, NAMES[1]],
] as const)("at %i px a name without a place to break makes nothing wider: %s", async (width, name) => {
  const named = (cluster: ClusterDocument): ClusterDocument => ({
    ...cluster,
    labels: { [name]: name },
    websites: cluster.websites.map((website) => ({ ...website, name })),
  });
  const fleet = documentOf([named(shopDownInPart(pair(name))), named(splitBrain(pair(`${name}_b`)))], {
    incidents: HAPPENED.map((each) => ({
      ...each,
      summary: `${name} is down`,
      subjects: [name],
      cluster: name,
    })),
  });
  const { page } = await open(fleet, {
    query: `?cluster=${name}&incident=failover`,
    viewport: { width, height: 800 },
  });
  const widest = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await widest()).toBe(width);
  if (width < 640) await page.getByRole("link", { name: "Clusters 2" }).click();
  await page.getByRole("link", { name: "Show everything" }).click();
  await expect.poll(() => page.locator(".cluster").count(), SOON).toBe(2);
  expect(await widest()).toBe(width);
  // Nothing is cut off by the edge of the screen, except what a line cuts on purpose.
  const wide = "main :is(p, span, h1, h2, h3, a, li, dd, strong, input)";
  const cut = ".chips, .what, .who, .level, .sites, .scroll, .hidden-visually";
  const overflowing = await page
    .locator(wide)
    .evaluateAll(
      (all, within) =>
        all.flatMap((one) =>
          one.getBoundingClientRect().right > innerWidth && one.closest(within) === null
            ? [one.outerHTML]
            : [],
        ),
      cut,
    );
  expect(overflowing).toEqual([]);
});
