import { expect, test } from "vitest";
import { membersIn } from "../../../src/exporter/fleet/snapshot.ts";
import {
  applianceOf,
  configOf,
  EXPIRES_AT_MS,
  failed,
  interfaceOf,
  listOf,
  seen,
} from "../../support/observations.ts";
import { clustersOf, fleetOf, groupLines, MEMBER_A, MEMBER_B, MEMBER_C } from "./support.ts";

const A_IS_MASTER = seen.vrrp("a", listOf([interfaceOf()]));
const B_IS_BACKUP = seen.vrrp(
  "b",
  listOf([interfaceOf({ state: "BACKUP", configuredRole: "backup", priority: 100 })]),
);

test("a cluster of one appliance has no groups, under whatever name", () => {
  expect(groupLines(fleetOf([MEMBER_A], [A_IS_MASTER]))).toEqual([]);
});

test("a disabled appliance is no member, and the groups of the one it leaves alone stay", () => {
  const fleet = fleetOf([MEMBER_A, { ...MEMBER_B, enabled: false }], [A_IS_MASTER, B_IS_BACKUP]);
  expect(groupLines(fleet)).toEqual(["2 192.0.2.100: masters a, backups -, unknown -, preferred true"]);
});

test("a cluster names its disabled members, also where all of them are", () => {
  const labels = { site: "ams" };
  const [a, b] = [MEMBER_A, MEMBER_B].map((each) => ({ ...each, labels, enabled: false }));
  const disabled = ["a", "b"].map((appliance) => {
    return { kind: "disabled", identity: { appliance, cluster: "ams", labels } };
  });
  const [cluster] = clustersOf(fleetOf(a && b ? [a, b, { ...MEMBER_C, labels: {} }] : []));
  expect(cluster).toMatchObject({ labels: {}, disabled });
  const [dark] = clustersOf(fleetOf(a && b ? [a, b] : []));
  expect(dark).toEqual({ cluster: "ams", labels, appliances: [], disabled, groups: [], websites: [] });
});

test("a disabled appliance is not an unknown member of the others' groups", () => {
  const third = applianceOf({ name: "c", cluster: "ams", enabled: false });
  const fleet = fleetOf([MEMBER_A, MEMBER_B, third], [A_IS_MASTER, B_IS_BACKUP]);
  expect(groupLines(fleet)).toEqual(["2 192.0.2.100: masters a, backups b, unknown -, preferred true"]);
});

test("the same group in two clusters is two groups", () => {
  const elsewhere = [applianceOf({ name: "x", cluster: "fra" }), applianceOf({ name: "y", cluster: "fra" })];
  const seenByX = seen.vrrp("x", listOf([interfaceOf()]));
  const members = [MEMBER_A, MEMBER_B, ...elsewhere];
  const clusters = clustersOf(fleetOf(members, [A_IS_MASTER, B_IS_BACKUP, seenByX]));
  expect(
    clusters.map(({ cluster, groups }) => [cluster, groups.map((group) => membersIn(group, "master"))]),
  ).toEqual([
    ["ams", [["a"]]],
    ["fra", [["x"]]],
  ]);
});

test("groups carry the configured labels that all members share, with the same value", () => {
  const a = { ...MEMBER_A, labels: { site: "ams", rack: "r1", env: "prod" } };
  const b = { ...MEMBER_B, labels: { site: "ams", rack: "r2" } };
  expect(clustersOf(fleetOf([a, b], [A_IS_MASTER]), 0)[0]?.labels).toEqual({ site: "ams" });
});

test("a member whose polling is stuck is unknown from the instant on at which it counts as stalled", () => {
  const fleet = fleetOf(
    [MEMBER_A, MEMBER_B],
    [A_IS_MASTER, { ...B_IS_BACKUP, expiresAtMs: EXPIRES_AT_MS * 2 }],
  );
  const known = "2 192.0.2.100: masters a, backups b, unknown -, preferred true";
  const stalled = "2 192.0.2.100: masters -, backups b, unknown a, preferred -";
  expect(groupLines(fleet, EXPIRES_AT_MS - 1)).toEqual([known]);
  expect(groupLines(fleet, EXPIRES_AT_MS)).toEqual([stalled]);
});

test("a group is gone once the last appliance seen in it is no longer configured", () => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B], [A_IS_MASTER, seen.vrrp("b", listOf([]))]);
  const c = applianceOf({ name: "c", cluster: "ams" });
  fleet.configure(configOf(MEMBER_A, MEMBER_B, c), 0);
  expect(groupLines(fleet)).toEqual(["2 192.0.2.100: masters a, backups -, unknown c, preferred true"]);
  fleet.configure(configOf(MEMBER_B, c), 0);
  expect(groupLines(fleet)).toEqual([]);
});

test("a group that a removed appliance shared stays with those who remain", () => {
  const c = applianceOf({ name: "c", cluster: "ams" });
  const fleet = fleetOf([MEMBER_A, MEMBER_B, c], [A_IS_MASTER, B_IS_BACKUP, failed.vrrp("b", "connect")]);
  fleet.configure(configOf(MEMBER_B, c), 0);
  expect(groupLines(fleet)).toEqual(["2 192.0.2.100: masters -, backups -, unknown b+c, preferred -"]);
});

test("an appliance that moves to another cluster takes what is known of it along", () => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B], [A_IS_MASTER, B_IS_BACKUP]);
  const moved = [
    { ...MEMBER_A, cluster: "fra" },
    { ...MEMBER_B, cluster: "fra" },
  ];
  fleet.configure(configOf(...moved), 0);
  expect(clustersOf(fleet).map(({ cluster }) => cluster)).toEqual(["fra"]);
  expect(groupLines(fleet)).toEqual(["2 192.0.2.100: masters a, backups b, unknown -, preferred true"]);
});
