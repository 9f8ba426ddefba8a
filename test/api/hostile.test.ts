import { expect, test } from "vitest";

import { BODY_LIMIT_BYTES } from "../../src/api/operations.ts";
import { decodeVrrpList } from "../../src/api/vrrp.ts";
import { decodeWebsiteTest, parseWebsiteTest } from "../../src/api/website-test.ts";

function fill(unit: string): string {
  return unit.repeat(Math.floor(BODY_LIMIT_BYTES / unit.length));
}

test.each([
  ["white space", " "],
  ["carriage returns", "\r"],
  ["line breaks", "\n"],
  ["dashes", "-"],
  ["markers", "HTTP CONNECT ---\n"],
  ["folded markers", "HTTP CONNECT --- "],
  ["halves of a marker", "HTTP CONNECT "],
  ["markers with far dashes", `HTTP CONNECT${" ".repeat(1000)}`],
  ["interim status lines", "HTTP/1.1 100 "],
  ["interim status lines in lines", "HTTP/1.1 100\n"],
  ["answers to CONNECT", "HTTP/1.1 200 Connection established "],
  ["answers to CONNECT in lines", "HTTP/1.1 200 Connection established\n"],
  ["answers to CONNECT, far apart", `HTTP/1.1 200${" ".repeat(1000)}Connection `],
  ["status lines behind names", "x: HTTP/1.1 200 "],
  ["digits", "1"],
  ["versions", "HTTP/1"],
  ["labels", "HTTP "],
])("reads 8 MiB of %s in linear time", (_, unit) => {
  for (const start of [
    "",
    "HTTP CONNECT --- HTTP ",
    "HTTP CONNECT --- HTTP/1.1 100 a",
    "HTTP CONNECT --- HTTP/1.1 200 Connection established",
    "HTTP CONNECT --- HTTP/1",
  ]) {
    expect(parseWebsiteTest(start + fill(unit))).toHaveProperty("ok");
  }
});

test.each([
  ["raw line breaks in a string", `"${fill("\n")}"`],
  ["raw line breaks apart", `"${fill("a\n")}"`],
  ["quotes", fill('"')],
  ["backslashes", `"\n${fill("\\")}`],
  ["spaces before it", `${fill(" ")}1`],
  ["digits", fill("1")],
  ["brackets", fill("[")],
  ["small members", `{${fill('"a":1,')}"a":1}`],
])("decodes 8 MiB of %s in linear time", (_, body) => {
  const bytes = Buffer.from(body);
  for (const decode of [decodeVrrpList, decodeWebsiteTest]) {
    expect(decode(bytes)).toHaveProperty("ok");
  }
});

test.each([0xff, 0xe2, 0xf0, 0x80])("decodes 8 MiB of byte %i in linear time", (byte) => {
  const bytes = Buffer.alloc(BODY_LIMIT_BYTES, byte);
  expect(decodeVrrpList(bytes)).toMatchObject({ ok: false });
});
