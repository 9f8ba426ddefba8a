import { expect, test } from "vitest";
import { planReload } from "../../src/config/reload-plan.ts";
import { configOf } from "./folder.ts";

/** What becomes of appliance `a` when its settings change from one to the other. */
async function aspectsOf(before: string, after: string): Promise<readonly string[]> {
  const [old, next] = await Promise.all([configOf(before), configOf(after)]);
  const { changed } = planReload(old, next);
  return [...(changed[0]?.aspects ?? [])];
}

const lone = (rest: string) => `appliances: [{ name: a, base_url: "https://a"${rest} }]\n`;
const entry = (name: string, host = name) => `{ name: ${name}, base_url: "https://${host}" }`;
const member = "clusters: [{ name: c, appliances: [{ name: a, base_url: https://a }] }]\n";

test.each([
  [lone(""), lone(""), []],
  [lone(""), lone(", enabled: true, polling: { vrrp: { interval: 5s } }, websites: []"), []],
  [lone(", labels: { x: y, z: w }"), lone(", labels: { z: w, x: y }"), []],
  [lone(""), "appliances: [{ name: a, base_url: https://b }]\n", ["baseUrl"]],
  [lone(""), lone(", http_client: { basic_auth: { username: u, password: p } }"), ["http"]],
  [
    lone(", http_client: { basic_auth: { username: u, password: p } }"),
    lone(", http_client: { basic_auth: { username: u, password: q } }"),
    ["http"],
  ],
  [lone(""), "http_client: { proxy_url: http://p }\n" + lone(""), ["http"]],
  [lone(""), lone(", polling: { vrrp: { timeout: 3s } }"), ["vrrpTiming"]],
  [lone(""), lone(', polling: { vrrp: { schedule: "*/5 * * * * *" } }'), ["vrrpTiming"]],
  [lone(""), lone(", polling: { websites: { interval: 1m } }"), ["websiteTiming"]],
  [
    lone(""),
    lone(", polling: { max_concurrent_website_tests_per_appliance: 2 }"),
    ["maxConcurrentWebsiteTests"],
  ],
  [lone(""), lone(", labels: { x: y }"), ["labels"]],
  [lone(""), lone(", websites: [1]"), ["websites"]],
  [lone(", websites: [1]"), lone(", websites: [{ id: 1, expect_status: [200] }]"), ["websites"]],
  [lone(""), lone(", enabled: false"), ["enabled"]],
  [lone(""), member, ["cluster"]],
  [lone(", enabled: false, labels: { x: y }"), member, ["labels", "enabled", "cluster"]],
])("from %j to %j: %j", async (before, after, aspects) => {
  expect(await aspectsOf(before, after)).toEqual(aspects);
});

test("every appliance is added, removed, changed or kept", async () => {
  const old = await configOf(
    `appliances: [${entry("z")}, ${entry("gone")}, ${entry("moved")}, ${entry("kept")}]\n`,
  );
  const next = await configOf(
    `appliances: [${entry("new")}, ${entry("kept")}, ${entry("moved", "m")}, ${entry("z")}]\n`,
  );
  expect(planReload(old, next)).toEqual({
    added: ["new"],
    removed: ["gone"],
    changed: [{ name: "moved", aspects: new Set(["baseUrl"]) }],
    kept: ["kept", "z"],
  });
});
