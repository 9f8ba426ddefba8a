import { expect, test } from "vitest";
import { binsOf } from "../../../src/history/report/bins.ts";
import type { Span } from "../../../src/history/report/spans.ts";

const HOUR_MS = 3_600_000;

function span(band: Span["band"], from: number, to: number): Span {
  return { band, fromMs: from * HOUR_MS, toMs: to * HOUR_MS };
}

test("each eight hours have the worst band in them, are unknown if most of them are, and the last ones may be fewer", () => {
  const spans = [
    span("up", 0, 20),
    span("down", 20, 20.001),
    span("up", 20.001, 24),
    span("impaired", 24, 25),
    span("up", 25, 35),
    // Unknown for five hours, and later for three.
    span("up", 40, 45),
    span("up", 48, 52),
    span("planned", 52, 53),
    span("up", 53, 56),
  ];
  expect(binsOf(spans, { fromMs: 0, toMs: 56 * HOUR_MS })).toEqual([
    "up",
    "up",
    "down",
    "impaired",
    "unknown",
    "up",
    "planned",
  ]);
});

test("what nothing is known of is unknown", () => {
  expect(binsOf([], { fromMs: 0, toMs: 16 * HOUR_MS })).toEqual(["unknown", "unknown"]);
});
