import { expect, test } from "vitest";
import { opensAtFirst } from "../../../src/web/status-page/view/clusters.ts";
import { groupClusters, worst } from "../../../src/web/status-page/view/standing.ts";
import { changed, documentOf, pair, PENDING, secondSilent, splitBrain } from "./documents.ts";

test("the worst of many standings is the standing of all, and of none it is well", () => {
  expect(worst(["warning", "critical", "unknown"])).toBe("critical");
  expect(worst(["unknown", "well"])).toBe("unknown");
  expect(worst([])).toBe("well");
});

test("clusters in trouble come first, worst first, then those not known yet, then the others as configured", () => {
  const groups = groupClusters(
    documentOf([
      pair("b"),
      changed(pair("new"), { first: { poll: PENDING } }),
      secondSilent(pair("silent")),
      splitBrain(pair("split")),
      pair("a"),
    ]),
  );
  const named = Object.entries(groups).map(([group, judged]) => [
    group,
    judged.map(({ cluster, standing }) => `${cluster.name} ${standing}`),
  ]);
  expect(named).toEqual([
    ["troubled", ["split critical", "silent warning"]],
    ["unknown", ["new unknown"]],
    ["well", ["b well", "a well"]],
  ]);
});

const groupsOf = (troubled: number, well: number) =>
  groupClusters(
    documentOf([
      ...Array.from({ length: troubled }, (_, index) => splitBrain(pair(`t${index}`))),
      ...Array.from({ length: well }, (_, index) => pair(`w${index}`)),
    ]),
  );

test("few clusters are all open at first; of many, the first of those in trouble", () => {
  expect(opensAtFirst(groupsOf(1, 2), "well", 1)).toBe(true);
  const many = groupsOf(5, 5);
  expect([0, 2, 3].map((index) => opensAtFirst(many, "troubled", index))).toEqual([true, true, false]);
  expect(opensAtFirst(many, "well", 0)).toBe(false);
});
