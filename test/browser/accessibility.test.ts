import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import type { ClusterDocument, FleetDocument } from "../../src/status/schema.ts";
import {
  documentOf,
  EVENTS,
  fleetOfSize,
  pair,
  PENDING,
  changed,
  secondSilent,
  shopDown,
  shopDownInPart,
  splitBrain,
} from "../page/documents.ts";
import { startFleetServer } from "./fleet-server.ts";
import { SOON, useBrowser } from "./support.ts";

const open = useBrowser();

const SCRIPT = "<script>alert(1)</script>";
const TROUBLES = [splitBrain(pair("ams")), secondSilent(pair("rtm")), shopDownInPart(pair("lab"))];
const TROUBLE = documentOf(TROUBLES, { events: [...EVENTS] });
const WELL = documentOf([pair("ams"), pair("rtm")], { events: [...EVENTS] });
const STATES: readonly (readonly [name: string, document: FleetDocument])[] = [
  ["all is well", documentOf([pair("ams")], { events: [...EVENTS] })],
  ["trouble", TROUBLE],
  [
    "nothing known yet",
    documentOf([changed(pair("ams"), { first: { poll: PENDING }, second: { poll: PENDING } })]),
  ],
  ["no appliance", documentOf([], { verdict: "unknown" })],
  [
    "names that are scripts",
    documentOf([shopDown(pair(SCRIPT))], {
      events: EVENTS.map((event) => ({ ...event, summary: SCRIPT })),
    }),
  ],
  ["many clusters, closed", fleetOfSize(16)],
];

const NAMES = ["production_frontend_loadbalancers_amsterdam_01", "n".repeat(120)];

/** What axe has against the page as it is, the rule and the elements in short. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  // Playwright runs this outside of what the page's policy is about, and as text, which no compiler rewrites.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}

/** The colours are those of any width, and the layout is that of any colours. */
const LOOKS = [
  ["light", 1280],
  ["dark", 360],
] as const;

test.each(
  LOOKS.flatMap(([colorScheme, width]) =>
    STATES.map(([name, document]) => [name, colorScheme, width, document] as const),
  ),
)("axe finds nothing: %s, %s, %i px", async (_name, colorScheme, width, document) => {
  const server = await startFleetServer(document);
  const { page } = await open(server.url, { colorScheme, viewport: { width, height: 900 } });
  await page.locator("html[data-connection=live]").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});

test.each(["light", "dark"] as const)(
  "axe finds nothing while the exporter is lost: %s",
  async (colorScheme) => {
    const server = await startFleetServer(TROUBLE);
    const { page } = await open(server.url, { colorScheme });
    await page.locator("html[data-connection=live]").waitFor();
    await server.stop();
    await page.locator("html[data-connection=lost]").waitFor();
    expect(await violationsOf(page)).toEqual([]);
  },
);

test("axe finds what is wrong", async () => {
  const server = await startFleetServer(TROUBLE);
  const { page } = await open(server.url);
  await page.evaluate(() => document.querySelector("#filter label")?.remove());
  await page.evaluate(() => document.querySelector("main")?.insertAdjacentHTML("beforeend", "<input>"));
  expect(await violationsOf(page)).toContainEqual(expect.stringMatching(/^label:/));
});

test("everything that can be used is reached with the keyboard, in the order of the page, and shows the focus", async () => {
  const server = await startFleetServer(WELL);
  const { page } = await open(server.url);
  await page.locator("html[data-connection=live]").waitFor();
  const stops: string[] = [];
  for (let step = 0; step < 30; step += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      const name =
        focused.getAttribute("aria-label") ??
        focused.getAttribute("name") ??
        focused.querySelector("h3")?.textContent ??
        focused.textContent;
      return `${focused.localName} ${name?.trim()} ${outlineStyle} ${outlineWidth}`;
    });
    if (stop === undefined) break;
    stops.push(stop);
  }
  expect(stops).toEqual(
    [
      "a Skip to the clusters",
      "input text",
      "select cluster",
      "select label",
      "summary ams",
      "div Table of ams",
      "summary rtm",
      "div Table of rtm",
      "a Metrics",
      "a This page as JSON",
      "a Configuration",
      "a Health",
      "a Readiness",
    ].map((stop) => `${stop} solid 3px`),
  );
});

