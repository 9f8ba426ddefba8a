import { expect, test } from "vitest";
import { eventHistory } from "../../src/page/view/events.ts";
import { ago, EVENTS } from "./documents.ts";
import { textOf, READER } from "./reading.ts";

const STARTED = ago(86_400);
const historyOf = (shown: number, hidden: number): string =>
  textOf(eventHistory(EVENTS.slice(0, shown), hidden, STARTED, READER));

test("the page says that nothing happened, but not if a filter hides events", () => {
  expect(historyOf(0, 0)).toBe(
    "What happened Nothing yet. Since the exporter started, 2026-11-20 12:00:00 UTC.",
  );
  expect(historyOf(0, 3)).toBe(
    "What happened 3 events outside the filter. Show everything Since the exporter started, 2026-11-20 12:00:00 UTC.",
  );
});
