import { expect, test } from "vitest";
import { lostMessage } from "../../../src/web/status-page/view/connection.ts";
import { CURRENT_FOR_MS, freshnessOf } from "../../../src/web/status-page/view/freshness.ts";
import { NOW_MS } from "./documents.ts";

const LONG = CURRENT_FOR_MS + 1;

test.each([
  ["live", { answerAgeMs: CURRENT_FOR_MS, questionAgeMs: undefined, hasFailed: false }],
  ["live", { answerAgeMs: 1000, questionAgeMs: 0, hasFailed: true }],
  ["lost", { answerAgeMs: LONG, questionAgeMs: 0, hasFailed: true }],
  ["lost", { answerAgeMs: LONG, questionAgeMs: LONG, hasFailed: false }],
  ["asking", { answerAgeMs: LONG, questionAgeMs: 10, hasFailed: false }],
  ["asking", { answerAgeMs: LONG, questionAgeMs: undefined, hasFailed: false }],
])("the state is %s with %o", (freshness, contact) => {
  expect(freshnessOf(contact)).toBe(freshness);
});

test("a loss is told with the instant of the last answer, and with who answers instead", () => {
  expect(lostMessage(NOW_MS, NOW_MS + 65_000, undefined)).toBe(
    "No answer from the exporter since 2026-11-21 12:00:00 UTC (1 min). What is below is what it said then.",
  );
  expect(lostMessage(NOW_MS, NOW_MS, 502)).toContain(" Something else answers, with status 502. ");
  expect(lostMessage(NOW_MS, NOW_MS, "unshowable")).toContain(" What it sends now cannot be shown here");
});
