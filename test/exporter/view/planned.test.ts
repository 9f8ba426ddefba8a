import { expect, test } from "vitest";
import { fleetReport } from "../../../src/operator/fleet-report.ts";
import type { FleetDocument, PlannedDocument } from "../../../src/exporter/document/schema.ts";
import { headlineOf } from "../../../src/exporter/view/headline.ts";
import { troubleIn } from "../../../src/exporter/view/planned.ts";
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

test("the headline says what is planned in place of All is well", () => {
  const document = worked(documentOf([secondSilent(pair("ams")), pair("rtm")]));
  expect(headlineOf(document)).toEqual({ level: "well", text: SENTENCE, detail: "2 clusters." });
  expect(headlineOf({ ...document, problems: [] })).toMatchObject({ level: "well", text: SENTENCE });
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
  const document = worked(documentOf([secondSilent(pair("ams"))]), [{ ...FIRMWARE, ...given }]);
  expect(headlineOf(document).text).toBe(text);
});

test("of many windows, three are said", () => {
  const many = Array.from({ length: 5 }, (_, nth) => ({ ...FIRMWARE, id: `window${nth}` }));
  const { text, detail } = headlineOf(worked(documentOf([pair("ams")]), many));
  expect([text, detail]).toEqual([
    SENTENCE,
    `1 cluster. ${SENTENCE}. ${SENTENCE}. 2 more windows of planned work.`,
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
  const text = fleetReport(worked(documentOf([secondSilent(pair("ams"))])), false, Date.now());
  expect(
    text.match(/^(?:planned|critical|warning) .*$/gm)?.map((line) => line.split(/ +/).slice(0, 2)),
  ).toEqual([
    ["planned", "ams"],
    ["planned", "ams"],
  ]);
});
