import { expect, test } from "vitest";
import { formatDashboard } from "../../monitoring/grafana/dashboard/dashboard.ts";
import { COMMITTED_TEXT, LABEL_QUERIES, PANELS, QUERIES } from "./committed.ts";
import { FAMILIES } from "./documented-metrics.ts";
import { fillIn, metricNames } from "./promql.ts";

test("the committed dashboard is the one that the code gives", () => {
  expect(COMMITTED_TEXT).toBe(formatDashboard());
});

test("every panel says when it is empty or what it shows while nothing is known", () => {
  const silent = PANELS.filter(({ description }) => !/\bempty\b|not known/i.test(description));
  expect(silent.map(({ title }) => title)).toEqual([]);
});

test("every series has a name of its own, not the text of its labels", () => {
  const drawn = PANELS.filter(({ type }) => type !== "table").flatMap(({ targets }) => targets);
  expect(drawn.filter(({ legendFormat = "" }) => legendFormat === "")).toEqual([]);
});

test("no data source, cluster or exporter is written into it", () => {
  const uids = new Set(Array.from(COMMITTED_TEXT.matchAll(/"uid": "([^"]*)"/g), ([, uid]) => uid));
  expect(uids).toEqual(new Set(["${datasource}", "appliance-exporter"]));
  for (const { target } of QUERIES) expect(target.expr).not.toMatch(/\b(job|instance|pod)\s*[=!]/);
});

test("clusters lead to the status page, alerts to the runbook", () => {
  const urls = new Set(Array.from(COMMITTED_TEXT.matchAll(/"url": "([^"]+[?#][^"]*)"/g), ([, url]) => url));
  const [page, runbook] = [
    "${exporter_url}/?cluster=${__value.raw:percentencode}",
    "${exporter_url}/runbook#${__value.raw}",
  ];
  expect(urls).toEqual(new Set([runbook, page]));
});

test("gaps stay gaps: no timeline or graph draws over time in which nothing was known", () => {
  const drawn = PANELS.filter(({ type }) => type === "state-timeline" || type === "timeseries");
  const spanning = drawn.filter(({ fieldConfig }) => fieldConfig.defaults.custom?.spanNulls !== false);
  expect(spanning.map(({ title }) => title)).toEqual([]);
});

test("variables are chained: each asks with those before it", () => {
  expect(LABEL_QUERIES.map(({ series, label }) => `${label} of ${series}`)).toEqual([
    "site of appliance_up",
    'ha_cluster of appliance_up{site=~"$site"}',
    'appliance of appliance_up{site=~"$site", ha_cluster=~"$cluster"}',
    'website of appliance_poll_success{site=~"$site", ha_cluster=~"$cluster", appliance=~"$appliance", operation="website_test"}',
  ]);
});

test("every query is PromQL, and every metric is documented, or made by prom-client or Prometheus itself", () => {
  const asked = [...QUERIES.map(({ target }) => target.expr), ...LABEL_QUERIES.map(({ series }) => series)];
  const names = new Set(asked.flatMap((expr) => metricNames(fillIn(expr))));
  const others = [...names].filter((name) => !FAMILIES.includes(name.replace(/_bucket$/, "")));
  expect(others.toSorted()).toEqual([
    "ALERTS",
    "nodejs_heap_size_used_bytes",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
  ]);
});