test("the keyboard opens and closes a cluster, and the first link leads past the problems", async () => {
  const server = await startFleetServer(documentOf([...TROUBLES, pair("waw")]));
  const { page } = await open(server.url);
  await page.locator("html[data-connection=live]").waitFor();
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

test("who does not see the page finds landmarks, headings and tables, on a narrow screen too", async () => {
  const server = await startFleetServer(documentOf([shopDownInPart(pair("ams"))]));
  const { page } = await open(server.url, { viewport: { width: 360, height: 800 } });
  await page.locator("html[data-connection=live]").waitFor();
  const tree = await page.locator("body").ariaSnapshot();
  for (const part of [
    "- banner",
    "- main",
    '- region "What is wrong"',
    '- heading "1 problem" [level=1]',
    '- region "What happened"',
    '- search "Filter"',
    '- heading "Clusters with problems 1" [level=2]',
    '- region "Table of ams"',
    '- columnheader "ams-2 up"',
    '- cell "503 down"',
    '- navigation "Pages of the exporter"',
    "- contentinfo",
  ])
    expect(tree).toContain(part);
  expect(tree).toMatch(/- rowheader "shop https Partially down for .*"/);
});

test.each([360, 768, 1280])(
  "at %i px nothing is wider than the screen but what scrolls on its own",
  async (width) => {
    const server = await startFleetServer(
      documentOf([secondSilent(pair("ams")), splitBrain(pair("a-name-of-some-length.rotterdam.example"))], {
        events: [...EVENTS],
      }),
    );
    const { page } = await open(server.url, { viewport: { width, height: 800 } });
    await page.locator("html[data-connection=live]").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  },
);

test.each([360, 1100].flatMap((width) => NAMES.map((name) => [width, name] as const)))(
  "at %i px a name without a place to break at makes nothing wider: %s",
  async (width, name) => {
    const named = (cluster: ClusterDocument): ClusterDocument => ({
      ...cluster,
      labels: { [name]: name },
      websites: cluster.websites.map((website) => ({ ...website, name })),
    });
    const fleet = documentOf([named(shopDownInPart(pair(name))), named(splitBrain(pair(`${name}_b`)))], {
      events: EVENTS.map((event) => ({ ...event, summary: `Polling of ${name} works again`, cluster: name })),
    });
    const server = await startFleetServer(fleet);
    const { page } = await open(`${server.url}?cluster=${name}`, { viewport: { width, height: 800 } });
    await page.locator("html[data-connection=live]").waitFor();
    const widest = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await widest()).toBe(width);
    await page.getByRole("link", { name: "Show everything" }).first().click();
    await expect.poll(() => page.locator(".cluster").count(), SOON).toBe(2);
    expect(await widest()).toBe(width);
    const wide = "main :is(p, span, h1, h2, h3, a, li, strong, select, input)";
    // Nothing is cut off or put over its neighbour either.
    const overflowing = await page
      .locator(wide)
      .evaluateAll((all) =>
        all.flatMap((one) => (one.getBoundingClientRect().right > innerWidth ? [one.outerHTML] : [])),
      );
    expect(overflowing).toEqual([]);
  },
);

test("who wants no motion gets none", async () => {
  const server = await startFleetServer(TROUBLE);
  const moving = async (reducedMotion: "reduce" | "no-preference") => {
    const { page } = await open(server.url, { reducedMotion });
    return page.evaluate(() => [
      getComputedStyle(document.documentElement).scrollBehavior,
      getComputedStyle(document.querySelector(".verdict") ?? document.body).transitionDuration,
    ]);
  };
  expect(await moving("no-preference")).toEqual(["smooth", "0.3s"]);
  expect(await moving("reduce")).toEqual(["auto", "0s"]);
});
