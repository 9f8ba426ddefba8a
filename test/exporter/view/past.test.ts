import { expect, test } from "vitest";
import { pastWords, percent, percentOfKnown } from "../../../src/exporter/view/past.ts";

const HOUR_MS = 3_600_000;
const WELL = { upMs: HOUR_MS, downMs: 0, downs: 0, plannedMs: 0, unknownMs: 0 };

test.each([
  [{}, "up 100 %"],
  [{ upMs: HOUR_MS - 1, downMs: 1, downs: 1 }, "up 99.999 %, down once, 1 s"],
  [{ downMs: 239_001, downs: 2 }, "up 93.774 %, down 2 times, 4 min"],
  [{ upMs: 0, downMs: HOUR_MS, downs: 1 }, "up 0.000 %, down once, 1 h 0 min"],
  [{ plannedMs: 60_001 }, "up 100 %, planned 2 min"],
  [{ upMs: 0, plannedMs: HOUR_MS }, "planned 1 h 0 min"],
  [{ unknownMs: 59_999 }, "up 100 %"],
  [{ unknownMs: 60_000 }, "up 100 % of the 1 h 0 min known"],
  [{ upMs: 10_999, unknownMs: 24 * HOUR_MS - 10_999 }, "up 100 % of the 10 s known"],
  [
    { upMs: HOUR_MS - 1, downMs: 1, downs: 1, plannedMs: HOUR_MS, unknownMs: HOUR_MS },
    "up 99.999 % of the 1 h 0 min known, down once, 1 s, planned 1 h 0 min",
  ],
  [{ upMs: 0, plannedMs: HOUR_MS, unknownMs: 59_999 }, "planned 1 h 0 min"],
  [{ upMs: 0, plannedMs: HOUR_MS, unknownMs: HOUR_MS + 1 }, "planned 1 h 0 min, unknown 1 h 1 min"],
  [{ upMs: 0, unknownMs: HOUR_MS }, "not known"],
])("%j: %s", (given, words) => {
  expect(pastWords({ ...WELL, ...given })).toBe(words);
});

test.each([
  [57, 43, "57.000 %"],
  [99_999, 1, "99.999 %"],
  [1_000_000, 1, "99.999 %"],
  [0, 0, "–"],
])("%d of the time and %d of it: %s", (part, rest, words) => {
  expect(percent(part, rest)).toBe(words);
});

test.each([
  [1, 0, 59_999, "100 %"],
  [1000, 0, 60_000, "100 % of the 1 s known"],
  [1000, 1000, 60_000, "50.000 % of the 2 s known"],
  [0, 0, 60_000, "–"],
])("%d of the time and %d of it, and %d that is unknown: %s", (part, rest, unknown, words) => {
  expect(percentOfKnown(part, rest, unknown)).toBe(words);
});
