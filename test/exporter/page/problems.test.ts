import { expect, test } from "vitest";
import type { ProblemDocument } from "../../../src/exporter/document/schema.ts";
import { adviceList, problemId, problemList } from "../../../src/exporter/page/view/problems.ts";
import { ago, documentOf, incident, pair, secondSilent, shopDown, splitBrain } from "./documents.ts";
import { NO_FILTER, textOf, READER } from "./reading.ts";

const CLUSTERS = [secondSilent(pair("ams")), shopDown(pair("fra"))];

const itemsOf = (text: string): readonly string[] =>
  [...text.matchAll(/<li.*?<\/li>/gs)].map(([item]) => textOf({ text: item }));

const listOf = (problems: readonly ProblemDocument[], opened: readonly string[] = []) => {
  const view = { ...READER, opened: new Set(opened), filter: NO_FILTER };
  return problemList([], problems, { ...view, clusters: CLUSTERS });
};

/** The problems that are shown before anything is opened. */
const atOnce = (problems: readonly ProblemDocument[]): readonly string[] =>
  itemsOf(listOf(problems).text.split("<details")[0] ?? "");

const manyGroups = (cluster: string): readonly ProblemDocument[] =>
  Array.from({ length: 20 }, (_, vhid) => ({
    kind: "split_brain",
    severity: "critical",
    summary: `Split brain of ${vhid}`,
    cluster,
    group: { vhid, vip: "192.0.2.1" },
  }));

test("problems are a line each: cluster, sentence, master and age; those of a cluster together, causes first", () => {
  const { problems } = documentOf(CLUSTERS);
  expect(itemsOf(listOf(problems).text)).toEqual([
    "fra Critical Website down Website shop is down: https 503 fra-1 3 min, since 11:56",
    "ams Warning Appliance down ams-2 is down: it does not answer in time (timeout) ams-1 3 min, since 11:56",
    "ams May follow from that: → Critical Redundancy lost backup_lost of 192.0.2.100 3 min, since 11:56",
  ]);
});

test("a problem leads to its cluster, and keeps the filter", () => {
  const [first] = documentOf(CLUSTERS).problems;
  if (first === undefined) throw new Error("there are three");
  const filter = { ...NO_FILTER, text: "a b" };
  const { text } = problemList([], [first], { ...READER, filter, clusters: CLUSTERS });
  expect(text).toContain(`href="?text=a+b&#38;problem=${problemId(first)}#cluster-fra"`);
});

test("a problem of the exporter itself says what to do, and leads to the runbook if there is an alert about it", () => {
  const own = { kind: "reload_failed", severity: "warning", summary: "It failed", advice: "Look" } as const;
  expect(itemsOf(listOf([own]).text)).toEqual([
    "exporter Warning Reload failed It failed Look Runbook: ApplianceExporterReloadFailed",
  ]);
  expect(listOf([own]).text).toContain('<a href="runbook#applianceexporterreloadfailed">');
  expect(listOf([{ ...own, kind: "not_scheduled" }]).text).not.toContain("runbook");
});

test("an open cluster says what to do about each of its problems, with the runbook and the incident that goes on", () => {
  const [first] = manyGroups("ams");
  if (first === undefined) throw new Error("there are twenty");
  const problem = { ...first, advice: "Fix the link", keys: ["group a"] };
  const incidents = [
    incident("over", "split_brain", 600, { end: ago(500), keys: ["group a"] }),
    incident("other", "split_brain", 60, { keys: ["group b"] }),
    incident("now", "split_brain", 42, { keys: ["group a", "group c"] }),
  ];
  const { text } = adviceList([problem], incidents, NO_FILTER);
  expect(textOf({ text })).toBe("Split brain Fix the link Runbook: VrrpSplitBrain Incident");
  expect(text).toContain('<a href="?incident=now#incident-now">');
  expect(adviceList([{ ...problem, kind: "not_scheduled" }], incidents, NO_FILTER).text).not.toContain("<a");
});

test("windows of planned work come first, each with its end", () => {
  const window = {
    id: "w",
    begin: ago(600),
    end: ago(-600),
    comment: "firmware 4.6",
    by: "alice",
    isDrill: false,
    subjects: ["ams-2"],
    masters: [],
  };
  const { text } = problemList([window], [], { ...READER, filter: NO_FILTER, clusters: [] });
  expect(itemsOf(text)).toEqual(["Planned firmware 4.6 (alice, ams-2) until 12:10"]);
});

test("without problems nothing is shown", () => {
  expect(listOf([]).text).toBe("");
});

test("ten problems are shown, and the reader can open the others", () => {
  const { problems } = documentOf(Array.from({ length: 12 }, (_, index) => shopDown(pair(`c${index}`))));
  expect(atOnce(problems)).toHaveLength(10);
  expect(listOf(problems).text).toContain("<summary>2 more problems</summary>");
  expect(itemsOf(listOf(problems, ["more-problems"]).text)).toHaveLength(12);
});

test("of many problems the reader can open 500 more, and a note counts the others", () => {
  const problems = Array.from({ length: 512 }, (_, nth) => manyGroups(`c${nth}`).slice(0, 1)).flat();
  const all = listOf(problems, ["more-problems"]).text;
  expect(itemsOf(all)).toHaveLength(510);
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
  expect(listOf([...manyGroups("ams"), ...others]).text).toContain("18 more problems");
});
