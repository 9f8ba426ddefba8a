import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder, planOf } from "./folder.ts";

/** The plan for a file with one text and then with another. */
async function planFor(before: string, after: string) {
  const file = join(await createFolder({ "config.yaml": before }), "config.yaml");
  return planOf(file, () => writeFile(file, after));
}

const lone = (rest: string) => `appliances: [{ name: a, base_url: "https://a"${rest} }]\n`;
const entry = (name: string, host = name) => `{ name: ${name}, base_url: "https://${host}" }`;
const member = "clusters: [{ name: c, appliances: [{ name: a, base_url: https://a }] }]\n";

test("an appliance whose settings are written in another way is kept", async () => {
  const after = lone(", enabled: true, polling: { vrrp: { interval: 5s } }, websites: []");
  expect(await planFor(lone(""), after)).toEqual({ added: [], removed: [], changed: [] });
});

const CLIENT = ", http_client: { basic_auth: { username: u, password: p } }";
const SETTINGS = `${CLIENT}, websites: [1]`;

/** An appliance with each of these settings, and one at this host. */
function fleetOf(settings: readonly string[], host: string): string {
  const all = settings.map((each, nth) => `{ name: a${nth}, base_url: "https://a${nth}"${each} }`);
  return `appliances: [${all.join(", ")}, ${entry("moved", host)}]\n`;
}

test("an appliance with any other setting is changed, and its neighbors are kept", async () => {
  const changes: readonly string[] = [
    ", http_client: { basic_auth: { username: u, password: q } }, websites: [1]",
    `${CLIENT}, websites: [{ id: 1, expect_status: [200] }]`,
    `${SETTINGS}, polling: { vrrp: { timeout: 3s } }`,
    `${SETTINGS}, polling: { max_concurrent_website_tests_per_appliance: 2 }`,
    `${SETTINGS}, labels: { x: y }`,
    `${SETTINGS}, enabled: false`,
  ];
  const settings = [...changes, SETTINGS];
  const before = fleetOf(
    settings.map(() => SETTINGS),
    "here",
  );
  const changed = [...changes.map((_, nth) => `a${nth}`), "moved"];
  expect(await planFor(before, fleetOf(settings, "there"))).toEqual({ added: [], removed: [], changed });
});

test.each([`http_client: { proxy_url: http://p }\n${lone(SETTINGS)}`, member])(
  "to %j the appliance is changed",
  async (after) => {
    expect((await planFor(lone(SETTINGS), after)).changed).toEqual(["a"]);
  },
);

test("every appliance is added, removed, changed or kept", async () => {
  const old = `appliances: [${entry("z")}, ${entry("gone")}, ${entry("moved")}, ${entry("kept")}]\n`;
  const next = `appliances: [${entry("new")}, ${entry("kept")}, ${entry("moved", "m")}, ${entry("z")}]\n`;
  expect(await planFor(old, next)).toEqual({
    added: ["new"],
    removed: ["gone"],
    changed: ["moved"],
  });
});
