import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { toolPath } from "../../support/tool.ts";
import { completeExposition } from "./canned-fleet.ts";

function checkMetrics(text: string) {
  const args = ["check", "metrics"];
  const { status, stdout, stderr } = spawnSync(toolPath("promtool"), args, { input: text, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

test("promtool accepts all metrics", async () => {
  expect(checkMetrics(await completeExposition())).toEqual({ status: 0, output: "" });
});

test("promtool would reject a metric without help", () => {
  expect(checkMetrics("# TYPE x gauge\nx 1\n").status).toBe(3);
});
