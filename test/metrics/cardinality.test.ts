import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { fleetOf } from "../fleet/support.ts";
import {
  applianceOf,
  blocksOf,
  interfaceOf,
  listOf,
  vrrpSeen,
  websiteOf,
  websiteSeen,
} from "../support/observations.ts";
import { expositionOf, sampleLines } from "./canned-fleet.ts";

const PAGE = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");

const GROUPS = [1, 2, 3, 4];
const WEBSITES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const certificate = { notAfterSeconds: 1, subject: "", issuer: "", sha256: "" };

function list(state: string) {
  return listOf(GROUPS.map((vhid) => interfaceOf({ name: `carp${vhid}`, vhid, state })));
}

/** A pair with 4 groups and 10 websites of both protocols, all healthy after a failover of every group. */
function pair() {
  const websites = WEBSITES.map((id) => websiteOf({ id }));
  const fleet = fleetOf(["a", "b"].map((name) => applianceOf({ name, cluster: "ab", websites })));
  for (const [name, before, after] of [
    ["a", "MASTER", "BACKUP"],
    ["b", "BACKUP", "MASTER"],
  ] as const) {
    fleet.record(vrrpSeen(name, list(before), { certificate }), 0);
    fleet.record(vrrpSeen(name, list(after), { certificate }), 0);
    for (const id of WEBSITES) fleet.record(websiteSeen(name, id, blocksOf(200, 200)), 0);
  }
  return fleet;
}

test("the worked example of the cardinality is what is exported", async () => {
  const series = sampleLines(await expositionOf(pair())).length;
  expect(PAGE).toContain(`One pair is ${series} series`);
  expect(PAGE).toContain(`| together | ${(300 * series).toLocaleString("en-US")} |`);
});
