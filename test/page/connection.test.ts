import { expect, test } from "vitest";
import { CURRENT_FOR_MS, freshnessOf, lostMessage } from "../../src/page/client/freshness.ts";
import { ago } from "./documents.ts";

const LONG = CURRENT_FOR_MS + 1;

test.each([
  ["live", { answerAgeMs: CURRENT_FOR_MS, requestAgeMs: undefined, hasFailed: false }],
  ["live", { answerAgeMs: 1000, requestAgeMs: 0, hasFailed: true }],
  ["lost", { answerAgeMs: LONG, requestAgeMs: 0, hasFailed: true }],
  ["lost", { answerAgeMs: LONG, requestAgeMs: LONG, hasFailed: false }],
  ["connecting", { answerAgeMs: LONG, requestAgeMs: 10, hasFailed: false }],
  ["connecting", { answerAgeMs: LONG, requestAgeMs: undefined, hasFailed: false }],
])("the page is %s with %o", (freshness, contact) => {
  expect(freshnessOf(contact)).toBe(freshness);
});

test("a lost connection is reported with the time of the latest answer and the status of another response", () => {
  expect(lostMessage(ago(0), 65_000, undefined)).toBe(
    "No answer from the exporter since 2026-11-21 12:00:00 UTC (1 min). Below is its last answer.",
  );
  expect(lostMessage(ago(0), 4000, 502)).toBe(
    "No answer from the exporter since 2026-11-21 12:00:00 UTC (4 s). " +
      "The last response was not the status page (HTTP 502). Below is its last answer.",
  );
});
