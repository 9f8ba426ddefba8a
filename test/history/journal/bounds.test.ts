import { expect, test } from "vitest";
import { createBounds } from "../../../src/history/journal/bounds.ts";
import type { JournalRecord } from "../../../src/history/journal/record.ts";

const DAY_BYTES = 128 * 2 ** 20;
const AT = "2026-11-26T00:00:00.000Z";

function group(vhid: number, state: string, cluster = "ams"): JournalRecord {
  return { at: AT, kind: "group", cluster, vhid, vip: "192.0.2.100", state };
}

test("a subject that flaps has 256 KiB, and its last record has no state; others go on", () => {
  const bounds = createBounds(DAY_BYTES);
  const states = Array.from({ length: 270 }, (_, nth) => (nth % 2 === 0 ? "one_master" : "no_master"));
  const admitted = states.flatMap((state) => bounds.admit(group(1, state), 1024) ?? []);
  expect(admitted).toHaveLength(257);
  expect(admitted.slice(-2)).toEqual([group(1, "no_master"), { ...group(1, ""), state: undefined }]);
  expect(bounds.admit(group(2, "one_master"), 1024)).toEqual(group(2, "one_master"));
  expect(bounds.left()).toBe(13);
});

test("a cluster that writes too much is lost for the day, and no other one", () => {
  const bounds = createBounds(DAY_BYTES);
  const changes = Array.from({ length: 2100 }, (_, nth) => bounds.admit(group(nth, "one_master"), 1024));
  const admitted = changes.filter((each) => each !== undefined);
  expect(admitted).toHaveLength(2049);
  expect(admitted.at(-1)).toEqual({ at: AT, kind: "lost", cluster: "ams" });
  expect(bounds.left()).toBe(51);
  expect(bounds.admit(group(1, "one_master", "fra"), 1024)).toEqual(group(1, "one_master", "fra"));
});

test("a hundred clusters that write all they may leave each other one its share of the file", () => {
  const bounds = createBounds(DAY_BYTES);
  const names = Array.from({ length: 200 }, (_, nth) => `cluster-${nth}`);
  for (const name of names) bounds.admit(group(1, "one_master", name), 200);
  let bytes = names.length * 200;
  for (const hostile of names.slice(0, 100))
    for (let nth = 0; nth < 3000; nth += 1) {
      const record = bounds.admit(group(nth, "one_master", hostile), 1024);
      if (record?.kind === "group") bytes += 1024;
    }
  expect(bytes).toBeLessThan(DAY_BYTES);
  const others = names.slice(100).map((name) => {
    const admitted = Array.from({ length: 300 }, (_, nth) =>
      bounds.admit(group(nth, "one_master", name), 1024),
    );
    return admitted.filter((each) => each?.kind === "group").length;
  });
  // A share is 64 MiB for 200 clusters.
  expect(new Set(others)).toEqual(new Set([300]));
});

test("windows and reloads without end are left out, and nothing else", () => {
  const bounds = createBounds(DAY_BYTES);
  const reload: JournalRecord = { at: AT, kind: "reload", ok: true };
  const reloads = Array.from({ length: 300 }, () => bounds.admit(reload, 1024));
  expect(reloads.filter((each) => each !== undefined)).toHaveLength(256);
  expect(bounds.admit(group(1, "one_master"), 1024)).toEqual(group(1, "one_master"));
});

test("a run that begins later says what has no more, of a subject and of a cluster", () => {
  const bounds = createBounds(DAY_BYTES);
  for (let nth = 0; nth < 300; nth += 1) bounds.admit(group(1, "no_master"), 1024);
  for (let nth = 0; nth < 2100; nth += 1) bounds.admit(group(nth, "one_master", "fra"), 1024);
  expect(bounds.endOf(group(1, "one_master"))).toEqual({ ...group(1, ""), state: undefined });
  expect(bounds.endOf(group(2, "one_master"))).toBeUndefined();
  expect(bounds.endOf(group(3, "one_master", "fra"))).toEqual({ at: AT, kind: "lost", cluster: "fra" });
});

test("after many starts on a day the clusters share what is left of its file", () => {
  const bounds = createBounds(DAY_BYTES);
  bounds.began(DAY_BYTES - 40_000);
  const bytesOf = (cluster: string): number =>
    Array.from({ length: 100 }, (_, nth) => bounds.admit(group(nth, "one_master", cluster), 1000)).filter(
      (each) => each?.kind === "group",
    ).length * 1000;
  bounds.admit(group(1, "one_master", "fra"), 1000);
  expect([bytesOf("ams"), bytesOf("fra")]).toEqual([19_000, 9000]);
});
