import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createStatusPage } from "../../../src/exporter/page/page.ts";
import { pollRows } from "../../../src/exporter/view/rows.ts";
import { ask, routes, serve } from "../web/support.ts";
import { documentOf, HAPPENED, NOW_MS, pair, PENDING, shopDown, TIMED_OUT } from "./documents.ts";
import { cellsOf, NO_STRIPS, textOf } from "./reading.ts";

const FLEET = documentOf([shopDown(pair("ams")), pair("rtm")], { incidents: [...HAPPENED] });

test("each appliance shows its latest poll with the reason of a failure, last success, duration and next poll", () => {
  const appliances = [...pair("ams").appliances, ...pair("rtm").appliances].map((each, index) => ({
    ...each,
    poll: [each.poll, TIMED_OUT, PENDING][index] ?? each.poll,
  }));
  expect(pollRows(appliances.slice(0, 3)).map(cellsOf)).toEqual([
    [
      "Latest poll",
      "well: good",
      "warning: timeout for 3 min no answer within 4 s",
      "unknown: not polled yet",
    ],
    ["Last success", "2 s ago", "3 min ago", "none yet"],
    ["Duration", "43 ms", "4.0 s", "–"],
    ["Next poll", "in 3 s", "in 3 s", "in 1 s"],
  ]);
});

const render = (document = FLEET) =>
  createStatusPage({
    document: () => document,
    timelines: NO_STRIPS,
    wallMs: () => NOW_MS,
    telemetryPath: "/metrics",
    assets: "assets/1",
  });
const pageOf = async (query: string, document = FLEET): Promise<string> =>
  (await render(document)(new URLSearchParams(query))).text.join("");

test("the page shows problems first, then incidents, then clusters", async () => {
  const page = await pageOf("");
  expect(page).toContain("<title>1 problem – appliance-exporter</title>");
  const text = textOf({ text: page });
  const places = ["1 problem Website down", "Critical Website shop is down", "What happened", "Clusters 2"];
  const found = places.map((place) => text.indexOf(place));
  expect(found).not.toContain(-1);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
});

test("the page names the shard of an exporter that does not poll all clusters", async () => {
  expect(textOf({ text: await pageOf("") })).toContain("appliance-exporter 1.2.3, running since");
  const exporter = { ...FLEET.exporter, shard: { index: 1, total: 3 } };
  const page = await pageOf("", { ...FLEET, exporter });
  expect(textOf({ text: page })).toContain("appliance-exporter 1.2.3, shard 1/3, running since");
});

test("without a script, the link to all problems and incidents keeps the filter and the open clusters", async () => {
  const opened = "open=more-problems&#38;open=earlier-incidents";
  expect(await pageOf("")).toContain(`<a href="?${opened}">show all problems and incidents</a>`);
  const filter = "text=a+b&cluster=ams&label=site%3Dx&open=cluster-ams";
  const kept = `<a href="?${filter.replaceAll("&", "&#38;")}&#38;${opened}">`;
  expect(await pageOf(filter)).toContain(kept);
  expect(await pageOf(`${filter}&open=more-problems&open=earlier-incidents`)).toContain(kept);
});

test("a fragment is the part of the page that changes", async () => {
  const [page, fragment] = [await pageOf("open=cluster-rtm"), await pageOf("fragment&open=cluster-rtm")];
  expect(fragment).toMatch(/^<div id="state" .*<\/div>$/s);
  expect(page).toContain(fragment);
  expect(page).toMatch(/^<!doctype html>/);
});

/** The key of the form in a page. */
const keyOf = (text: string): string => /id="filter" [^>]*data-key="([^"]+)"/.exec(text)?.[1] ?? "";

test("a fragment has the fields of the filter only if the request names another form than its own", async () => {
  const fleet = documentOf(Array.from({ length: 300 }, (_, nth) => pair(`c-${nth}`)));
  const key = keyOf(await pageOf("text=c-7", fleet));
  const same = await pageOf(`text=c-7&fragment=${key}`, fleet);
  expect(same).not.toContain("<option");
  expect(same.length).toBeLessThan(10_000);
  expect(keyOf(same)).toBe(key);
  for (const [query, document] of [
    ["text=c-8", fleet],
    ["text=c-7&cluster=c-7", fleet],
    ["text=c-7", documentOf([pair("c-7")])],
    ["text=c-7", documentOf(fleet.clusters.map((each) => ({ ...each, labels: { site: "x" } })))],
  ] as const) {
    const changed = await pageOf(`${query}&fragment=${key}`, document);
    expect(changed).toContain("<option");
    expect(keyOf(changed)).not.toBe(key);
  }
});

test("the page is served compressed, not cacheable, and with a policy that allows only its own files", async () => {
  const port = await serve(routes({ renderPage: render() }));
  const { status, headers, body } = await ask(port, "/?cluster=rtm", {
    headers: { "accept-encoding": "gzip" },
  });
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
      "form-action 'self'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  const page = gunzipSync(body).toString();
  expect(page).toContain("1 of 2 clusters match the filter.");
  expect(page).toContain("As of");
});
