import { expect, test } from "vitest";
import { planReload } from "../../src/config/reload-plan.ts";
import { configOf } from "./folder.ts";

const lone = (rest: string) => `appliances: [{ name: a, base_url: "https://a"${rest} }]\n`;
const entry = (name: string, host = name) => `{ name: ${name}, base_url: "https://${host}" }`;
const member = "clusters: [{ name: c, appliances: [{ name: a, base_url: https://a }] }]\n";

test.each([
  [lone(""), lone(", enabled: true, polling: { vrrp: { interval: 5s } }, websites: []")],
  [lone(", labels: { x: y, z: w }"), lone(", labels: { z: w, x: y }")],
])("from %j to %j the appliance is kept", async (before, after) => {
  expect(planReload(await configOf(before), await configOf(after)).kept).toEqual(["a"]);
});

test.each([
  "appliances: [{ name: a, base_url: https://b }]\n",
  lone(", http_client: { basic_auth: { username: u, password: q } }"),
  `http_client: { proxy_url: http://p }\n${lone("")}`,
  lone(", polling: { vrrp: { timeout: 3s } }"),
  lone(", polling: { max_concurrent_website_tests_per_appliance: 2 }"),
  lone(", labels: { x: y }"),
  lone(", websites: [{ id: 1, expect_status: [200] }]"),
  lone(", enabled: false"),
  member,
])("to %j the appliance is changed", async (after) => {
  const before = await configOf(
    lone(", http_client: { basic_auth: { username: u, password: p } }, websites: [1]"),
  );
  expect(planReload(before, await configOf(after)).changed).toEqual(["a"]);
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
    changed: ["moved"],
    kept: ["kept", "z"],
  });
});
