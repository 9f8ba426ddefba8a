import { expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

const polling = (block: string) => `polling: { vrrp: ${block} }\nclusters: []\n`;

const blockOf = (settings: string) => (settings === "" ? "{}" : `{ vrrp: { ${settings} } }`);

/** Nested blocks around two appliances; empty ones are omitted. */
const nested = (top: string, cluster: string, appliance: string) =>
  [
    `polling: ${blockOf(top)}`,
    "clusters:",
    "  - name: c",
    `    polling: ${blockOf(cluster)}`,
    "    appliances:",
    `      - { name: a, base_url: "https://h", polling: ${blockOf(appliance)} }`,
    `      - { name: b, base_url: "https://i", polling: ${blockOf(appliance)} }`,
  ].join("\n");

test.each([
  ["{ interval: 5 }", "1:20: polling.vrrp.interval: expected a duration such as 500ms, 15s or 1m30s, got 5"],
  [
    "{ interval: 5sec }",
    '1:20: polling.vrrp.interval: expected a duration such as 500ms, 15s or 1m30s, got "5sec"',
  ],
  ["{ interval: 900ms }", '1:20: polling.vrrp.interval: expected a duration of 1s to 1d, got "900ms"'],
  ["{ interval: 25h }", '1:20: polling.vrrp.interval: expected a duration of 1s to 1d, got "25h"'],
  ['{ timeout: "0" }', '1:20: polling.vrrp.timeout: expected a duration of 1ms to 1d, got "0"'],
  [
    "{ schedule: 5 }",
    '1:20: polling.vrrp.schedule: expected a node-cron expression, seconds first, such as "*/10 * * * * *", got 5',
  ],
  [
    '{ schedule: "* * * * *" }',
    '1:20: polling.vrrp.schedule: expected six fields, seconds first, such as "*/10 * * * * *", got 5',
  ],
  [
    '{ interval: 5s, schedule: "* * * * * *" }',
    "1:34: polling.vrrp.schedule: expected either interval or schedule, got both",
  ],
  ["5s", "1:12: polling.vrrp: expected a map, got a string"],
])("%s: %s", async (block, error) => {
  expect(await errorsOf(polling(block))).toEqual([`config.yaml:${error}`]);
});

test.each([
  ["max_concurrent_website_tests: 0", "1:12: polling.max_concurrent_website_tests: expected at least 1"],
  [
    "max_concurrent_website_tests: 10001",
    "1:12: polling.max_concurrent_website_tests: expected at most 10000",
  ],
  [
    "max_concurrent_website_tests_per_appliance: 2.5",
    "1:12: polling.max_concurrent_website_tests_per_appliance: expected a whole number, got a number",
  ],
  [
    "max_concurrent_website_tests_per_appliance: 1001",
    "1:12: polling.max_concurrent_website_tests_per_appliance: expected at most 1000",
  ],
])("%s: %s", async (setting, error) => {
  expect(await errorsOf(`polling: { ${setting} }\nclusters: []\n`)).toEqual([`config.yaml:${error}`]);
});

test.each([
  [
    "in one block",
    nested("interval: 10s, timeout: 11s", "", ""),
    ["1:12: polling.vrrp: expected a timeout of at most the interval, 10s, got 11s"],
  ],
  [
    "against the built-in interval",
    nested("timeout: 6s", "", ""),
    ["1:12: polling.vrrp: expected a timeout of at most the interval, 5s, got 6s"],
  ],
  [
    "an inner interval",
    nested("interval: 1m, timeout: 20s", "interval: 10s", ""),
    ["4:16: clusters[0].polling.vrrp: expected a timeout of at most the interval, 10s, got 20s"],
  ],
  [
    "an inner timeout",
    nested("interval: 10s", "", "timeout: 1m"),
    [
      "6:54: clusters[0].appliances[0].polling.vrrp: expected a timeout of at most the interval, 10s, got 1m",
      "7:54: clusters[0].appliances[1].polling.vrrp: expected a timeout of at most the interval, 10s, got 1m",
    ],
  ],
  [
    "a schedule's shortest gap",
    nested('schedule: "0,50 * * * * *"', "timeout: 11s", ""),
    [
      "4:16: clusters[0].polling.vrrp: expected a timeout of at most the shortest time between two runs of the schedule, 10s, got 11s",
    ],
  ],
  ["no longer than the interval", nested("interval: 10s, timeout: 10s", "", ""), []],
  ["that an inner block makes good", nested("interval: 10s, timeout: 20s", "", "interval: 20s"), []],
])("a timeout %s", async (_, text, errors) => {
  expect(await errorsOf(text)).toEqual(errors.map((error) => `config.yaml:${error}`));
});
