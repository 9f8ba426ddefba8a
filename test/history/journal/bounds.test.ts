import { expect, test } from "vitest";
import { createBounds } from "../../../src/history/journal/bounds.ts";
import type { JournalRecord } from "../../../src/history/journal/record.ts";

function group(vhid: number, state: string, cluster = "ams"): JournalRecord {
  return { at: "2026-11-26T00:00:00.000Z", kind: "group", cluster, vhid, vip: "192.0.2.100", state };
}

test("a subject that flaps has a thousand records, the last of which has no state", () => {
  const bounds = createBounds();
  const states = Array.from({ length: 1010 }, (_, nth) => (nth % 2 === 0 ? "one_master" : "no_master"));
  const admitted = states.flatMap((state) => bounds.admit(group(1, state)) ?? []);
  expect(admitted).toHaveLength(1000);
  expect(admitted.slice(-2)).toEqual([group(1, "one_master"), { ...group(1, ""), state: undefined }]);
  expect(bounds.admit(group(2, "one_master"))).toEqual(group(2, "one_master"));
  expect(bounds.left()).toBe(10);
});

test("an appliance that invents subjects takes no place from other clusters", () => {
  const bounds = createBounds();
  const invented = Array.from({ length: 10_010 }, (_, nth) => bounds.admit(group(nth, "one_master")));
  expect(invented.filter((each) => each !== undefined)).toHaveLength(10_000);
  expect(bounds.admit(group(0, "no_master"))).toEqual(group(0, "no_master"));
  expect(bounds.admit(group(1, "one_master", "fra"))).toEqual(group(1, "one_master", "fra"));
});

test("a cluster that changes too often is lost for the day", () => {
  const bounds = createBounds();
  const changes = Array.from({ length: 60_000 }, (_, nth) => bounds.admit(group(nth % 1000, `${nth}`)));
  const admitted = changes.filter((each) => each !== undefined);
  expect(admitted).toHaveLength(50_001);
  expect(admitted.at(-1)).toEqual({ at: "2026-11-26T00:00:00.000Z", kind: "lost", cluster: "ams" });
  expect(bounds.left()).toBe(9_999);
});
