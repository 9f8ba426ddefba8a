import { expect, test } from "vitest";
import type { FleetEvent } from "../../../src/status/schema.ts";
import { describeChanges } from "../../../src/web/status-page/view/changes.ts";
import { ago, documentOf, EVENTS, pair, secondSilent, shopDown, splitBrain } from "./documents.ts";

const WELL = documentOf([pair("ams")]);
const SHOP_DOWN = "Website shop is down: https 503 from ams-1, https no HTTP response from ams-2";

test("where nothing that matters changed, nothing is said", () => {
  const older = documentOf([shopDown(pair("ams"))]);
  const problems = older.problems.map((problem) => ({
    ...problem,
    summary: "in other words",
    since: ago(9),
  }));
  expect(describeChanges(older, { ...older, problems })).toEqual([]);
});

test("the verdict comes first, then what came and what went", () => {
  const wrong = documentOf([shopDown(pair("ams"))]);
  expect(describeChanges(WELL, wrong)).toEqual(["1 problem", SHOP_DOWN]);
  expect(describeChanges(wrong, WELL)).toEqual(["All is well", `No longer: ${SHOP_DOWN}`]);
});

test("a failover is told as the event that it is, an outage as the problem alone", () => {
  const failover: FleetEvent = { at: ago(0), kind: "failover", summary: "ams-2 took over", cluster: "ams" };
  const outage: FleetEvent = { at: ago(0), kind: "outage", summary: "The shop went down", cluster: "ams" };
  const before = { ...WELL, events: [...EVENTS] };
  expect(describeChanges(before, { ...before, events: [failover, outage, ...EVENTS] })).toEqual([
    "ams-2 took over",
  ]);
});

test("of many changes a few are told, and the others counted", () => {
  const clusters = ["a", "b", "c"].map((name) => pair(name));
  const after = documentOf(clusters.map((each) => splitBrain(secondSilent(each))));
  const said = describeChanges(documentOf(clusters), after);
  expect(said).toHaveLength(6);
  expect(said[0]).toBe(`${after.problems.length} problems`);
  expect(said.at(-1)).toBe(`${after.problems.length - 4} more changes`);
});
