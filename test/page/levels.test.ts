import { expect, test } from "vitest";
import { groupClusters, worst } from "../../src/page/view/levels.ts";
import { changed, documentOf, pair, PENDING, secondSilent, splitBrain } from "./documents.ts";

test("the worst of many levels counts, and none is well", () => {
  expect(worst(["warning", "critical", "unknown"])).toBe("critical");
  expect(worst(["unknown", "well"])).toBe("unknown");
  expect(worst([])).toBe("well");
});

test("clusters with problems come first, worst first, then those not known yet, then the others as configured", () => {
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
    judged.map(({ cluster, level }) => `${cluster.name} ${level}`),
  ]);
  expect(named).toEqual([
    ["troubled", ["split critical", "silent critical"]],
    ["unknown", ["new unknown"]],
    ["well", ["b well", "a well"]],
  ]);
});
