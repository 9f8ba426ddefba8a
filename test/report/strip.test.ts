import { expect, test } from "vitest";
import { strip } from "../../src/report/strip.ts";
import type { Span } from "../../src/report/spans.ts";

const HOUR_MS = 3_600_000;

function span(band: Span["band"], from: number, to: number): Span {
  return { band, fromMs: from * HOUR_MS, toMs: to * HOUR_MS };
}

test("each two hours show their worst state, by height and color, and equal ones are one bar", () => {
  const spans = [
    span("up", 0, 5),
    span("down", 5, 5.001),
    span("up", 5.001, 7),
    span("impaired", 7, 8),
    span("up", 9, 13),
  ];
  const paths = strip(spans, { fromMs: 0, toMs: 13 * HOUR_MS }).text.match(/<path [^>]*>/g);
  expect(paths).toEqual([
    '<path class="up" d="M0 15h2v5h-2zM5 15h2v5h-2z" />',
    '<path class="unknown" d="M4 0h1v20h-1z" />',
    '<path class="impaired" d="M3 9h1v11h-1z" />',
    '<path class="down" d="M2 0h1v20h-1z" />',
  ]);
});

test("what nothing is known of is hatched", () => {
  const { text } = strip([], { fromMs: 0, toMs: 24 * HOUR_MS });
  expect(text.match(/<path [^>]*>/g)).toEqual(['<path class="unknown" d="M0 0h12v20h-12z" />']);
});
