import { gathered } from "../../../src/exporter/api/website-details.ts";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fleetOf } from "../fleet/support.ts";
import { applianceOf, blocksOf, interfaceOf, listOf, seen, websiteOf } from "../../support/observations.ts";
import { expositionOf, sampleLines } from "./canned-fleet.ts";

const PAGE = readFileSync(new URL("../../../docs/scaling.md", import.meta.url), "utf8");
const POD_MONITOR = readFileSync(
  new URL("../../../packaging/kubernetes/operator/podmonitor.yaml", import.meta.url),
  "utf8",
);

const GROUPS = [1, 2, 3, 4];
const WEBSITES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const certificate = { notAfterSeconds: 1, subject: "", issuer: "", sha256: "" };

function list(state: string, configuredRole: "master" | "backup") {
  const priority = configuredRole === "master" ? 204 : 100;
  return listOf(
    GROUPS.map((vhid) => interfaceOf({ name: `carp${vhid}`, vhid, state, priority, configuredRole })),
  );
}

/** A pair with 4 groups and 10 websites of both protocols, all healthy after a failover of every group. */
function pair() {
  const websites = WEBSITES.map((id) => websiteOf({ id }));
  const fleet = fleetOf(["a", "b"].map((name) => applianceOf({ name, cluster: "ab", websites })));
  for (const [name, role, before, after] of [
    ["a", "backup", "MASTER", "BACKUP"],
    ["b", "master", "BACKUP", "MASTER"],
  ] as const) {
    fleet.record(seen.vrrp(name, list(before, role), { certificate }), 0);
    fleet.record(seen.vrrp(name, list(after, role), { certificate }), 0);
    for (const id of WEBSITES) fleet.record(seen.website(name, id, blocksOf(200, 200)), 0);
  }
  return fleet;
}

test("the formula of discovered websites is what is exported", async () => {
  const ids = Array.from({ length: 20 }, (_, nth) => nth + 1);
  const discovery = { exclude: [], limit: 200 };
  const server = { role: "active", isOk: true } as const;
  const backends = [1, 2, 3].map((nth) => ({ ...server, address: `192.0.2.${nth}:80` }));
  const members = ["a", "b"].map((name) => applianceOf({ name, cluster: "ab", discovery }));
  const fleet = fleetOf(members);
  for (const { name } of members) {
    fleet.record(seen.websites(name, ids), 0);
    for (const id of ids)
      fleet.record(seen.details(name, id, { host: `${id}.example`, backends: gathered(backends) }), 0);
  }
  const bare = [
    "website_state",
    'operation="vrrp"',
    'operation="website_test"',
    "appliance_up",
    "appliance_enabled",
    "ha_cluster_failovers_total",
    '"bad_field"',
  ];
  const lines = sampleLines(await expositionOf(fleet));
  const series = lines.filter((line) => !bare.some((part) => line.includes(part))).length;
  expect(PAGE).toContain(`A pair that discovers 20 websites with 3 servers each has ${series} of these`);
});

/** A pair whose first member exhausts every limit, and whose second one differs from it in each website. */
function worstPair() {
  const ids = Array.from({ length: 200 }, (_, nth) => nth + 1);
  const discovery = { exclude: [], limit: 200 };
  const fleet = fleetOf(["a", "b"].map((name) => applianceOf({ name, cluster: "ab", discovery })));
  for (const state of ["BACKUP", "MASTER"]) {
    const interfaces = Array.from({ length: 1024 }, (_, nth) =>
      interfaceOf({ name: `carp${nth}`, vip: `vip${nth}`, state }),
    );
    fleet.record(seen.vrrp("a", listOf(interfaces), { certificate }), 0);
  }
  fleet.record(seen.vrrp("b", listOf([]), { certificate }), 0);
  const servers = Array.from({ length: 1024 }, (_, nth) => {
    return { address: `192.0.2.81:${nth + 1}`, role: "active", isOk: nth % 2 === 0 } as const;
  });
  for (const [name, mode] of [
    ["a", "pass"],
    ["b", "protect"],
  ] as const) {
    fleet.record(seen.websites(name, ids), 0);
    for (const id of ids) {
      const backends = gathered(name === "a" ? servers : servers.slice(1, 2));
      fleet.record(seen.details(name, id, { host: `${id}.example`, mode, backends }), 0);
      if (name === "a") fleet.record(seen.website(name, id, blocksOf(200, 200)), 0);
    }
  }
  return fleet;
}

test("no answer makes an appliance have more series than documented, and the shipped limit has room for one", async () => {
  const lines = sampleLines(await expositionOf(worstPair()));
  const series = lines.filter((line) => !line.includes('appliance="b"')).length;
  const [, bound = ""] = /an appliance never has more than ([\d,]+) series/.exec(PAGE) ?? [];
  const most = Number(bound.replaceAll(",", ""));
  expect(series).toBeLessThanOrEqual(most);
  expect(series).toBeGreaterThan(0.85 * most);
  const [, shipped] = /sampleLimit: (\d+)/.exec(POD_MONITOR) ?? [];
  const example = 300 * sampleLines(await expositionOf(pair())).length;
  expect(Number(shipped)).toBeGreaterThan(example + most);
});

test("the worked example of the cardinality is what is exported", async () => {
  const series = sampleLines(await expositionOf(pair())).length;
  expect(PAGE).toContain(`One pair is ${series} series`);
  expect(PAGE).toContain(`| together | ${(300 * series).toLocaleString("en-US")} |`);
});
