import { expect, test } from "vitest";
import { clusterList } from "../../../src/exporter/page/view/clusters.ts";
import type { Reader } from "../../../src/exporter/page/view/parts.ts";
import { judgeClusters } from "../../../src/exporter/view/headline.ts";
import { documentOf, pair, splitBrain } from "./documents.ts";
import { NO_STRIPS, READER } from "./reading.ts";

const clustersOf = (troubled: number, well: number) => [
  ...Array.from({ length: well }, (_, index) => pair(`w${index}`)),
  ...Array.from({ length: troubled }, (_, index) => splitBrain(pair(`t${index}`))),
];

const render = async (troubled: number, well: number, reader: Partial<Reader> = {}): Promise<string> => {
  const clusters = judgeClusters(documentOf(clustersOf(troubled, well)));
  return (await clusterList(clusters, { ...READER, ...reader }, NO_STRIPS)).text;
};

const linesOf = (text: string): readonly string[] =>
  [...text.matchAll(/<details id="cluster-(\w+)"/g)].map(([, name = ""]) => name);
const openOf = (text: string): readonly string[] =>
  [...text.matchAll(/<details id="cluster-(\w+)" open/g)].map(([, name = ""]) => name);
const tablesIn = (text: string): number => text.split("<table").length - 1;

test("a few clusters are all open; of many, the first three with problems", async () => {
  expect(openOf(await render(1, 2))).toEqual(["t0", "w0", "w1"]);
  expect(openOf(await render(5, 5))).toEqual(["t0", "t1", "t2"]);
});

test("what the reader opened is open, and what the reader closed is closed", async () => {
  const [opened, closed] = [new Set(["cluster-w1"]), new Set(["cluster-t0"])];
  expect(openOf(await render(5, 5, { opened, closed }))).toEqual(["t1", "t2", "w1"]);
});

test("only the tables of open clusters are sent", async () => {
  expect(tablesIn(await render(5, 5))).toBe(3);
});

test("250 lines are shown, those with problems first, and the others counted", async () => {
  const text = await render(2, 300);
  expect(linesOf(text)).toEqual(["t0", "t1", ...Array.from({ length: 248 }, (_, index) => `w${index}`)]);
  expect(text).toContain("52 more clusters: use the filter to see them.");
  expect(await render(2, 248)).not.toContain("more clusters");
});

test("a cluster that the reader opened is shown beyond that limit", async () => {
  const text = await render(0, 300, { opened: new Set(["cluster-w299"]) });
  expect(linesOf(text)).toHaveLength(251);
  expect(openOf(text)).toEqual(["w299"]);
  expect(text).toContain("49 more clusters");
});

test("at most 20 clusters are open, those with problems first, and a note says so", async () => {
  const all = new Set(Array.from({ length: 300 }, (_, index) => `cluster-w${index}`));
  const text = await render(2, 300, { opened: all });
  expect(openOf(text)).toEqual(["t0", "t1", ...Array.from({ length: 18 }, (_, index) => `w${index}`)]);
  expect(tablesIn(text)).toBe(20);
  expect(linesOf(text)).toHaveLength(250);
  expect(text).toContain("Only 20 of 302 are open: close some to see others.");
  const closed = new Set(Array.from({ length: 290 }, (_, index) => `cluster-w${index}`));
  const rest = await render(2, 300, { opened: all, closed });
  expect(openOf(rest)).toHaveLength(12);
  expect(rest).not.toContain("close some");
});
