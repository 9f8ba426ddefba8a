import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { byName, startAlertmanager, type Alertmanager } from "../support/alertmanager-server.ts";
import { toolPath } from "../support/tool.ts";
import { ALL_ALERTS } from "./alert-rules.ts";
import { EXAMPLE, EXAMPLE_FILE } from "./inhibitions.ts";

const OURS = { component: "appliance-exporter" };
const RECEIVERS: Readonly<Record<string, string>> = {
  ApplianceExporterWatchdog: "watchdog",
  VrrpFailover: "pager-events",
  ClusterUnseen: "none",
  critical: "pager",
  warning: "tickets",
};

function amtool(...args: readonly string[]) {
  return spawnSync(toolPath("amtool"), args, { encoding: "utf8" });
}

function receiverOf(labels: Readonly<Record<string, string>>): string {
  const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return amtool("config", "routes", "test", `--config.file=${EXAMPLE_FILE}`, ...given).stdout.trim();
}

test("amtool finds nothing wrong with the example", () => {
  expect(amtool("check-config", EXAMPLE_FILE)).toMatchObject({ status: 0, stderr: "" });
});

test.for(ALL_ALERTS.map(({ alert, labels }) => [alert, labels["severity"] ?? ""] as const))(
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
    alertmanager = await startAlertmanager(stringify({ ...EXAMPLE, receivers, templates: [] }));
  });

  afterAll(() => alertmanager.stop());

  test("lets the watchdog and an alert of another team pass while our exporter is dead", async () => {
    const watchdog = { alertname: "ApplianceExporterWatchdog", ...OURS };
    const dead = { alertname: "ApplianceExporterAbsent", ...OURS };
    const ours = { alertname: "VrrpSplitBrain", ha_cluster: "ams", ...OURS };
    const foreign = { alertname: "ClusterHealthRed", ha_cluster: "ams", severity: "critical" };
    await alertmanager.fire(watchdog, dead, ours, foreign);
    await expect
      .poll(async () => byName(await alertmanager.told()))
      .toEqual(byName([watchdog, dead, foreign]));
  });

  test("silences what follows from a cluster that no exporter sees, in that cluster alone", async () => {
    const unseen = { alertname: "ClusterUnseen", ha_cluster: "ams", ...OURS };
    const dark = { alertname: "ClusterDark", ha_cluster: "ams", ...OURS };
    const elsewhere = { alertname: "ClusterDark", ha_cluster: "utr", ...OURS };
    await alertmanager.fire(unseen, dark, elsewhere);
    await expect.poll(async () => byName(await alertmanager.told())).toEqual(byName([unseen, elsewhere]));
  });
});
