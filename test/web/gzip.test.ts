import { expect, test } from "vitest";

import { acceptsGzip } from "../../src/web/reply.ts";

test.each([
  "gzip",
  "GZIP",
  "x-gzip",
  "*",
  "deflate, gzip",
  "gzip;q=1",
  "gzip; q=0.5, identity",
  "gzip;q=0.001",
  "br;q=1.0, gzip;q=0.8, *;q=0.1",
  "gzip;q=1.000",
])("%s takes gzip", (header) => {
  expect(acceptsGzip(header)).toBe(true);
});

test.each([
  undefined,
  "",
  "identity",
  "deflate",
  "br",
  "gzip;q=0",
  "gzip; q=0.000",
  "notgzip",
  "gzipped",
  "*;q=0",
  "gzip;q=0, *;q=1",
])("%s does not take gzip", (header) => {
  expect(acceptsGzip(header)).toBe(false);
});
