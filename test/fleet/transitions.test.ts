import { expect, test } from "vitest";

import type { Fleet } from "../../src/fleet/fleet.ts";
import {
  applianceOf,
  configOf,
  failureOf,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  WALL_MS,
  websiteFailed,
  websiteOf,
  websiteSeen,
} from "../support/observations.ts";
import { appliancesOf, fleetOf } from "./support.ts";

const LONE = applianceOf({ name: "waf", websites: [websiteOf({ id: 1 })] });
const MASTER = vrrpSeen("waf", listOf([interfaceOf({ state: "MASTER" })]));
const BACKUP = vrrpSeen("waf", listOf([interfaceOf({ state: "BACKUP" })]), {
  completedAtMs: WALL_MS + 5_000,
});
const FAILED = vrrpFailed("waf", "timeout");
const GARBLED = vrrpSeen("waf", listOf([], { unreadable: ["carp0"] }));

function transitions(fleet: Fleet): readonly (readonly [string, number, number | undefined])[] {
  const interfaces = appliancesOf(fleet)[0]?.vrrp.list?.interfaces ?? [];
  return interfaces.map((i) => [i.name, i.transitions, i.lastTransitionAtMs]);
}

test("an interface has no transition from its first sight on, whatever its state", () => {
  expect(transitions(fleetOf([LONE], [BACKUP]))).toEqual([["carp0", 0, undefined]]);
});

test("the same state again is no transition", () => {
  expect(transitions(fleetOf([LONE], [MASTER, MASTER]))).toEqual([["carp0", 0, undefined]]);
});

test("another state is a transition, dated by the poll that saw it", () => {
  expect(transitions(fleetOf([LONE], [MASTER, BACKUP]))).toEqual([["carp0", 1, WALL_MS + 5_000]]);
});

test("a change to a state word that is not known is a transition as well", () => {
  const init = vrrpSeen("waf", listOf([interfaceOf({ state: "INIT" })]));
  expect(transitions(fleetOf([LONE], [MASTER, init, MASTER]))).toEqual([["carp0", 2, WALL_MS]]);
});

test("a transition is told against the last successful poll, whatever failed between", () => {
  const fleet = fleetOf([LONE], [MASTER, FAILED, FAILED]);
  expect(fleet.record(BACKUP, 0).changes).toEqual([
    { kind: "recovered", operation: expect.objectContaining({ kind: "vrrp" }), from: failureOf("timeout") },
    { kind: "vrrp_state", interface: "carp0", vhid: 2, vip: "192.0.2.100", from: "MASTER", to: "BACKUP" },
  ]);
  expect(transitions(fleet)).toEqual([["carp0", 1, WALL_MS + 5_000]]);
});

test("failed polls between two equal states are no transition", () => {
  expect(transitions(fleetOf([LONE], [MASTER, FAILED, MASTER]))).toEqual([["carp0", 0, undefined]]);
});

test("an interface that was unreadable for a while keeps its counter, and its change is still seen", () => {
  expect(transitions(fleetOf([LONE], [MASTER, BACKUP, GARBLED, GARBLED, MASTER]))).toEqual([
    ["carp0", 2, WALL_MS],
  ]);
});

test("an unreadable interface is not shown", () => {
  expect(transitions(fleetOf([LONE], [MASTER, GARBLED]))).toEqual([]);
});

test("an interface that is gone from an answer is forgotten, and begins anew when it comes back", () => {
  expect(transitions(fleetOf([LONE], [MASTER, BACKUP, vrrpSeen("waf", listOf([])), MASTER]))).toEqual([
    ["carp0", 0, undefined],
  ]);
});

test("an interface under another vhid or address is another interface", () => {
  const moved = vrrpSeen("waf", listOf([interfaceOf({ state: "BACKUP", vhid: 3 })]));
  const fleet = fleetOf([LONE], [MASTER]);
  expect(fleet.record(moved, 0).changes).toEqual([]);
  expect(transitions(fleet)).toEqual([["carp0", 0, undefined]]);
});

test("an address in another spelling is the same interface", () => {
  const long = vrrpSeen("waf", listOf([interfaceOf({ vip: "2001:db8:0::64" })]));
  const short = vrrpSeen("waf", listOf([interfaceOf({ vip: "2001:DB8::64", state: "BACKUP" })]));
  expect(transitions(fleetOf([LONE], [long, short]))).toEqual([["carp0", 1, WALL_MS]]);
});

test("interfaces with one vhid and address are kept apart by their names", () => {
  const both = vrrpSeen("waf", listOf([interfaceOf(), interfaceOf({ name: "carp1", state: "BACKUP" })]));
  const swapped = vrrpSeen(
    "waf",
    listOf([interfaceOf({ state: "BACKUP" }), interfaceOf({ name: "carp1", state: "BACKUP" })]),
  );
  expect(transitions(fleetOf([LONE], [both, swapped]))).toEqual([
    ["carp0", 1, WALL_MS],
    ["carp1", 0, undefined],
  ]);
});

function statuses(fleet: Fleet): readonly (readonly [string, number, number])[] {
  const websites = appliancesOf(fleet)[0]?.websites[0]?.statuses ?? [];
  return websites.map(({ protocol, status, changes }) => [protocol, status, changes]);
}

const OK = websiteSeen("waf", 1, [
  { protocol: "http", status: 200 },
  { protocol: "https", status: 200 },
]);
const HTTPS_BROKEN = websiteSeen("waf", 1, [
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
    [OK, websiteFailed("waf", 1, "appliance_down"), websiteFailed("waf", 1, "decode")],
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
      wasUp: true,
      isUp: false,
      text: "certificate has expired",
    },
  ]);
  expect(statuses(fleet)).toEqual([
    ["http", 200, 0],
    ["https", 0, 1],
  ]);
});

test("a protocol that is gone from an answer is forgotten, its counter too", () => {
  const httpOnly = websiteSeen("waf", 1, [{ protocol: "http", status: 200 }]);
  expect(statuses(fleetOf([LONE], [OK, HTTPS_BROKEN, httpOnly, OK]))).toEqual([
    ["http", 200, 0],
    ["https", 200, 0],
  ]);
});

test("counters of one appliance are untouched by another's answers", () => {
  const other = applianceOf({ name: "other" });
  const fleet = fleetOf(
    [LONE, other],
    [MASTER, vrrpSeen("other", listOf([interfaceOf({ state: "BACKUP" })])), MASTER],
  );
  expect(transitions(fleet)).toEqual([["carp0", 0, undefined]]);
});

test("an observation of an appliance or a website that is gone changes nothing", () => {
  const fleet = fleetOf([LONE], [MASTER]);
  const before = fleet.snapshot(0);
  expect(fleet.record(vrrpFailed("gone", "connect"), 0)).toEqual({ changes: [], cluster: undefined });
  expect(fleet.record(websiteSeen("waf", 99, []), 0).changes).toEqual([]);
  expect(fleet.snapshot(0)).toEqual(before);
  fleet.configure(configOf(), 0);
  expect(fleet.snapshot(0)).toEqual({ clusters: [] });
});
