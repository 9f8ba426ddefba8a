import { expect, test } from "vitest";
import { parseDuration } from "../../src/support/duration.ts";

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
