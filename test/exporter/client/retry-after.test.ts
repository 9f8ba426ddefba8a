import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { parseRetryAfterMs } from "../../../src/exporter/client/connection.ts";

/** Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples. */
const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 37);

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ["0", 0],
  ["120", 120_000],
  [" 120 ", 120_000],
  ["007", 7_000],
  ["Sun, 06 Nov 1994 08:50:37 GMT", 60_000],
  ["Sunday, 06-Nov-94 08:50:37 GMT", 60_000],
  ["Sun Nov  6 08:50:37 1994", 60_000],
  ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ["Sun, 06 Nov 1994 08:00:00 GMT", 0],
])("%j asks for %d ms", (value, expected) => {
  expect(parseRetryAfterMs(value, NOW_MS)).toBe(expected);
});

test.each([
  "",
  "soon",
  "-5",
  "+5",
  "1.5",
  "1e3",
  "0x10",
  "5 minutes",
  "1994-11-06T08:50:37Z",
  "Sun",
  "Mon, 99 Foo 1994 08:49:37 GMT",
])("%j asks for nothing", (value) => {
  expect(parseRetryAfterMs(value, NOW_MS)).toBeUndefined();
});

test("a date without a zone, as in the asctime form, is in UTC in every local time zone", () => {
  vi.stubEnv("TZ", "America/New_York");
  expect(parseRetryAfterMs("Sun Nov  6 08:50:37 1994", NOW_MS)).toBe(60_000);
});

test("the delay is never negative and never NaN, whatever the header", () => {
  const value = fc.oneof(
    fc.string(),
    fc.stringMatching(/^\d{0,400}$/),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  fc.assert(
    fc.property(value, (text) => {
      const ms = parseRetryAfterMs(text, NOW_MS);
      expect(ms === undefined || ms >= 0).toBe(true);
    }),
  );
});
