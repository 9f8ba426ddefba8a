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

const [GROUP, ...OTHERS] = pair("w").groups;

test.each([
  ["one master", pair("w"), "Master: w-1"],
  ["two masters of a group", splitBrain(pair("w")), "2 masters: w-1, w-2"],
  [
    "two masters of a group, one of them of others, too",
    pair("w", { groups: [...splitBrain(pair("w")).groups.slice(0, 1), ...OTHERS] }),
    "2 masters: w-1, w-2",
  ],
  [
    "a group whose master may be another one, and others",
    pair("w", {
      groups: [
        ...splitBrain(pair("w"))
          .groups.slice(0, 1)
          .map((each) => ({ ...each, state: "unknown" as const, masters: undefined })),
        ...OTHERS,
      ],
    }),
    "Master: w-1; none known of 1 VRRP group",
  ],
  [
    "a master of each group",
    pair("w", {
      groups: [...(GROUP === undefined ? [] : [{ ...GROUP, master: "w-2" }]), ...OTHERS],
    }),
    "2 masters: w-2, w-1",
  ],
  [
    "no known master",
    pair("w", { groups: pair("w").groups.map((each) => ({ ...each, master: undefined, state: "unknown" })) }),
    "Master: none known",
  ],
])("the line of a cluster names each of its masters: %s", async (_, cluster, named) => {
  const { text } = await clusterList(judgeClusters(documentOf([cluster])), READER, NO_STRIPS);
  expect(text).toContain(`<span>${named}</span>`);
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
