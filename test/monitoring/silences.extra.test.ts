import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { byName, type Alertmanager } from "../support/alertmanager-server.ts";
import { amtool, startExample, amtoolLine } from "./amtool.ts";

const RUNBOOK = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
const LINES = RUNBOOK.match(/^amtool silence add .*$/gm) ?? [];

const AMS = { ha_cluster: "ams", site: "amsterdam" };
const split = { alertname: "VrrpSplitBrain", ...AMS };
const failover = { alertname: "VrrpFailover", appliance: "waf-ams-1", ...AMS };
const elsewhere = { alertname: "ApplianceDown", ha_cluster: "utr", appliance: "waf-utr-1", site: "utrecht" };
const blind = { alertname: "ApplianceExporterBlind", job: "appliance-exporter", shard: "0" };
const ALL = [split, failover, elsewhere, blind];

/** What each line of the runbook leaves, in their order. */
const LEFT = [
  [split, elsewhere, blind],
  [elsewhere, blind],
  [elsewhere, blind],
  [split, failover, elsewhere],
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
