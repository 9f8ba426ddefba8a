import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { toolPath } from "../support/tool.ts";
import { ALL_ALERTS } from "./alert-rules.ts";
import { EXAMPLE_FILE } from "./alertmanager-example.ts";

const OURS = { component: "appliance-exporter" };
const RECEIVERS: Readonly<Record<string, string>> = {
  none: "watchdog",
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
    expect(receiverOf({ alertname: alert, severity, ...OURS })).toBe(RECEIVERS[severity]);
  },
);

test("our routes take no alert of other teams", () => {
  expect(receiverOf({ alertname: "ClusterHealthRed", severity: "critical", ha_cluster: "ams" })).toBe(
    "others",
  );
});
