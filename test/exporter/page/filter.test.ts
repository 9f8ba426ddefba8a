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

test("the form offers every cluster and label, and keeps a chosen one that no longer exists", () => {
  const { text } = filterForm(FLEET.clusters, filterOf("cluster=gone"), "");
  const offered = [...text.matchAll(/<option value="([^"]*)"( selected)? *>/g)].map(
    ([, value, selected = ""]) => `${value}${selected}`,
  );
  expect(offered).toEqual(
    ["", "gone selected", "ams", "rtm", "lab"].concat([
      "",
      "site=amsterdam",
      "site=rotterdam",
      "stage=test",
      "",
      "month",
    ]),
  );
});

test("a cluster whose name has invisible characters is found by the name that is shown, and by its own", async () => {
  const fleet = documentOf([pair("ams\u200B"), pair("ams")]);
  const everything = { clusters: judgeClusters(fleet), problems: [], incidents: [] };
  const [, shown = ""] =
    /<option value="(ams[^"]+)"/.exec(filterForm(fleet.clusters, filterOf(""), "").text) ?? [];
  for (const cluster of [shown, "ams\u200B"]) {
    const query = filterOf(String(new URLSearchParams({ cluster, text: cluster })));
    const { clusters } = await applyFilter(everything, query);
    expect(clusters.map(({ cluster: { name } }) => name)).toEqual(["ams\u200B"]);
    expect(filterForm(fleet.clusters, query, "").text).toContain(`<option value="${shown}" selected`);
  }
});

test("the page says how many clusters match", () => {
  expect(matchNote(3, 3).text).toBe("");
  expect(matchNote(1, 3).text).toBe("1 of 3 clusters match the filter.");
  expect(matchNote(0, 3).text).toBe("No cluster matches the filter.");
});
