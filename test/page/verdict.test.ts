import { expect, test } from "vitest";
import { judgeClusters, titleOf, verdictBanner, verdictOf } from "../../src/page/view/verdict.ts";
import {
  changed,
  documentOf,
  pair,
  PENDING,
  secondSilent,
  shopDown,
  shopDownInPart,
  splitBrain,
} from "./documents.ts";
import { textOf } from "./reading.ts";

test("a fleet without problems is well, with its size", () => {
  const verdict = verdictOf(documentOf([pair("ams"), pair("rtm")]));
  expect(verdict).toEqual({
    level: "well",
    headline: "All is well",
    detail: "2 clusters.",
  });
  expect(titleOf(verdict)).toBe("All is well – appliance-exporter");
});

test("problems are counted, and each kind is named once, worst first", () => {
  const clusters = [secondSilent(pair("ams")), shopDown(pair("fra")), splitBrain(pair("rtm")), pair("waw")];
  const verdict = verdictOf(documentOf(clusters));
  expect(verdict).toEqual({
    level: "critical",
    headline: "4 problems",
    detail: "Split brain, website down, redundancy lost and appliance down, in 3 of 4 clusters.",
  });
  expect(textOf(verdictBanner(verdict))).toBe(
    "4 problems Split brain, website down, redundancy lost and appliance down, in 3 of 4 clusters.",
  );
});

test("the level is that of the worst problem, and a single cluster is not counted", () => {
  expect(verdictOf(documentOf([shopDownInPart(pair("ams"))]))).toEqual({
    level: "warning",
    headline: "1 problem",
    detail: "Website partially down.",
  });
});

test("a fleet that is not known yet is neither well nor wrong", () => {
  const pending = changed(pair("ams"), { first: { poll: PENDING } });
  expect(verdictOf(documentOf([pending]))).toMatchObject({
    level: "unknown",
    headline: "Not everything is known yet",
  });
  expect(verdictOf(documentOf([], { verdict: "unknown" }))).toMatchObject({
    level: "unknown",
    headline: "Nothing is polled",
  });
});

test("clusters with problems come first, worst first, then those not known yet, then the others as configured", () => {
  const judged = judgeClusters(
    documentOf([
      pair("b"),
      changed(pair("new"), { first: { poll: PENDING } }),
      secondSilent(pair("silent")),
      splitBrain(pair("split")),
      pair("a"),
    ]),
  );
  expect(judged.map(({ cluster, level }) => `${cluster.name} ${level}`)).toEqual([
    "split critical",
    "silent critical",
    "new unknown",
    "b well",
    "a well",
  ]);
});
