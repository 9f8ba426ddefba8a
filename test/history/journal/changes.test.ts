import { expect, test } from "vitest";
import { recordsBetween } from "../../../src/history/journal/changes.ts";
import { judge } from "../../../src/exporter/judge/judge.ts";
import type { ClusterVerdict } from "../../../src/exporter/judge/verdict.ts";
import { fleetOf, MEMBER_A, MEMBER_B, pollsOf } from "../../exporter/fleet/support.ts";
import { windowOf } from "../../exporter/maintenance/support.ts";
import { configOf, WALL_MS } from "../../support/observations.ts";

function instantAt(monotonicMs: number) {
  return { wallMs: WALL_MS + monotonicMs, monotonicMs };
}

/** The states of groups in the records between two verdicts, and whether they are planned. */
function groupsBetween(before: ClusterVerdict | undefined, now: ClusterVerdict | undefined) {
  return recordsBetween(before, now, WALL_MS).flatMap((each) =>
    each.kind === "group" ? [[each.state, each.isPlanned]] : [],
  );
}

test("a group whose trouble is no longer planned is recorded again, although the verdict on it stays the same", () => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B]);
  const windows = [windowOf({ clusters: ["ams"] })];
  let before: ClusterVerdict | undefined;
  for (const { observation, atMs } of pollsOf("a MASTER 1, b BACKUP 1, b silent 3")) {
    const { cluster } = fleet.record(observation, atMs);
    before = cluster && judge(cluster, before, instantAt(atMs), { windows });
  }
  const now = before && judge(before.facts, before, instantAt(4000));
  expect(now?.groups).toBe(before?.groups);
  expect(groupsBetween(undefined, before)).toEqual([["backup_lost", true]]);
  expect(groupsBetween(before, now)).toEqual([["backup_lost", undefined]]);
});

test("a cluster is recorded with its labels when a reload changes nothing else", () => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B]);
  let before: ClusterVerdict | undefined;
  for (const { observation, atMs } of pollsOf("a MASTER 1, b BACKUP 1")) {
    const { cluster } = fleet.record(observation, atMs);
    before = cluster && judge(cluster, before, instantAt(atMs));
  }
  const labels = { customer: "acme" };
  const now = before && judge({ ...before.facts, labels }, before, instantAt(4000));
  expect(recordsBetween(before, now, WALL_MS)).toMatchObject([{ kind: "cluster", labels }]);
});

test("a member is recorded with its own labels when a reload changes nothing else", () => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B]);
  let before: ClusterVerdict | undefined;
  for (const { observation, atMs } of pollsOf("a MASTER 1, b BACKUP 1")) {
    const { cluster } = fleet.record(observation, atMs);
    before = cluster && judge(cluster, before, instantAt(atMs));
  }
  const labels = { rack: "7" };
  const label = (own: typeof labels | undefined, atMs: number): ClusterVerdict | undefined => {
    fleet.configure(configOf({ ...MEMBER_A, ...(own && { labels: own }) }, MEMBER_B), atMs);
    const facts = fleet.cluster("ams", atMs);
    return facts && judge(facts, before, instantAt(atMs));
  };
  const now = label(labels, 2000);
  const known = { kind: "appliance", appliance: "a", state: "up" };
  expect(recordsBetween(before, now, WALL_MS)).toMatchObject([{ ...known, labels }]);
  const later = label(undefined, 3000);
  expect(recordsBetween(now, later, WALL_MS)).toMatchObject([known]);
  expect(recordsBetween(now, later, WALL_MS)).not.toMatchObject([{ labels }]);
});
