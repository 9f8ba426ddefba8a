import { expect, test } from "vitest";
import { formatRecord, parseRecord, subjectIn, subjectKey } from "../../../src/history/journal/record.ts";

const GROUP = {
  at: "2026-11-26T22:14:04.000Z",
  kind: "group",
  cluster: "ams",
  vhid: 1,
  vip: "fe80::1",
} as const;

test("the groups of two links are two subjects of the journal, and a line without a link is one more", () => {
  const records = [GROUP, { ...GROUP, interface: "vlan10" }, { ...GROUP, interface: "vlan20" }].map(
    (each) => {
      return { ...each, state: "one_master" };
    },
  );
  const lines = records.map(formatRecord).map((line) => line.trimEnd());
  expect(lines.map(subjectIn)).toEqual([
    '"kind":"group","cluster":"ams","vhid":1,"vip":"fe80::1"',
    '"kind":"group","cluster":"ams","vhid":1,"vip":"fe80::1","interface":"vlan10"',
    '"kind":"group","cluster":"ams","vhid":1,"vip":"fe80::1","interface":"vlan20"',
  ]);
  expect(records.map(subjectKey)).toEqual([
    '["group","ams",1,"fe80::1"]',
    '["group","ams",1,"fe80::1","vlan10"]',
    '["group","ams",1,"fe80::1","vlan20"]',
  ]);
  expect(lines.map(parseRecord)).toEqual(records);
});
