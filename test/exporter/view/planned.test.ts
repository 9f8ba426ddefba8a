import { expect, test } from "vitest";
import { fleetReport } from "../../../src/operator/fleet-report.ts";
import type { FleetDocument, PlannedDocument } from "../../../src/exporter/document/schema.ts";
import {
  headlineOf,
  headlineText,
  judgeClusters,
  talliesOf,
  toneOf,
} from "../../../src/exporter/view/headline.ts";
import { plannedSentences, troubleIn, withPlanned } from "../../../src/exporter/view/planned.ts";
import { clusterRows } from "../../../src/exporter/view/rows.ts";
import { documentOf, pair, secondSilent, shopDown } from "../page/documents.ts";

const FIRMWARE: PlannedDocument = {
  id: "patchnight",
  begin: "2026-11-21T13:30:00.000Z",
  end: "2026-11-21T14:00:00.000Z",
  comment: "firmware 4.6",
  by: "alice",
  isDrill: false,
  subjects: ["waf-ams-2"],
  masters: [],
};
const SENTENCE = "Planned until 2026-11-21 14:00 UTC: firmware 4.6 (alice, waf-ams-2)";

/** With all problems of the cluster `ams` planned. */
function worked(document: FleetDocument, planned: FleetDocument["planned"] = [FIRMWARE]): FleetDocument {
  const problems = document.problems.map((each) =>
    each.cluster === "ams" ? { ...each, isPlanned: true } : each,
  );
  const isWell = problems.every(({ isPlanned }) => isPlanned === true);
  return { ...document, problems, planned, verdict: isWell ? "well" : document.verdict };
}

test("the headline says that all is well but planned work, how much, and until when", () => {
  const document = worked(documentOf([secondSilent(pair("ams")), pair("rtm")]));
  const headline = {
    level: "planned",
    text: "All is well but planned work: 1",
    until: FIRMWARE.end,
    detail: `2 clusters. ${SENTENCE}.`,
  };
  expect(headlineOf(document)).toEqual(headline);
  expect(headlineOf({ ...document, problems: [] })).toEqual(headline);
  expect(headlineText(headlineOf(document))).toBe(
    "All is well but planned work: 1 until 2026-11-21 14:00 UTC",
  );
});

test("what is planned is counted apart, and its cluster is neither well nor wrong", () => {
  const document = worked(documentOf([secondSilent(pair("ams")), pair("rtm")]));
  const well = document.clusters.map((each) => ({ ...each, level: "well" as const }));
  expect(talliesOf({ ...document, clusters: well })).toEqual([
    { level: "planned", words: "2 planned" },
    { level: "well", words: "1 of 2 clusters well" },
  ]);
  expect(judgeClusters({ ...document, clusters: well.toReversed() }).map(toneOf)).toEqual([
    "planned",
    "well",
  ]);
});

test("rows that follow from a planned problem are planned, and rows of another problem are not", () => {
  const keyed = secondSilent(pair("ams"));
  const groups = keyed.groups.map((each, nth) => ({ ...each, key: `group ${nth}` }));
  const rowsOf = (keys: readonly (readonly string[])[]) => {
    const problems = keys.map((own, nth) => {
      const [problem] = documentOf([keyed]).problems;
      if (problem === undefined) throw new Error("there are some");
      return { ...problem, keys: [...own], ...(nth === 0 && { isPlanned: true }) };
    });
    const [vrrp] = withPlanned(clusterRows({ ...keyed, groups }), problems);
    return vrrp?.rows.map(({ level, cells }) => `${level} ${cells[1]?.sign}`);
  };
  expect(rowsOf([["group 0"]])).toEqual(["planned planned", "critical unknown"]);
  expect(rowsOf([["group 0", "group 1"], ["group 1"]])).toEqual(["planned planned", "critical unknown"]);
  expect(rowsOf([["cluster"]])).toEqual(["planned planned", "planned planned"]);
});

test("a problem that is not planned comes first, and alone is counted", () => {
  expect(headlineOf(worked(documentOf([secondSilent(pair("ams")), shopDown(pair("rtm"))])))).toEqual({
    level: "critical",
    text: "1 problem",
    detail: `Website down, in 1 of 2 clusters. ${SENTENCE}.`,
  });
});

test.each<[Partial<PlannedDocument>, string]>([
  [
    { masters: [{ appliance: "waf-ams-1", addresses: 12 }] },
    `${SENTENCE}. waf-ams-1 is still MASTER of 12 addresses: hand over first`,
  ],
  [
    { masters: [{ appliance: "waf-ams-1", addresses: 2, masters: ["waf-ams-1", "waf-ams-2"] }] },
    `${SENTENCE}. waf-ams-1 is still MASTER of 2 addresses (2 masters: waf-ams-1, waf-ams-2): hand over first`,
  ],
  [
    { masters: [{ appliance: "waf-ams-1", addresses: 1 }], isDrill: true },
    "Drill until 2026-11-21 14:00 UTC: firmware 4.6 (alice, waf-ams-2). waf-ams-1 is still MASTER of 1 address: hand over first",
  ],
  [
    { by: undefined, subjects: ["ams", "rtm"], moreSubjects: 30 },
    "Planned until 2026-11-21 14:00 UTC: firmware 4.6 (ams, rtm and 30 more)",
  ],
])("%j", (given, text) => {
  expect(plannedSentences([{ ...FIRMWARE, ...given }])).toEqual([text]);
});

test("of many windows, three are said", () => {
  const many = Array.from({ length: 5 }, (_, nth) => ({ ...FIRMWARE, id: `window${nth}` }));
  const { text, detail } = headlineOf(worked(documentOf([pair("ams")]), many));
  expect([text, detail]).toEqual([
    "All is well but planned work: 5",
    `1 cluster. ${SENTENCE}. ${SENTENCE}. ${SENTENCE}. 2 more windows of planned work.`,
  ]);
});

test("a cluster says what is wrong with it, or else what is planned", () => {
  const { problems } = worked(documentOf([secondSilent(pair("ams"))]));
  expect(troubleIn([])).toBeUndefined();
  expect(troubleIn(problems)).toBe("Planned: redundancy lost and appliance down");
  const [down] = documentOf([shopDown(pair("ams"))]).problems;
  expect(down && troubleIn([down, ...problems])).toBe("Website down");
});

test("the terminal shows planned problems as such", () => {
  const text = fleetReport(worked(documentOf([secondSilent(pair("ams"))])), {
    hasColor: false,
    nowMs: Date.now(),
  });
  expect(
    text.match(/^(?:planned|critical|warning) .*$/gm)?.map((line) => line.split(/ +/).slice(0, 2)),
  ).toEqual([
    ["planned", "ams"],
    ["planned", "ams"],
  ]);
});
