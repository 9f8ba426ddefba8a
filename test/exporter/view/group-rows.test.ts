import { expect, test } from "vitest";
import type { ClusterDocument, GroupDocument } from "../../../src/exporter/document/schema.ts";
import { clusterRows, groupRows } from "../../../src/exporter/view/rows.ts";
import { ago, appliance, changed, member, pair, splitBrain } from "../page/documents.ts";
import { cellsOf } from "../page/reading.ts";

const firstRow = (cluster: ClusterDocument): readonly string[] => groupRows(cluster).map(cellsOf)[0] ?? [];

const AMS = pair("ams");

test("a group shows its address, and MASTER or BACKUP with priority and interface for each member", () => {
  expect(groupRows(AMS).map(cellsOf)).toEqual([
    [
      "192.0.2.100 vhid 1 One master",
      "well: MASTER priority 204 carp0 on eth0",
      "backup: BACKUP priority 154 carp0 on eth0",
    ],
    [
      "2001:db8::100 vhid 2 One master",
      "well: MASTER priority 204 carp1 on eth1",
      "backup: BACKUP priority 154 carp1 on eth1",
    ],
  ]);
});

test("a split brain shows in its row and in each cell", () => {
  expect(firstRow(splitBrain(AMS))).toEqual([
    "192.0.2.100 vhid 1 Split brain for 42 s",
    "critical: MASTER priority 204 carp0 on eth0",
    "critical: MASTER priority 154 carp0 on eth0",
  ]);
});

test.each([
  [{ state: "no_master", level: "critical", since: ago(70) }, "critical No master for 1 min"],
  [{ level: "warning", problem: "preferred_master_lost" }, "warning One master, not the preferred one"],
  [{ state: undefined, level: "unknown" }, "unknown Not known"],
] satisfies [Partial<GroupDocument>, string][])(
  "a group with %o has the level and words %s",
  (group, words) => {
    const cluster = changed(AMS, { group });
    expect(`${groupRows(cluster)[0]?.level} ${firstRow(cluster)[0]}`).toBe(
      words.replace(" ", " 192.0.2.100 vhid 1 "),
    );
  },
);

test("a disabled appliance has no values, only that word", () => {
  const labels = { site: "amsterdam" };
  const disabled = { name: "ams-2", labels, state: "disabled", level: "unknown", websites: [] } as const;
  const appliances = [appliance("ams-1", "MASTER"), { ...disabled, websites: [] }];
  const rows = clusterRows({ ...AMS, appliances });
  const cells = rows.flatMap((group) => group.rows.map((row) => cellsOf(row).at(-1)));
  expect(new Set(cells)).toEqual(new Set(["disabled"]));
});

test("a state that is neither MASTER nor BACKUP is shown as reported", () => {
  const [group] = AMS.groups;
  const odd = AMS.appliances[1]?.interfaces?.map((one) => ({ ...one, state: "FAULT" })) ?? [];
  const cluster = changed(AMS, {
    group: { members: [...(group?.members.slice(0, 1) ?? []), member("ams-2", "other", 154, "warning")] },
    second: { interfaces: odd },
  });
  expect(firstRow(cluster).at(-1)).toBe("warning: FAULT priority 154 carp0 on eth0");
});

test("an appliance that is not in the group has an empty cell that says why", () => {
  const cluster = changed(AMS, { group: { members: [member("ams-1", "master", 204)] } });
  expect(firstRow(cluster).at(-1)).toBe("not in this group");
});

test("an appliance without a cluster shows its interfaces, and when each changed", () => {
  const [alone] = AMS.appliances;
  const interfaces = alone?.interfaces?.map((one) => ({ ...one, lastTransitionAt: ago(70) })) ?? [];
  const cluster = {
    ...AMS,
    groups: [],
    appliances: AMS.appliances.slice(0, 1).map((one) => ({ ...one, interfaces })),
  };
  expect(firstRow(cluster)).toEqual([
    "192.0.2.100 vhid 1",
    "well: MASTER priority 204 carp0 on eth0 changed 1 min ago",
  ]);
});

test.each([
  ["MASTER", "well"],
  ["BACKUP", "backup"],
  ["FAULT", "critical"],
] as const)("an interface of an appliance without a cluster that is %s has the sign %s", (state, sign) => {
  const [alone] = AMS.appliances;
  const level = sign === "backup" ? "well" : sign;
  const interfaces = alone?.interfaces?.slice(0, 1).map((one) => ({ ...one, state, level })) ?? [];
  const appliances = alone === undefined ? [] : [{ ...alone, interfaces }];
  const cluster = { ...AMS, groups: [], websites: [], appliances };
  expect(groupRows(cluster)).toMatchObject([{ level, cells: [{ sign, state }] }]);
});

test("256 groups have rows of their own, and one row counts the others", () => {
  const [group] = AMS.groups;
  if (group === undefined) throw new Error("the pair has groups");
  const groups = Array.from({ length: 260 }, (_, nth) => ({ ...group, vip: `vip-${nth}` }));
  const rows = groupRows({
    ...AMS,
    groups,
    appliances: AMS.appliances.map((one) => ({ ...one, interfaces: [] })),
  });
  expect(rows).toHaveLength(257);
  expect(rows.map(cellsOf).at(-1)?.[0]).toBe("4 more VRRP groups The JSON of the status page has them all.");
});
