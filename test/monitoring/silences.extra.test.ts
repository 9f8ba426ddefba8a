import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { byName, type Alertmanager } from "../support/alertmanager-server.ts";
import { amtool, startExample, amtoolLine } from "./amtool.ts";

const RUNBOOK = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
const LINES = RUNBOOK.match(/^amtool silence add .*$/gm) ?? [];

const GROUP = { ha_cluster: "ams", vhid: "2", vip: "192.0.2.100" };
const split = { alertname: "VrrpSplitBrain", ...GROUP };
const failover = { alertname: "VrrpFailover", appliance: "waf-ams-1", ...GROUP };
const down = { alertname: "ApplianceDown", ha_cluster: "ams", appliance: "waf-ams-1", site: "amsterdam" };
const elsewhere = { alertname: "ApplianceDown", ha_cluster: "utr", appliance: "waf-utr-1", site: "utrecht" };
const isolated = { alertname: "ApplianceExporterIsolated", exporters: "some" };
const ALL = [split, failover, down, elsewhere, isolated];

/** What each line of the runbook leaves to be told, in their order. */
const LEFT = [
  [split, down, elsewhere, isolated],
  [split, failover, elsewhere, isolated],
  [split, failover, elsewhere, isolated],
  [elsewhere, isolated],
  [split, failover, down, elsewhere],
];

let alertmanager: Alertmanager;

beforeAll(async () => {
  alertmanager = await startExample();
});

afterAll(async () => {
  await alertmanager.stop();
});

test("every line of the runbook that silences is tried", () => {
  expect(LINES).toHaveLength(LEFT.length);
});

test.for(LEFT.map((left, index) => [LINES[index] ?? "", left] as const))(
  "silences what it says, and nothing else: %s",
  async ([line, left]) => {
    const { url, fire, told } = alertmanager;
    const telling = async () => byName(await told());
    await fire(...ALL);
    const flag = `--alertmanager.url=${url}`;
    const added = amtoolLine(line.replace("--alertmanager.url=http://alertmanager.example:9093", flag));
    expect(added).toMatchObject({ status: 0, problem: "" });
    await expect.poll(telling).toEqual(byName(left));
    expect(amtool("silence", "expire", added.output, flag)).toMatchObject({ status: 0 });
    await expect.poll(telling).toEqual(byName(ALL));
  },
);
