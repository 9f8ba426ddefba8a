import { expect, test } from "vitest";
import type { WebsiteDetails } from "../../../src/exporter/api/website-details.ts";
import type { Fleet } from "../../../src/exporter/fleet/fleet.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import {
  applianceOf,
  blocksOf,
  configOf,
  failed,
  failureOf,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { clustersOf, appliancesOf, fleetOf } from "./support.ts";

const LONE = applianceOf({ name: "waf", websites: [websiteOf({ id: 1 })] });
const MASTER = seen.vrrp("waf", listOf([interfaceOf({ state: "MASTER" })]));
const BACKUP = seen.vrrp("waf", listOf([interfaceOf({ state: "BACKUP" })]), {
  completedAtMs: WALL_MS + 5_000,
});
const FAILED = failed.vrrp("waf", "timeout");
const GARBLED = seen.vrrp("waf", listOf([], { unreadable: ["carp0"] }));

function transitions(fleet: Fleet): readonly (readonly [string, number, number | undefined])[] {
  const interfaces = appliancesOf(fleet)[0]?.vrrp.found?.list.interfaces ?? [];
  return interfaces.map((i) => [i.reported.name, i.transitions, i.lastTransitionAtMs]);
}

const INIT = seen.vrrp("waf", listOf([interfaceOf({ state: "INIT" })]));
const MOVED = seen.vrrp("waf", listOf([interfaceOf({ state: "BACKUP", vhid: 3 })]));
const LONG = seen.vrrp("waf", listOf([interfaceOf({ vip: "2001:db8:0::64" })]));
const SHORT = seen.vrrp("waf", listOf([interfaceOf({ vip: "2001:DB8::64", state: "BACKUP" })]));

test.each<readonly [name: string, polls: readonly Observation[], expected: ReturnType<typeof transitions>]>([
  ["none at its first sight, whatever its state", [BACKUP], [["carp0", 0, undefined]]],
  ["none for the same state again", [MASTER, MASTER], [["carp0", 0, undefined]]],
  ["one for another state, dated by the poll that saw it", [MASTER, BACKUP], [["carp0", 1, WALL_MS + 5_000]]],
  ["one for a state word that is not known", [MASTER, INIT, MASTER], [["carp0", 2, WALL_MS]]],
  ["none for failed polls between two equal states", [MASTER, FAILED, MASTER], [["carp0", 0, undefined]]],
  [
    "kept while it is unreadable, and its change is still seen",
    [MASTER, BACKUP, GARBLED, GARBLED, MASTER],
    [["carp0", 2, WALL_MS]],
  ],
  ["not shown while it is unreadable", [MASTER, GARBLED], []],
  [
    "forgotten with an answer that lacks it",
    [MASTER, BACKUP, seen.vrrp("waf", listOf([])), MASTER],
    [["carp0", 0, undefined]],
  ],
  ["none under another vhid, where it is another interface", [MASTER, MOVED], [["carp0", 0, undefined]]],
  ["one where its address has another spelling", [LONG, SHORT], [["carp0", 1, WALL_MS]]],
])("transitions of an interface: %s", (_, polls, expected) => {
  expect(transitions(fleetOf([LONE], polls))).toEqual(expected);
});

test("a state is compared with the last successful poll, whatever failed between", () => {
  const fleet = fleetOf([LONE], [MASTER, FAILED, FAILED]);
  expect(fleet.record(BACKUP, 0).changes).toEqual([
    { kind: "recovered", operation: expect.objectContaining({ kind: "vrrp" }), from: failureOf("timeout") },
    { kind: "vrrp_state", interface: "carp0", vhid: 2, vip: "192.0.2.100", from: "MASTER", to: "BACKUP" },
  ]);
  expect(transitions(fleet)).toEqual([["carp0", 1, WALL_MS + 5_000]]);
});

