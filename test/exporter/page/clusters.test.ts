import { expect, test } from "vitest";
import { clusterList } from "../../../src/exporter/page/view/clusters.ts";
import type { Reader } from "../../../src/exporter/page/view/parts.ts";
import { problemId } from "../../../src/exporter/page/view/problems.ts";
import { judgeClusters } from "../../../src/exporter/view/headline.ts";
import { documentOf, pair, polled, splitBrain, up } from "./documents.ts";
import { NO_FILTER, NO_STRIPS, READER, textOf } from "./reading.ts";

const VIEW = { ...READER, filter: NO_FILTER, strips: NO_STRIPS, incidents: new Map() };

const clustersOf = (troubled: number, well: number) => [
  ...Array.from({ length: well }, (_, index) => pair(`w${index}`)),
  ...Array.from({ length: troubled }, (_, index) => splitBrain(pair(`t${index}`))),
];

const render = async (troubled: number, well: number, reader: Partial<Reader> = {}): Promise<string> => {
  const clusters = judgeClusters(documentOf(clustersOf(troubled, well)));
  return (await clusterList(clusters, { ...VIEW, ...reader })).text;
};

const linesOf = (text: string): readonly string[] =>
  [...text.matchAll(/<details id="cluster-(\w+)"/g)].map(([, name = ""]) => name);
const openOf = (text: string): readonly string[] =>
  [...text.matchAll(/<details id="cluster-(\w+)" open/g)].map(([, name = ""]) => name);
const tablesIn = (text: string): number => text.split("<table").length - 1;

test("a few clusters are all open; of many, none", async () => {
  expect(openOf(await render(1, 2))).toEqual(["t0", "w0", "w1"]);
  expect(openOf(await render(5, 5))).toEqual([]);
});

test("what the reader opened is open, and what the reader closed is closed", async () => {
  const [opened, closed] = [new Set(["cluster-w1"]), new Set(["cluster-t0"])];
  expect(openOf(await render(5, 5, { opened, closed }))).toEqual(["w1"]);
  expect(openOf(await render(1, 2, { closed }))).toEqual(["w0", "w1"]);
});

test("the cluster of the problem in the address is open, with its rows marked", async () => {
  const fleet = documentOf(clustersOf(5, 5));
  const keyed = fleet.problems.map((each) => ({ ...each, keys: ["group a"] }));
  const clusters = fleet.clusters.map((each) => ({
    ...each,
    groups: each.groups.map((group, nth) => ({ ...group, key: nth === 0 ? "group a" : "group b" })),
  }));
  const judged = judgeClusters({ ...fleet, clusters, problems: keyed });
  const [, second] = keyed;
  if (second === undefined) throw new Error("there are five");
  const filter = { ...NO_FILTER, problem: problemId(second) };
  const { text } = await clusterList(judged, { ...VIEW, filter });
  expect(openOf(text)).toEqual(["t1"]);
  const marked = [...text.matchAll(/<tr [^>]*aria-current="true".*?<\/th>/gs)];
  expect(marked.map(([row]) => textOf({ text: row }))).toEqual(["192.0.2.100 vhid 1 Split brain for 42 s"]);
});

test("of an open cluster what is wrong comes first, and the rest is folded", async () => {
  const opened = new Set(["cluster-w"]);
  const sites = Array.from({ length: 12 }, (_, nth) => ({ id: nth, name: `s${nth}` }));
  const given = pair("w");
  const cluster = {
    ...given,
    websites: sites.map((site) => ({
      ...site,
      states: [
        site.id === 9
          ? { protocol: "https" as const, state: "down" as const, level: "critical" as const }
          : { protocol: "https" as const, state: "up" as const, level: "well" as const },
      ],
    })),
    appliances: given.appliances.map((each) => ({
      ...each,
      websites: sites.map((site) => ({ ...site, poll: polled(), statuses: [up("https", 200)] })),
    })),
  };
  const { text } = await clusterList(judgeClusters(documentOf([cluster])), { ...VIEW, opened });
  const rows = [...text.matchAll(/<span class="title">(s\d+) /g)].map(([, name]) => name);
  expect(rows).toEqual(["s9", "s0", "s1", "s2", "s3", "s4"]);
  expect(textOf({ text: /<summary>(?!<i)(.*?)<\/summary>/s.exec(text)?.[1] ?? "" })).toBe(
    "6 more websites, all 200 · readiness · polling of the VRRP list",
  );
  const all = await clusterList(judgeClusters(documentOf([cluster])), {
    ...VIEW,
    opened: new Set([...opened, "rest-cluster-w"]),
  });
  expect(tablesIn(all.text)).toBe(2);
});

const [GROUP, ...OTHERS] = pair("w").groups;

test.each([
  ["one master", pair("w"), "w-1"],
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
    "w-1; none known of 1 VRRP group",
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
    "master not known",
  ],
])("the line of a cluster names each of its masters: %s", async (_, cluster, named) => {
  const { text } = await clusterList(judgeClusters(documentOf([cluster])), VIEW);
  const [, who = ""] = /<span class="who">(.*?) <span class="hidden-visually">,/s.exec(text) ?? [];
  expect(textOf({ text: who })).toBe(`MASTER ${named}`);
});

test("only the tables of open clusters are sent", async () => {
  const opened = new Set(["cluster-t1", "cluster-w0"]);
  expect(tablesIn(await render(5, 5, { opened }))).toBe(2);
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
  expect(openOf(text)).toEqual(Array.from({ length: 20 }, (_, index) => `w${index}`));
  expect(tablesIn(text)).toBe(20);
  expect(linesOf(text)).toHaveLength(250);
  expect(text).toContain("Only 20 of 300 are open: close some to see others.");
  const closed = new Set(Array.from({ length: 290 }, (_, index) => `cluster-w${index}`));
  const rest = await render(2, 300, { opened: all, closed });
  expect(openOf(rest)).toHaveLength(10);
  expect(rest).not.toContain("close some");
});
