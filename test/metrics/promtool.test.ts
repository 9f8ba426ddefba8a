import { expect, inject, test } from "vitest";

import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { createSelfMetrics } from "../../src/metrics/self.ts";
import { checkMetrics } from "../support/prometheus-tools.ts";
import { cannedText } from "./canned-fleet.ts";
import { parseExposition } from "./strict-parser.ts";

async function everything(): Promise<string> {
  const self = createSelfMetrics({ version: "0.0.0", nodeVersion: "v20.0.0", shard: WHOLE_FLEET }, () => 0);
  self.reloaded(true, 1_700_000_000_000);
  return (await self.render()) + cannedText();
}

test("promtool has nothing to say about our own metrics and the fleet's", async ({ skip }) => {
  const promtool = inject("promtool");
  if (!promtool.ok) {
    skip(promtool.reason);
    return;
  }
  expect(checkMetrics(promtool.path, await everything())).toEqual({ status: 0, output: "" });
});

test("promtool would have something to say about a metric without help", ({ skip }) => {
  const promtool = inject("promtool");
  if (!promtool.ok) {
    skip(promtool.reason);
    return;
  }
  expect(checkMetrics(promtool.path, "# TYPE x gauge\nx 1\n").status).toBe(3);
});

test("no family is both ours and the fleet's, and no series is there twice", async () => {
  const families = parseExposition(await everything());
  expect(families.length).toBeGreaterThan(40);
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
});
