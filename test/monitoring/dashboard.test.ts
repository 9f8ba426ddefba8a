import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatDashboard } from "../../monitoring/grafana/dashboard/dashboard.ts";
import { FAULTS_NOW } from "../../monitoring/grafana/dashboard/faults.ts";
import { COMMITTED, COMMITTED_TEXT, isRow, LABEL_QUERIES, PANELS, QUERIES } from "./committed.ts";
import { FAMILIES } from "./documented-metrics.ts";
import { fillIn, metricNames, parse } from "./promql.ts";

type GridPos = (typeof PANELS)[number]["gridPos"];

test("the committed dashboard is the one that the code gives", () => {
  expect(COMMITTED_TEXT).toBe(formatDashboard());
});

test("ids are unique", () => {
  const ids = [...COMMITTED.panels.filter(isRow), ...PANELS].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("no panels overlap, nor do those within a collapsed row", () => {
  const layers = [COMMITTED.panels, ...COMMITTED.panels.filter(isRow).map(({ panels }) => panels)];
  for (const layer of layers) {
    const pairs = layer.flatMap((a, index) => layer.slice(index + 1).map((b) => [a, b] as const));
    const overlapping = pairs.filter(([a, b]) => overlap(a.gridPos, b.gridPos));
    expect(overlapping.map(([a, b]) => `${a.title} and ${b.title}`)).toEqual([]);
  }
  expect(PANELS.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

function overlap(a: GridPos, b: GridPos): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

test("every panel says when it is empty or what it shows while nothing is known", () => {
  const silent = PANELS.filter(({ description }) => !/\bempty\b|not known/i.test(description));
  expect(silent.map(({ title }) => title)).toEqual([]);
});

test("every series has a name of its own, not the text of its labels", () => {
  const drawn = PANELS.filter(({ type }) => type !== "table").flatMap(({ targets }) => targets);
  expect(drawn.filter(({ legendFormat = "" }) => legendFormat === "")).toEqual([]);
});

test("no data source, cluster or exporter is written into it", () => {
  expect([...COMMITTED_TEXT.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid)).toSatisfy(
    (uids: readonly string[]) => uids.every((uid) => uid === "${datasource}" || uid === "appliance-exporter"),
  );
  for (const { target } of QUERIES) expect(target.expr).not.toMatch(/\b(job|instance|pod)\s*[=!]/);
});

test("gaps stay gaps: no timeline or graph draws over time in which nothing was known", () => {
  const drawn = PANELS.filter(({ type }) => type === "state-timeline" || type === "timeseries");
  const spanning = drawn.filter(({ fieldConfig }) => fieldConfig.defaults.custom?.spanNulls !== false);
  expect(spanning.map(({ title }) => title)).toEqual([]);
});

test.each(QUERIES)("$name is PromQL", ({ target }) => {
  expect(() => parse(fillIn(target.expr))).not.toThrow();
});

test.each(LABEL_QUERIES)("the series of variable $name are a selector", ({ series }) => {
  expect(() => parse(fillIn(series))).not.toThrow();
});

test("variables are chained: each asks with those before it", () => {
  expect(LABEL_QUERIES.map(({ series, label }) => `${label} of ${series}`)).toEqual([
    "ha_cluster of appliance_up",
    'appliance of appliance_up{ha_cluster=~"$cluster"}',
    'website of appliance_poll_success{ha_cluster=~"$cluster", appliance=~"$appliance", operation="website_test"}',
  ]);
});

/** The names of all metrics that the dashboard asks for. */
function askedFor(): ReadonlySet<string> {
  const asked = [...QUERIES.map(({ target }) => target.expr), ...LABEL_QUERIES.map(({ series }) => series)];
  return new Set(asked.flatMap((expr) => metricNames(fillIn(expr))));
}

test("every metric is documented, or made by prom-client or Prometheus itself", () => {
  const others = [...askedFor()].filter((name) => !FAMILIES.includes(name.replace(/_bucket$/, "")));
  expect(others.toSorted()).toEqual([
    // "Beside them stand the `process_*` and `nodejs_*` metrics of prom-client".
    "nodejs_eventloop_lag_max_seconds",
    "nodejs_eventloop_lag_p99_seconds",
    "nodejs_heap_size_used_bytes",
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    // Of each scrape.
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "up",
  ]);
});

test("every link leads to the status page or to a section of the runbook that exists", () => {
  const runbook = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
  const titles = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, title = ""]) => title);
  const sections = new Set(titles.map((title) => title.toLowerCase()));
  const links = [...COMMITTED.links, ...PANELS.flatMap((panel) => panel.links)].map(({ url }) => url);
  const inFaults = [...FAULTS_NOW.matchAll(/"runbook", "(\w+)"/g)].map(([, alert = ""]) => alert);
  const linked = links.flatMap((url) => url.split("${runbook_url}#").slice(1)).concat(inFaults);
  expect(inFaults.length).toBeGreaterThan(10);
  expect(linked.filter((section) => !sections.has(section))).toEqual([]);
  expect(links.filter((url) => !/^\$\{(runbook|status)_url\}/.test(url))).toEqual([]);
});
