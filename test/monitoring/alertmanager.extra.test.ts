import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byName, type Alertmanager } from "../support/alertmanager-server.ts";
import { ALERTS } from "./alert-rules.ts";
import { amtool, EXAMPLE_FILE, startExample } from "./amtool.ts";

const OURS = { component: "appliance-exporter" };
const RECEIVERS: Readonly<Record<string, string>> = {
  VrrpFailover: "pager-events",
  ClusterUnseen: "none",
  critical: "pager",
  warning: "tickets",
};

test("amtool finds nothing wrong with the example", () => {
  expect(amtool("check-config", EXAMPLE_FILE)).toMatchObject({
    status: 0,
    output: expect.stringContaining("SUCCESS"),
  });
});

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

function receiverOf(labels: Readonly<Record<string, string>>): string {
  const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return amtool("config", "routes", "test", `--config.file=${EXAMPLE_FILE}`, ...given).output;
}

describe("a real Alertmanager", () => {
  let alertmanager: Alertmanager;

  beforeAll(async () => {
    alertmanager = await startExample();
  });

  afterAll(async () => {
    await alertmanager.stop();
  });

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
});
