import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { byName, startAlertmanager, type Alertmanager } from "../support/alertmanager-server.ts";
import { toolPath } from "../support/tool.ts";
import { ALERTS } from "./alert-rules.ts";
import { EXAMPLE, EXAMPLE_FILE } from "./inhibitions.ts";

const OURS = { component: "appliance-exporter" };
const RECEIVERS: Readonly<Record<string, string>> = {
  VrrpFailover: "pager-events",
  ClusterUnseen: "none",
  critical: "pager",
  warning: "tickets",
};
const RUNBOOK = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
const LINES = RUNBOOK.match(/^amtool silence add .*$/gm) ?? [];

/** Runs a line that calls amtool, as a shell does. */
function shell(line: string) {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", line], { encoding: "utf8" });
  return { status, output: stdout.trim(), problem: stderr };
}

function receiverOf(labels: Readonly<Record<string, string>>): string {
  const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const command = `${toolPath("amtool")} config routes test --config.file=${EXAMPLE_FILE}`;
  return shell(`${command} ${given.join(" ")}`).output;
}

test.for(ALERTS.map(({ alert, labels }) => [alert, labels["severity"] ?? ""] as const))(
  "%s with severity %s reaches its receiver",
  ([alert, severity]) => {
    expect(receiverOf({ alertname: alert, severity, ...OURS })).toBe(RECEIVERS[alert] ?? RECEIVERS[severity]);
  },
);

test("our routes take no alert of other teams", () => {
  expect(receiverOf({ alertname: "ClusterHealthRed", severity: "critical", ha_cluster: "ams" })).toBe(
    "others",
  );
});

describe("a real Alertmanager with the example", () => {
  let alertmanager: Alertmanager;

  beforeAll(async () => {
    // Its receivers keep their names and send nothing.
    const receivers = EXAMPLE.receivers.map(({ name }) => ({ name }));
    alertmanager = await startAlertmanager(stringify({ ...EXAMPLE, receivers }));
  });

  afterAll(() => alertmanager.stop());

  test("lets an alert of another team pass while our exporter is dead", async () => {
    const dead = { alertname: "ApplianceExporterAbsent", ...OURS };
    const ours = { alertname: "VrrpSplitBrain", ha_cluster: "ams", ...OURS };
    const foreign = { alertname: "ClusterHealthRed", ha_cluster: "ams", severity: "critical" };
    await alertmanager.fire(dead, ours, foreign);
    await expect.poll(async () => byName(await alertmanager.told())).toEqual(byName([dead, foreign]));
  });

  test("silences what follows from a cluster that no exporter sees, in that cluster alone", async () => {
    const unseen = { alertname: "ClusterUnseen", ha_cluster: "ams", ...OURS };
    const dark = { alertname: "ClusterDark", ha_cluster: "ams", ...OURS };
    const elsewhere = { alertname: "ClusterDark", ha_cluster: "utr", ...OURS };
    await alertmanager.fire(unseen, dark, elsewhere);
    await expect.poll(async () => byName(await alertmanager.told())).toEqual(byName([unseen, elsewhere]));
  });

  test("each line of the runbook silences what it says, and nothing else", async () => {
    const AMS = { ha_cluster: "ams", site: "amsterdam" };
    const split = { alertname: "VrrpSplitBrain", ...AMS };
    const failover = { alertname: "VrrpFailover", appliance: "waf-ams-1", ...AMS };
    const elsewhere = {
      alertname: "ApplianceDown",
      ha_cluster: "utr",
      appliance: "waf-utr-1",
      site: "utrecht",
    };
    const blind = { alertname: "ApplianceExporterBlind", job: "appliance-exporter", shard: "0" };
    const all = [split, failover, elsewhere, blind];
    /** What each line leaves, in their order. */
    const left = [
      [split, elsewhere, blind],
      [elsewhere, blind],
      [elsewhere, blind],
      [split, failover, elsewhere],
    ];
    expect(LINES).toHaveLength(left.length);
    await alertmanager.fire(...all);
    const telling = async () => byName(await alertmanager.told());
    const flag = `--alertmanager.url=${alertmanager.url}`;
    for (const [index, line] of LINES.entries()) {
      const added = shell(line.replace("--alertmanager.url=http://alertmanager.example:9093", flag));
      expect(added).toMatchObject({ status: 0, problem: "" });
      await expect.poll(telling).toEqual(byName(left[index] ?? []));
      expect(shell(`amtool silence expire ${added.output} ${flag}`)).toMatchObject({ status: 0 });
      await expect.poll(telling).toEqual(byName(all));
    }
  });
});
