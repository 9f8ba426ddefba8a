import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createStatusPage } from "../../../src/exporter/page/page.ts";
import { pollRows } from "../../../src/exporter/view/rows.ts";
import { ask, routes, serve } from "../web/support.ts";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { FIRST_LINES } from "../../../src/exporter/page/view/empty.ts";
import { createFolder } from "../config/folder.ts";
import {
  ago,
  documentOf,
  HAPPENED,
  incident,
  NOW_MS,
  pair,
  PENDING,
  shopDown,
  TIMED_OUT,
} from "./documents.ts";
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

test("the page shows the verdict, then problems, clusters and incidents", async () => {
  const page = await pageOf("");
  expect(page).toContain("<title>1 problem – appliance-exporter</title>");
  const text = textOf({ text: page });
  const places = [
    "1 problem 1 critical 1 of 2 clusters well",
    "Critical Website down",
    "rtm Well",
    "What happened",
  ];
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

test("without a script, a link in each closed part opens it, and keeps the filter and the open parts", async () => {
  const fleet = documentOf(["a", "b", "c", "d"].map((name) => pair(name)));
  expect(await pageOf("", fleet)).toContain('<a class="load" href="?open=cluster-a#cluster-a">Show</a>');
  const page = await pageOf("text=site+am&open=cluster-b", fleet);
  expect(page).toContain('href="?text=site+am&#38;open=cluster-b&#38;open=cluster-a#cluster-a"');
  expect(page).not.toContain("#cluster-b");
  expect(await pageOf("fragment", fleet)).not.toContain("Show</a>");
});

test("a fragment is the part of the page that changes", async () => {
  const [page, fragment] = [await pageOf("open=cluster-rtm"), await pageOf("fragment&open=cluster-rtm")];
  expect(fragment).toMatch(/^<div id="state" .*<\/div>$/s);
  expect(page.replaceAll(/<a class="load".*?<\/a>/g, "")).toContain(fragment);
  expect(page).toMatch(/^<!doctype html>/);
});

test("the icon and the color of the browser around the page are those of the verdict", async () => {
  const page = await pageOf("");
  expect(page).toContain('<meta name="theme-color" content="#b42318" />');
  expect(page).toContain('<link rel="icon" href="assets/1/icon-critical.svg"');
  expect(await pageOf("", documentOf([pair("ams")]))).toContain('data-icon="assets/1/icon-well.svg"');
});

test("the wall has a tile for each cluster, trouble first, and what happened within a day", async () => {
  const old = incident("old", "failover", 100_000, { summary: "long ago", end: ago(90_000) });
  const fleet = documentOf([pair("rtm"), shopDown(pair("ams"))], { incidents: [...HAPPENED, old] });
  const page = await pageOf("view=wall", fleet);
  const tiles = /<ul class="tiles".*?<\/ul>/s.exec(page)?.[0] ?? "";
  expect(textOf({ text: tiles })).toBe("ams Website down 3 min MASTER ams-1 rtm MASTER rtm-1");
  expect(page).toContain('data-size="large"');
  expect(textOf({ text: page })).toContain("rtm-2 took over");
  expect(page).not.toContain("long ago");
  const many = documentOf(Array.from({ length: 260 }, (_, nth) => pair(`c-${nth}`)));
  expect(textOf({ text: await pageOf("view=wall", many) })).toContain(
    "10 more clusters: use the status page to see them.",
  );
});

test("a fleet without clusters shows the first lines of a configuration, which are valid", async () => {
  const page = await pageOf("", documentOf([], { verdict: "unknown" }));
  expect(textOf({ text: page })).toContain("Nothing is polled The configuration has no enabled appliance.");
  expect(textOf({ text: page })).toContain("clusters: - name: ams appliances:");
  expect(FIRST_LINES.trimEnd().split("\n")).toHaveLength(6);
  const folder = await createFolder({ "config.yaml": FIRST_LINES, "secrets/monitor": "secret" });
  expect(await loadConfig(join(folder, "config.yaml"))).toMatchObject({ ok: true });
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
  expect(page).toContain("as of <time");
});
