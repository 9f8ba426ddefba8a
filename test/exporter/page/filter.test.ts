import { expect, test } from "vitest";
import { applyFilter, filterForm, matchNote, readFilter } from "../../../src/exporter/page/view/filter.ts";
import { judgeClusters } from "../../../src/exporter/view/headline.ts";
import { changed, documentOf, HAPPENED, pair, secondSilent, shopDown } from "./documents.ts";

const FLEET = documentOf(
  [
    secondSilent(pair("ams")),
    shopDown(pair("rtm", { labels: { site: "rotterdam" } })),
    changed(pair("lab"), { second: { labels: { stage: "test" } } }),
  ],
  { incidents: [...HAPPENED] },
);

const EVERYTHING = { clusters: judgeClusters(FLEET), problems: FLEET.problems, incidents: FLEET.incidents };

const filterOf = (query: string) => readFilter(new URLSearchParams(query));

test.each([
  ["", ["rtm", "ams", "lab"]],
  ["text=rtm", ["rtm"]],
  ["text=+AMS-2+", ["ams"]],
  ["text=timeout", ["ams"]],
  ["text=503 rotterdam", ["rtm"]],
  ["text=192.0.2.100", ["rtm", "ams", "lab"]],
  ["text=blog carp1", ["rtm", "ams", "lab"]],
  ["text=rtm-1 lab-1", []],
  ["text=.*", []],
  ["cluster=lab&other=1", ["lab"]],
  ["cluster=la", []],
  ["label=site%3Drotterdam", ["rtm"]],
  ["label=stage%3Dtest", ["lab"]],
  ["label=site%3Damsterdam&text=lab", ["lab"]],
])("?%s shows %o", async (query, names) => {
  const { clusters } = await applyFilter(EVERYTHING, filterOf(query));
  expect(clusters.map(({ cluster }) => cluster.name)).toEqual(names);
});

test("of a long text, the first 200 characters count", () => {
  expect(filterOf(`text=${"x".repeat(300)}`).text).toHaveLength(200);
});

test("clusters are shown with their problems and incidents, and problems without a cluster always", async () => {
  const general = { kind: "reload_failed" as const, severity: "warning" as const, summary: "It failed" };
  const all = { ...EVERYTHING, problems: [...FLEET.problems, general] };
  const narrowed = await applyFilter(all, filterOf("cluster=rtm"));
  expect(narrowed.problems.map(({ kind }) => kind)).toEqual(["website_down", "reload_failed"]);
  expect(narrowed.incidents.map(({ id }) => id)).toEqual(["failover", "silence"]);
  const linked = await applyFilter(all, filterOf("cluster=rtm&incident=shop"));
  expect(linked.incidents.map(({ id }) => id)).toEqual(["shop", "failover", "silence"]);
});

/** What the links beside the field say, in brackets where one is chosen. */
const chipsOf = (query: string, fleet = FLEET): readonly string[] =>
  [...filterForm(fleet, filterOf(query)).text.matchAll(/<a\s+class="chip"([^>]*)>(.*?)<\/a\s*>/gs)].map(
    ([, attributes = "", text = ""]) => (attributes.includes("aria-current") ? `[${text}]` : text),
  );

test("links offer problems, all, and the labels that only some clusters have", () => {
  const labels = ["site=rotterdam", "stage=test"];
  expect(chipsOf("")).toEqual(["Problems 3", "[All 3]", ...labels, "[24 h]", "30 days"]);
  expect(chipsOf("only=problems&timelines=month")).toEqual([
    "[Problems 3]",
    "All 3",
    ...labels,
    "24 h",
    "[30 days]",
  ]);
  expect(chipsOf("", documentOf([pair("ams"), pair("rtm")]))).toEqual(["[All 2]", "[24 h]", "30 days"]);
});

test("a chosen label or cluster that no longer exists is offered", () => {
  expect(chipsOf("label=site%3Dgone")).toContain("[site=gone]");
  expect(chipsOf("cluster=gone")).toContain("[gone]");
});

test("of many labels those of the most clusters are offered", () => {
  const many = Array.from({ length: 40 }, (_, nth) =>
    pair(`c${nth}`, { labels: { rack: String(nth), hall: String(nth % 3) } }),
  ).map((each) => ({ ...each, appliances: each.appliances.map((one) => ({ ...one, labels: {} })) }));
  const chips = chipsOf("", documentOf(many));
  expect(chips).toHaveLength(1 + 6 + 2);
  expect(chips).toEqual(expect.arrayContaining(["hall=0", "hall=1", "hall=2"]));
});

test("the form keeps the rest of the filter, and offers to show everything while it hides something", () => {
  const { text } = filterForm(FLEET, filterOf("text=a&label=site%3Dx&incident=shop"));
  expect(text).toContain('name="text" value="a"');
  expect(text).toContain('<input type="hidden" name="label" value="site=x" />');
  expect(text).toContain('<input type="hidden" name="incident" value="shop" />');
  expect(text).toContain(">Show everything<");
  expect(filterForm(FLEET, filterOf("")).text).not.toContain(">Show everything<");
});

test("only clusters with problems, or that are not known, can be shown", async () => {
  const { clusters } = await applyFilter(EVERYTHING, filterOf("only=problems"));
  expect(clusters.map(({ cluster }) => cluster.name)).toEqual(["rtm", "ams"]);
});

test("a cluster whose name has invisible characters is found by the name that is shown, and by its own", async () => {
  const fleet = documentOf([pair("ams\u200B"), pair("ams")]);
  const everything = { clusters: judgeClusters(fleet), problems: [], incidents: [] };
  for (const cluster of [String.raw`ams\u200b`, "ams\u200B"]) {
    const query = filterOf(String(new URLSearchParams({ cluster, text: cluster })));
    const { clusters } = await applyFilter(everything, query);
    expect(clusters.map(({ cluster: { name } }) => name)).toEqual(["ams\u200B"]);
    expect(chipsOf(String(new URLSearchParams({ cluster })), fleet)).toContain(String.raw`[ams\u200b]`);
  }
});

test("the page says how many clusters match", () => {
  expect(matchNote(3, 3).text).toBe("");
  expect(matchNote(1, 3).text).toBe("1 of 3 clusters match the filter.");
  expect(matchNote(0, 3).text).toBe("No cluster matches the filter.");
});
