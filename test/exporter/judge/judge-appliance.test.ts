import { expect, test } from "vitest";
import { FAILURE_REASONS } from "../../../src/exporter/api/failure.ts";
import type { PollHealth } from "../../../src/exporter/fleet/snapshot.ts";
import { judgeAppliance, judgeCluster } from "../../../src/exporter/judge/judge-appliance.ts";
import { failureOf } from "../../support/observations.ts";

const HEALTH: PollHealth = {
  state: "succeeded",
  failure: undefined,
  durationSeconds: 0.1,
  lastSuccessAtMs: undefined,
  failingSinceMs: undefined,
};

test("an appliance that answers is up, and one that was never polled has no state", () => {
  expect(judgeAppliance(HEALTH)).toBe("up");
  expect(judgeAppliance({ ...HEALTH, state: "pending" })).toBeUndefined();
});

test.each([
  ["down", ["connect", "timeout", "appliance_down"]],
  ["refused", ["tls", "auth", "http_status", "protocol", "too_large", "decode", "unsupported", "vip"]],
  ["unknown", ["dns", "proxy", "secret", "stalled", "local", "internal"]],
] as const)("an appliance is %s whose poll fails with %j", (state, reasons) => {
  const found = FAILURE_REASONS.filter(
    (reason) => judgeAppliance({ ...HEALTH, state: "failed", failure: failureOf(reason) }) === state,
  );
  expect(found).toEqual(reasons);
});

test.each([
  ["up", ["up", "up"]],
  ["up", ["up", undefined]],
  ["degraded", ["up", "down"]],
  ["degraded", ["refused", "up"]],
  ["dark", ["down", "down"]],
  ["unknown", ["down", "refused"]],
  ["unknown", ["unknown"]],
  [undefined, [undefined, undefined]],
  [undefined, ["down", undefined]],
  [undefined, []],
] as const)("a cluster is %s with appliances that are %j", (state, appliances) => {
  expect(judgeCluster(appliances)).toBe(state);
});
