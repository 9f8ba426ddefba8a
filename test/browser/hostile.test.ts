import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { WHOLE_FLEET } from "../../src/exporter/config/shard.ts";
import {
  ago,
  appliance,
  documentOf,
  FAILED_OVER,
  incident,
  pair,
  shopDown,
} from "../exporter/page/documents.ts";
import { SOON, useFleetPage } from "./support.ts";

const openFleet = useFleetPage();

const SCRIPTS = [
  "<script>window.hacked = 1</script>",
  `<img src=x onerror="window.hacked = 1">`,
  `"><svg onload='window.hacked = 1'>`,
  "</title></style></textarea><iframe srcdoc='<script>parent.hacked = 1</script>'>",
  "javascript:window.hacked=1//&lt;b&gt;",
];
const SCRIPT = SCRIPTS.join("");

/** The exporter makes all ids of incidents. */
const ID = "Zm9v-YmFy_YmE";

/** Elements that the page never has. */
const FOREIGN = "main :is(script, img, svg:not(.strip), iframe, style, b, textarea, title, object, embed)";

async function expectHarmless(page: Page): Promise<void> {
  expect(await page.locator(FOREIGN).count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
}

/** Every text of the document that an appliance, a website or an operator supplies is a script. */
function hostileDocument() {
  const [first] = pair(SCRIPT).appliances;
  const interfaces = first?.interfaces?.map((one) => ({
    ...one,
    name: SCRIPT,
    vip: SCRIPT,
    state: SCRIPT,
    device: SCRIPT,
  }));
  const member = appliance(SCRIPT, "MASTER", {
    labels: { [SCRIPT]: SCRIPT },
    ...(interfaces && { interfaces }),
  });
  const cluster = pair(SCRIPT, {
    labels: { [SCRIPT]: SCRIPT },
    groups: [
      {
        vhid: 1,
        vip: SCRIPT,
        state: "one_master",
        level: "well",
        members: [{ appliance: SCRIPT, interfaces: [SCRIPT], role: "other", level: "warning" }],
      },
    ],
    websites: [{ id: 1, name: SCRIPT, states: [{ protocol: "http", state: "up", level: "well" }] }],
    appliances: [{ ...member, websites: member.websites.map((website) => ({ ...website, name: SCRIPT })) }],
  });
  return documentOf([cluster], {
    verdict: "wrong",
    exporter: { version: SCRIPT, startedAt: "2026-11-21T00:00:00Z", shard: WHOLE_FLEET },
    problems: [{ kind: "split_brain", severity: "critical", summary: SCRIPT, cluster: SCRIPT }],
    incidents: [
      incident(ID, "failover", 60, {
        summary: SCRIPT,
        cluster: SCRIPT,
        subjects: [SCRIPT],
        failover: {
          ...FAILED_OVER,
          from: SCRIPT,
          to: SCRIPT,
          evidence: [{ appliance: SCRIPT, said: SCRIPT, at: ago(60) }],
        },
        meanwhile: [incident(ID, "failover", 60, { summary: SCRIPT })],
      }),
    ],
  });
}

const QUERY = `?text=${encodeURIComponent(SCRIPT)}&incident=${ID}`;

async function expectText(page: Page): Promise<void> {
  expect(await page.locator(".problems .what > span").last().textContent()).toBe(SCRIPT);
  expect(await page.locator("h3").textContent()).toBe(SCRIPT);
  expect(await page.locator(".websites th .title").first().textContent()).toBe(`${SCRIPT} http`);
  expect(await page.locator(".vrrp th .title").first().textContent()).toBe(`${SCRIPT} vhid 1`);
  expect(await page.locator("summary .labels").textContent()).toBe(`${SCRIPT}=${SCRIPT} `);
  expect(await page.locator("h3").getAttribute("title")).toBe(`${SCRIPT}=${SCRIPT}`);
  // The filter takes no longer text.
  expect(await page.getByRole("searchbox").inputValue()).toBe(SCRIPT.slice(0, 200));
}

test("scripts in every text are shown as text and do not run", async () => {
  const { server, page, errors, requests } = await openFleet(hostileDocument(), { query: QUERY });
  expect(await page.locator(".incidents dl").textContent()).toContain(`: ${SCRIPT} ${SCRIPT}`);
  await expectHarmless(page);
  server.show({ ...hostileDocument(), incidents: [] });
  await expect.poll(() => page.locator(".incidents li").count(), SOON).toBe(0);
  await expectHarmless(page);
  await expectText(page);
  expect(errors).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(server.url))).toEqual([]);
});

test("names that change the direction of writing leave the words around them in order", async () => {
  const name = "ams\u202E\u2067\u200Bgnissim";
  const { page, errors } = await openFleet(documentOf([shopDown(pair(name))]));
  expect(await page.locator("h3").textContent()).toBe(String.raw`ams\u202e\u2067\u200bgnissim`);
  expect(await page.locator("main").innerText()).not.toMatch(/\p{Cf}/u);
  expect(errors).toEqual([]);
});

test("the browser enforces the page's policy", async () => {
  const { page, errors } = await openFleet(documentOf([pair("ams")]));
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = 1";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<p style='color: red' onclick='window.hacked = 1'>");
  });
  for (const what of ["script-src-elem", "style-src-attr"])
    await expect.poll(() => errors, SOON).toContainEqual(`violation of ${what} by inline`);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
});
