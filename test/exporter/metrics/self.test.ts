import { expect, test, vi } from "vitest";
import { OPERATION_KINDS } from "../../../src/exporter/api/operation.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import { createSelfMetrics, type SelfMetrics } from "../../../src/exporter/metrics/self.ts";
import { SKIP_REASONS } from "../../../src/exporter/polling/observation.ts";
import { FAILURE_REASONS } from "../../../src/exporter/api/failure.ts";
import { failed, listOf, seen, WALL_MS } from "../../support/observations.ts";
import { parseExposition, type ParsedSample } from "./strict-parser.ts";
import { BUILD } from "../../support/build-facts.ts";

function selfMetrics(droppedLogLines = () => 0): SelfMetrics {
  return createSelfMetrics({ version: "1.2.3", build: BUILD, shard: WHOLE_FLEET }, droppedLogLines);
}

async function samplesOf(self: SelfMetrics): Promise<readonly ParsedSample[]> {
  return parseExposition(await self.render()).flatMap(({ samples }) => samples);
}

async function valueOf(self: SelfMetrics, series: string): Promise<number | undefined> {
  return (await samplesOf(self)).find((sample) => sample.series === `appliance_exporter_${series}`)?.value;
}

test("everything countable is at 0 from the start, for every operation and every reason", async () => {
  const samples = await samplesOf(selfMetrics());
  const countable = samples.filter(({ name }) =>
    /^appliance_exporter_.*(_total|_count|_sum|_bucket|_in_flight)$/.test(name),
  );
  expect(countable.filter(({ value }) => value !== 0)).toEqual([]);
  const labels = (name: string, label: string) =>
    new Set(countable.filter((sample) => sample.name === name).map((sample) => sample.labels.get(label)));
  expect(labels("appliance_exporter_poll_failures_total", "reason")).toEqual(new Set(FAILURE_REASONS));
  expect(labels("appliance_exporter_polls_skipped_total", "reason")).toEqual(new Set(SKIP_REASONS));
  for (const name of [
    "polls_skipped_total",
    "poll_failures_total",
    "poll_duration_seconds_count",
    "poll_lateness_seconds_count",
  ]) {
    expect(labels(`appliance_exporter_${name}`, "operation")).toEqual(new Set(OPERATION_KINDS));
  }
});

test("the build is a metric", async () => {
  const labels = `version="1.2.3",revision="${BUILD.revision}",branch="main",builddate="${BUILD.date}",nodeversion="v20.0.0"`;
  expect(await valueOf(selfMetrics(), `build_info{${labels}}`)).toBe(1);
});

test.each([undefined, "https://exporter.example.org/base"])(
  "the external URL is a metric, of an empty text if it is %s",
  async (externalUrl) => {
    const facts = { version: "1.2.3", build: BUILD, shard: WHOLE_FLEET };
    const self = createSelfMetrics({ ...facts, ...(externalUrl && { externalUrl }) }, () => 0);
    expect(await valueOf(self, `external_url_info{external_url="${externalUrl ?? ""}"}`)).toBe(1);
  },
);

test("a poll is in flight from its start to its end, and measured by operation", async () => {
  const self = selfMetrics();
  self.started("vrrp", 0.75);
  expect(await valueOf(self, "polls_in_flight")).toBe(1);
  expect(await valueOf(self, 'poll_lateness_seconds_sum{operation="vrrp"}')).toBe(0.75);
  self.ended("vrrp", 0.25);
  expect(await valueOf(self, "polls_in_flight")).toBe(0);
  expect(await valueOf(self, 'poll_duration_seconds_sum{operation="vrrp"}')).toBe(0.25);
  expect(await valueOf(self, 'poll_duration_seconds_count{operation="website_test"}')).toBe(0);
});

test("failures are counted by operation and reason", async () => {
  const self = selfMetrics();
  self.observed(seen.vrrp("waf", listOf([])));
  self.observed(failed.vrrp("waf", "timeout"));
  self.observed(failed.website("waf", 1, "decode"));
  const samples = await samplesOf(self);
  const counted = samples.filter(
    ({ name, value }) => name === "appliance_exporter_poll_failures_total" && value > 0,
  );
  expect(counted.map(({ series, value }) => [series, value])).toEqual([
    ['appliance_exporter_poll_failures_total{operation="vrrp",reason="timeout"}', 1],
    ['appliance_exporter_poll_failures_total{operation="website_test",reason="decode"}', 1],
  ]);
});

test("skipped polls are counted by operation and reason", async () => {
  const self = selfMetrics();
  self.skipped("vrrp", "overlap", 1);
  self.skipped("website_test", "missed", 9);
  expect(await valueOf(self, 'polls_skipped_total{operation="vrrp",reason="overlap"}')).toBe(1);
  expect(await valueOf(self, 'polls_skipped_total{operation="website_test",reason="missed"}')).toBe(9);
  expect(await valueOf(self, 'polls_skipped_total{operation="vrrp",reason="backoff"}')).toBe(0);
});

test("a reload that failed keeps the time of the last one that did not", async () => {
  const self = selfMetrics();
  self.appliances(3);
  self.reloaded(true, WALL_MS);
  expect(await valueOf(self, "config_last_reload_successful")).toBe(1);
  self.reloaded(false, WALL_MS + 60_000);
  expect(await valueOf(self, "config_last_reload_successful")).toBe(0);
  expect(await valueOf(self, "config_last_reload_success_timestamp_seconds")).toBe(1_700_000_000);
  expect(await valueOf(self, "appliances")).toBe(3);
});

test("dropped log lines are read at each rendering", async () => {
  let dropped = 2;
  const self = selfMetrics(() => dropped);
  expect(await valueOf(self, "log_messages_dropped_total")).toBe(2);
  dropped = 5;
  expect(await valueOf(self, "log_messages_dropped_total")).toBe(5);
});

test("the runtime's metrics are there, less the three gauges with a counter's name", async () => {
  const names = new Set((await samplesOf(selfMetrics())).map(({ name }) => name));
  expect(names).toContain("process_resident_memory_bytes");
  expect(names).toContain("nodejs_version_info");
  expect([...names].filter((name) => /^nodejs_active_.*_total$/.test(name))).toEqual([]);
});

test("scrapers do not empty each other's delays of the event loop, and none is centuries", async () => {
  const self = selfMetrics();
  const lagsOf = async (): Promise<readonly ParsedSample[]> =>
    (await samplesOf(self)).filter(({ name }) => name.startsWith("nodejs_eventloop_lag_"));
  const first = await lagsOf();
  expect(first.filter(({ value }) => value > 3600)).toEqual([]);
  await vi.waitFor(async () => expect((await lagsOf()).length).toBe(8));
  const [one, other] = await Promise.all([lagsOf(), lagsOf()]);
  expect(other.map(({ name }) => name)).toEqual(one.map(({ name }) => name));
  expect([one.length, ...one.filter(({ value }) => value > 3600)]).toEqual([8]);
});

test("no sample is NaN", async () => {
  expect(await selfMetrics().render()).not.toMatch(/ nan$/im);
});
