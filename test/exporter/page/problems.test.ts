import { expect, test } from "vitest";
import type { ProblemDocument } from "../../../src/exporter/document/schema.ts";
import { problemId, problemList } from "../../../src/exporter/page/view/problems.ts";
import { ago, documentOf, pair, secondSilent, shopDown, splitBrain } from "./documents.ts";
import { textOf, READER } from "./reading.ts";

const itemsOf = (text: string): readonly string[] =>
  [...text.matchAll(/<li.*?<\/li>/gs)].map(([item]) => textOf({ text: item }));

/** The problems that are shown before anything is opened. */
const atOnce = (problems: readonly ProblemDocument[]): readonly string[] =>
  itemsOf(problemList(problems, READER).text.split("<details")[0] ?? "");

const manyGroups = (cluster: string): readonly ProblemDocument[] =>
  Array.from({ length: 20 }, (_, vhid) => ({
    kind: "split_brain",
    severity: "critical",
    summary: `Split brain of ${vhid}`,
    cluster,
    group: { vhid, vip: "192.0.2.1" },
  }));

test("problems are listed in words, worst first, with cluster and start", () => {
  const { problems } = documentOf([secondSilent(pair("ams")), shopDown(pair("fra"))]);
  expect(itemsOf(problemList(problems, READER).text)).toEqual([
    "Critical Website shop is down: https 503 " +
      "Cluster fra for 3 min, since 2026-11-21 11:56:50 UTC Runbook: WebsiteDown",
    "Critical backup_lost of 192.0.2.100 " +
      "Cluster ams for 3 min, since 2026-11-21 11:56:50 UTC Runbook: VrrpRedundancyLost",
    "Warning ams-2 is down: it does not answer in time (timeout) " +
      "Cluster ams for 3 min, since 2026-11-21 11:56:50 UTC Runbook: ApplianceDown",
  ]);
});

test("a problem links to the runbook if there is an alert about it", () => {
  const [first] = manyGroups("ams");
  if (first === undefined) throw new Error("there are twenty");
  expect(problemList([first], READER).text).toContain('<a href="runbook#vrrpsplitbrain">');
  expect(problemList([{ ...first, kind: "not_scheduled" }], READER).text).not.toContain("runbook");
});

test("without problems nothing is shown", () => {
  expect(problemList([], READER).text).toBe("");
});

test("eight problems are shown, and the reader can open the others", () => {
  const { problems } = documentOf(Array.from({ length: 10 }, (_, index) => shopDown(pair(`c${index}`))));
  expect(atOnce(problems)).toHaveLength(8);
  expect(problemList(problems, READER).text).toContain("<summary>2 more problems</summary>");
  const all = problemList(problems, { ...READER, opened: new Set(["more-problems"]) }).text;
  expect(itemsOf(all)).toHaveLength(10);
  expect(all).toContain('start="9"');
});

test("of many problems the reader can open 500 more, and a note counts the others", () => {
  const problems = Array.from({ length: 510 }, (_, nth) => manyGroups(`c${nth}`).slice(0, 1)).flat();
  const all = problemList(problems, { ...READER, opened: new Set(["more-problems"]) }).text;
  expect(itemsOf(all)).toHaveLength(508);
  expect(all).toContain("2 more problems: use the filter to see them.");
});

test("a problem keeps its id while its words and age change, and no other has it", () => {
  const [first, second] = manyGroups("ams");
  if (first === undefined || second === undefined) throw new Error("there are twenty");
  expect(problemId({ ...first, summary: "other words", since: ago(1) })).toBe(problemId(first));
  expect(problemId(second)).not.toBe(problemId(first));
});

test("many groups of one cluster do not hide other problems", () => {
  const others = documentOf([splitBrain(pair("rtm")), shopDown(pair("fra"))]).problems;
  const seen = atOnce([...manyGroups("ams"), ...others]);
  expect(seen).toHaveLength(4);
  expect(seen.at(-1)).toContain("Website shop is down");
  expect(problemList([...manyGroups("ams"), ...others], READER).text).toContain("18 more problems");
});
