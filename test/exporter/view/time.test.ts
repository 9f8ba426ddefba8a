import { expect, test } from "vitest";
import { relative } from "../../../src/exporter/page/view/parts.ts";
import { duration, formatSeconds, lasted, relativeTime } from "../../../src/exporter/view/time.ts";
import { ago, NOW_MS } from "../page/documents.ts";
import { READER } from "../page/reading.ts";

test.each([
  [0, "0 s"],
  [43_900, "43 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_599_999, "59 min"],
  [3_600_000, "1 h 0 min"],
  [7_500_000, "2 h 5 min"],
  [86_400_000, "1 d 0 h"],
  [273_600_000, "3 d 4 h"],
])("%i ms are %s", (durationMs, words) => {
  expect(duration(durationMs)).toBe(words);
});

test.each([
  [0, "0 s"],
  [1, "1 s"],
  [59_001, "1 min"],
  [60_001, "2 min"],
  [3_599_999, "1 h 0 min"],
  [7_500_001, "2 h 6 min"],
  [86_399_999, "1 d 0 h"],
  [86_400_001, "1 d 1 h"],
])("a time of %i ms that is over lasted at most %s", (durationMs, words) => {
  expect(lasted(durationMs)).toBe(words);
});

test.each([
  ["ago", 190, "3 min ago"],
  ["ago", 0.4, "0 s ago"],
  ["ago", -5, "0 s ago"],
  ["for", 190, "for 3 min"],
  ["for", 0, "for 0 s"],
  ["changed", 70, "changed 1 min ago"],
  ["next", -4, "in 4 s"],
  ["next", 0.5, "in 0 s"],
  ["next", 30, "in 0 s"],
] as const)("%s, %d s ago: %s", (wording, seconds, words) => {
  expect(relativeTime(wording, NOW_MS - seconds * 1000, NOW_MS)).toBe(words);
});

test("a relative time has the absolute time as its title", () => {
  expect(relative("ago", ago(190), READER).text).toBe(
    `<time datetime="${ago(190)}" title="2026-11-21 11:56:50 UTC">3 min ago</time>`,
  );
});

test.each([
  [0.0432, "43 ms"],
  [0.9994, "999 ms"],
  [1.24, "1.2 s"],
  [12.4, "12 s"],
])("%d seconds are shown as %s", (seconds, words) => {
  expect(formatSeconds(seconds)).toBe(words);
});
