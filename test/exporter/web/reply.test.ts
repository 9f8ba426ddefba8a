import { expect, test } from "vitest";
import { acceptsGzip } from "../../../src/exporter/web/reply.ts";

test.each([
  [undefined, false],
  ["", false],
  ["identity", false],
  ["gzip", true],
  ["X-GZIP", true],
  ["deflate, gzip;q=0.001", true],
  ["br;q=1.0, gzip; q=0.8, *;q=0.1", true],
  ["gzip;q=1.000", true],
  ["gzip; q=0.000", false],
  ["gzip;q=0, *;q=1", false],
  ["gzipped, notgzip", false],
])("whether Accept-Encoding %s accepts gzip: %s", (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});
