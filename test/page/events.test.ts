import { expect, test } from "vitest";
import { eventHistory } from "../../src/page/view/events.ts";
import { ago } from "./documents.ts";
import { textOf, READER } from "./reading.ts";

test("the page says since when the exporter knows of events, also if there are none", () => {
  expect(textOf(eventHistory([], ago(86_400), READER))).toBe(
    "What happened Since the exporter started, 2026-11-20 12:00:00 UTC.",
  );
});
