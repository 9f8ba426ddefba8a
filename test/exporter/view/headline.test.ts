import { expect, test } from "vitest";
import { headlineOf, judgeClusters } from "../../../src/exporter/view/headline.ts";
import {
  changed,
  documentOf,
  pair,
  PENDING,
  secondSilent,
  shopDown,
  shopDownInPart,
  splitBrain,
} from "../page/documents.ts";

test("a fleet without problems is well, with its size", () => {
  const headline = headlineOf(documentOf([pair("ams"), pair("rtm")]));
  expect(headline).toEqual({
    level: "well",
    text: "All is well",
    detail: "2 clusters.",
  });
});

test("problems are counted, and each kind is named once, worst first", () => {
  const clusters = [secondSilent(pair("ams")), shopDown(pair("fra")), splitBrain(pair("rtm")), pair("waw")];
  const headline = headlineOf(documentOf(clusters));
  expect(headline).toEqual({
    level: "critical",
    text: "4 problems",
    detail: "Split brain, website down, redundancy lost and appliance down, in 3 of 4 clusters.",
  });
});

test("the level is that of the worst problem, and a single cluster is not counted", () => {
  expect(headlineOf(documentOf([shopDownInPart(pair("ams"))]))).toEqual({
    level: "warning",
    text: "1 problem",
    detail: "Failover not ready.",
  });
});

test("a fleet that is not known yet is neither well nor wrong", () => {
  const pending = changed(pair("ams"), { first: { poll: PENDING } });
  expect(headlineOf(documentOf([pending]))).toMatchObject({
    level: "unknown",
    text: "Not everything is known",
    detail: "Not polled yet.",
  });
  expect(headlineOf(documentOf([], { verdict: "unknown" }))).toMatchObject({
    level: "unknown",
    text: "Nothing is polled",
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
  expect(judged.map(({ cluster }) => `${cluster.name} ${cluster.level}`)).toEqual([
    "split critical",
    "silent critical",
    "new unknown",
    "b well",
    "a well",
  ]);
});

test("a cluster that is not known yet comes behind those with problems, whatever is planned there", () => {
  const pending = changed(pair("new"), { first: { poll: PENDING } });
  const document = documentOf([pending, secondSilent(pair("silent"))]);
  const planned = { kind: "split_brain", severity: "critical", summary: "", cluster: "new" } as const;
  const problems = [...document.problems, { ...planned, isPlanned: true }];
  const judged = judgeClusters({ ...document, problems });
  expect(judged.map(({ cluster }) => cluster.name)).toEqual(["silent", "new"]);
});
