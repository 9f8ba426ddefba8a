import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../src/config/duration.ts";

test.each([
  ["500ms", 500],
  ["15s", 15_000],
  ["1m30s", 90_000],
  ["1y2w3d4h5m6s7ms", 33_019_506_007],
  ["90s", 90_000],
  ["0", 0],
  ["0s", 0],
])("%s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", " 5s", "5", "1.5s", "-1s", "1s1m", "1s1s", "1 m", "1M", "5sec", "1e3s", "9007199254740992ms"])(
  "%j is no duration",
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test("formatting and parsing a duration returns the same number of milliseconds", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
  expect([0, 1, 90_000, 604_800_000].map(formatDuration)).toEqual(["0", "1ms", "1m30s", "1w"]);
});