function statuses(fleet: Fleet): readonly (readonly [string, number, number])[] {
  const websites = appliancesOf(fleet)[0]?.websites[0]?.found?.statuses ?? [];
  return websites.map(({ protocol, status, changes }) => [protocol, status, changes]);
}

const OK = seen.website("waf", 1, blocksOf(200, 200));
const HTTPS_BROKEN = seen.website("waf", 1, [
  { protocol: "http", status: 200 },
  { protocol: "https", status: 0, text: "certificate has expired" },
]);

test("a website's status has not changed from its first sight on, and changes by protocol", () => {
  expect(statuses(fleetOf([LONE], [HTTPS_BROKEN]))).toEqual([
    ["http", 200, 0],
    ["https", 0, 0],
  ]);
  expect(statuses(fleetOf([LONE], [OK, HTTPS_BROKEN, OK, OK]))).toEqual([
    ["http", 200, 0],
    ["https", 200, 2],
  ]);
});

test("a website's status is compared with the last successful test, whatever failed between", () => {
  const fleet = fleetOf(
    [LONE],
    [OK, failed.website("waf", 1, "appliance_down"), failed.website("waf", 1, "decode")],
  );
  expect(fleet.record(HTTPS_BROKEN, 0).changes).toEqual([
    {
      kind: "recovered",
      operation: expect.objectContaining({ kind: "website_test", websiteId: 1 }),
      from: failureOf("decode"),
    },
    {
      kind: "website_status",
      websiteId: 1,
      website: "1",
      protocol: "https",
      from: 200,
      to: 0,
      text: "certificate has expired",
    },
  ]);
  expect(statuses(fleet)).toEqual([
    ["http", 200, 0],
    ["https", 0, 1],
  ]);
});

test("a protocol that is gone from an answer is forgotten, its counter too", () => {
  const httpOnly = seen.website("waf", 1, [{ protocol: "http", status: 200 }]);
  expect(statuses(fleetOf([LONE], [OK, HTTPS_BROKEN, httpOnly, OK]))).toEqual([
    ["http", 200, 0],
    ["https", 200, 0],
  ]);
});

const DISCOVERED = applianceOf({ name: "waf", discovery: { exclude: [], limit: 200 } });

const UNKNOWN = { name: "", host: "" };
const OTHER = { name: "new", host: "new.example" };

test.each<readonly [name: string, changes: number, details: readonly Partial<WebsiteDetails>[]]>([
  ["the same name at another host", 1, [{}, { host: "new.example" }]],
  ["another name at the same host", 1, [{}, { name: "new" }]],
  ["another name and host", 0, [{}, OTHER]],
  ["name and host not known now", 1, [{}, UNKNOWN]],
  ["name not known now, at another host", 1, [{}, { ...OTHER, name: "" }]],
  ["name and host not known in between", 0, [{}, UNKNOWN, OTHER]],
  ["another host, where there are no names", 0, [{ name: "" }, { ...OTHER, name: "" }]],
])("the counters of a website whose details change: %s", (_, changes, [before, ...then]) => {
  const first = [seen.websites("waf", [1]), seen.details("waf", 1, before), OK, HTTPS_BROKEN];
  const later = then.map((details) => seen.details("waf", 1, details));
  expect(statuses(fleetOf([DISCOVERED], [MASTER, ...first, ...later, HTTPS_BROKEN]))[1]).toEqual([
    "https",
    0,
    changes,
  ]);
});

test("an observation of an appliance or a website that is gone changes nothing", () => {
  const fleet = fleetOf([LONE], [MASTER]);
  const before = clustersOf(fleet, 0);
  expect(fleet.record(failed.vrrp("gone", "connect"), 0)).toEqual({ changes: [], cluster: undefined });
  expect(fleet.record(seen.website("waf", 99, []), 0).changes).toEqual([]);
  expect(clustersOf(fleet, 0)).toEqual(before);
  fleet.configure(configOf(), 0);
  expect(clustersOf(fleet, 0)).toEqual([]);
});
