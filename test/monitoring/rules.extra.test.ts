import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { RULES } from "./alert-rules.ts";
import { PANELS } from "./committed.ts";
import { fillIn } from "./promql.ts";
import { promtool, testRules } from "./rule-tests.ts";
import { playAt } from "./play.ts";
import { coverAt } from "./scenarios.ts";
import { toolPath, UNPACKED_SUITES } from "../support/tool.ts";
import { exporter, scrape, series, type Steps } from "./world.ts";

test("promtool finds nothing wrong with the rules and the example configuration that loads them", async () => {
  const file = fileURLToPath(new URL("appliance-exporter.rules.yml", RULES));
  expect(await promtool("check", "rules", "--lint=all", "--lint-fatal", file)).toMatchObject({
    hasFailed: false,
  });
  const config = await promtool("check", "config", fileURLToPath(new URL("prometheus.yml", RULES)));
  expect(config.output).toContain("SUCCESS: 1 rule files found");
});

test("the availability counts samples: those of a time with many lost scrapes weigh no more than others", async () => {
  // 59 scrapes find the website up. From then on each sixth scrape succeeds, and ten find it down. None is at an evaluation.
  const seconds = Array.from({ length: 60 }, (_, nth) => 37 * (60 + nth));
  const answers = seconds.map((second, nth) => [second, nth % 6 === 0 ? 1 : 0] as const);
  const shop = { ha_cluster: "ams", website_id: "shop", website: "shop", protocol: "https" };
  const says = ["up", "down"].map((state, nth) =>
    series("website_state", { ...shop, state }, [
      [37, 1 - nth],
      [37 * 60, nth],
    ]),
  );
  const one = exporter("one:1", says, { up: [[0, 1], ...answers] });
  const labels = `{ha_cluster="ams",protocol="https",website="shop",website_id="shop"}`;
  const [expr, value] = ["round(1e6 * website:availability:ratio30d)", Math.round((1e6 * 59) / 69)];
  const output = await testRules(240, {
    interval: "37s",
    input_series: scrape([one], 4400, { seconds: 37, losesScrapes: false }),
    promql_expr_test: [{ eval_time: "4320s", expr, exp_samples: [{ labels, value }] }],
  });
  expect(output).toMatch(/SUCCESS$/);
});

test("the watchdog goes on while all schedules of an exporter rest, and ends when polls stay away after that", async () => {
  const polls = { metric: "appliance_exporter_poll_duration_seconds_count", labels: { operation: "vrrp" } };
  const next = { metric: "appliance_exporter_next_poll_timestamp_seconds", labels: {} };
  const says = [
    { ...polls, valueAt: (second: number) => Math.min(second, 300) },
    { ...next, valueAt: (second: number) => (second < 300 ? second + 5 : 900) },
  ];
  const expr = 'count(ALERTS{alertname="ApplianceExporterWatchdog"}) or vector(0)';
  const expectedAt = (second: number, value: number) => {
    return { eval_time: `${second}s`, expr, exp_samples: [{ labels: "{}", value }] };
  };
  const output = await testRules(30, {
    interval: "30s",
    input_series: scrape([exporter("one:1", says)], 1200, { seconds: 30, losesScrapes: false }),
    promql_expr_test: [
      ...[240, 420, 480, 600, 840].map((second) => expectedAt(second, 1)),
      ...[930, 1200].map((second) => expectedAt(second, 0)),
    ],
  });
  expect(output).toMatch(/SUCCESS$/);
});

function failoversOf(cause: string, ...then: Steps<number>) {
  return series("ha_cluster_failovers_total", { ha_cluster: "ams", cause }, [[0, 0], ...then]);
}

test("the dashboard counts failovers by cause, those of exporters that see the same once", async () => {
  const says = [
    failoversOf("silent", [300, 1], [600, 2]),
    failoversOf("preempted", [450, 1]),
    failoversOf("fault"),
  ];
  const panel = PANELS.find(({ title }) => title === "Failovers in the last week");
  const output = await testRules(30, {
    interval: "30s",
    input_series: scrape([exporter("one:1", says), exporter("two:1", says)], 1200, {
      seconds: 30,
      losesScrapes: false,
    }),
    promql_expr_test: [
      {
        eval_time: "1200s",
        expr: fillIn(panel?.targets[0]?.expr ?? ""),
        exp_samples: [
          { labels: '{ha_cluster="ams", cause="silent"}', value: 2 },
          { labels: '{ha_cluster="ams", cause="preempted"}', value: 1 },
        ],
      },
    ],
  });
  expect(output).toMatch(/SUCCESS$/);
});

/** Windows of rules are too short for scenarios at 30 s first, and 5 s shows the times. The version of Debian 12 reads the rules alike. */
const isNewest = toolPath("promtool") === toolPath("promtool", UNPACKED_SUITES.at(-1));
playAt((isNewest ? [2, 5, 15, 30] : [30]).map((seconds) => [seconds, coverAt(seconds)]));
