import { expect, test } from "vitest";
import { filterForm, matchNote } from "../../src/page/view/filter-form.ts";
import { applyFilter, EVERYTHING, readFilter, type Filter } from "../../src/page/view/filter.ts";
import { changed, documentOf, EVENTS, pair, secondSilent, shopDown } from "./documents.ts";

const FLEET = documentOf(
  [
    secondSilent(pair("ams")),
    shopDown(pair("rtm", { labels: { site: "rotterdam" } })),
    changed(pair("lab"), { second: { labels: { stage: "test" } } }),
  ],
  { events: [...EVENTS] },
);

const shown = (filter: Partial<Filter>): readonly string[] =>
  applyFilter(FLEET, { ...EVERYTHING, ...filter }).clusters.map(({ name }) => name);

test("an empty filter leaves the document as it is", () => {
  expect(applyFilter(FLEET, EVERYTHING)).toBe(FLEET);
});

test.each([
  [{ text: "rtm" }, ["rtm"]],
  [{ text: "AMS-2" }, ["ams"]],
  [{ text: "timeout" }, ["ams"]],
  [{ text: "503 rotterdam" }, ["rtm"]],
  [{ text: "192.0.2.100" }, ["ams", "rtm", "lab"]],
  [{ text: "blog carp1" }, ["ams", "rtm", "lab"]],
  [{ text: "rtm-1 lab-1" }, []],
  [{ text: ".*" }, []],
  [{ cluster: "lab" }, ["lab"]],
  [{ cluster: "la" }, []],
  [{ label: "site=rotterdam" }, ["rtm"]],
  [{ label: "stage=test" }, ["lab"]],
  [{ label: "site=amsterdam", text: "lab" }, ["lab"]],
] satisfies [Partial<Filter>, string[]][])("%o shows %o", (filter, names) => {
  expect(shown(filter)).toEqual(names);
});

test("with their clusters go their problems and events; what concerns no cluster stays", () => {
  const general = { kind: "reload_failed" as const, severity: "warning" as const, summary: "It failed" };
  const document = { ...FLEET, problems: [...FLEET.problems, general] };
  const narrowed = applyFilter(document, { ...EVERYTHING, cluster: "rtm" });
  expect(narrowed.problems.map(({ kind }) => kind)).toEqual(["website_down", "reload_failed"]);
  expect(narrowed.events.map(({ cluster }) => cluster)).toEqual(["rtm", "rtm"]);
});

test("a filter is read from a query", () => {
  expect(readFilter(new URLSearchParams("?text=a+%26+b&label=site%3Dx"))).toEqual({
    text: "a & b",
    cluster: "",
    label: "site=x",
  });
  expect(readFilter(new URLSearchParams("text=+a+&other=1"))).toEqual({ ...EVERYTHING, text: "a" });
});

test("the form offers every cluster and every label, and keeps what was asked for though it is gone", () => {
  const { text } = filterForm(FLEET, { ...EVERYTHING, cluster: "gone" });
  const offered = [...text.matchAll(/<option value="([^"]*)"( selected)? *>/g)].map(
    ([, value, selected = ""]) => `${value}${selected}`,
  );
  expect(offered).toEqual(
    ["", "gone selected", "ams", "rtm", "lab"].concat(["", "site=amsterdam", "site=rotterdam", "stage=test"]),
  );
});

test("the page says how many clusters match", () => {
  expect(matchNote(3, 3).text).toBe("");
  expect(matchNote(1, 3).text).toBe("1 of 3 clusters match the filter.");
  expect(matchNote(0, 3).text).toBe("No cluster matches the filter.");
});
