import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MANAGEMENT_API } from "../../../src/exporter/api/management-api.ts";
import { OPNSENSE } from "../../../src/exporter/api/opnsense.ts";
import { parseWebsiteTest } from "../../../src/exporter/api/website-test.ts";

const AS_IS = (text: string): string => text;

const DECODERS = [MANAGEMENT_API, OPNSENSE].flatMap(({ operations }) =>
  Object.values(operations).map(({ decode }) => decode),
);

/** As many as a body may have: non-linear work on them, four or five times, takes minutes. */
const MANY_BYTES = MANAGEMENT_API.operations.vrrp.limitBytes;

function fill(unit: string): string {
  return unit.repeat(Math.floor(MANY_BYTES / unit.length));
}

test.each([
  ["white space", " "],
  ["carriage returns", "\r"],
  ["line breaks", "\n"],
  ["dashes", "-"],
  ["markers", "HTTP CONNECT ---\n"],
  ["folded markers", "HTTP CONNECT --- "],
  ["incomplete markers", "HTTP CONNECT "],
  ["markers with far dashes", `HTTP CONNECT${" ".repeat(1000)}`],
  ["interim status lines", "HTTP/1.1 100 "],
  ["interim status lines in lines", "HTTP/1.1 100\n"],
  ["answers to CONNECT", "HTTP/1.1 200 Connection established "],
  ["answers to CONNECT in lines", "HTTP/1.1 200 Connection established\n"],
  ["answers to CONNECT, far apart", `HTTP/1.1 200${" ".repeat(1000)}Connection `],
  ["status lines after names", "x: HTTP/1.1 200 "],
  ["successes", "HTTP/1.1 200 OK "],
  ["successes in lines", "HTTP/1.1 200 OK\n"],
  ["lines without a status", "HTTP/1.1 x\n"],
  ["headers of one word", "Content-Length: 0 Connection: close "],
  ["headers of one word, far apart", `Content-Length:${" ".repeat(1000)}0${" ".repeat(1000)}`],
  ["digits", "1"],
  ["versions", "HTTP/1"],
  ["labels", "HTTP "],
])("reads 256 KiB of %s in linear time", (_, unit) => {
  for (const start of [
    "",
    "HTTP CONNECT --- HTTP ",
    "HTTP CONNECT --- HTTP/1.1 100 a",
    "HTTP CONNECT --- HTTP/1.1 200 Connection established",
    "HTTP CONNECT --- HTTP/1",
  ]) {
    expect(parseWebsiteTest(start + fill(unit), AS_IS)).toHaveProperty("ok");
  }
});

test.each([
  ["raw line breaks in a string", `"${fill("\n")}"`],
  ["raw line breaks apart", `"${fill("a\n")}"`],
  ["quotes", fill('"')],
  ["backslashes", `"\n${fill("\\")}`],
  ["escaped keys", `{${fill('"\\u0061":1,')}"a":1}`],
  ["empty objects", `[${fill("{},")}{}]`],
  ["spaces before it", `${fill(" ")}1`],
  ["digits", fill("1")],
  ["brackets", fill("[")],
  ["rows of servers", `{"rhost":[${fill("[],")}[]]}`],
  ["ids", `[${fill('"1",')}"1"]`],
  ["rows of addresses", `{"rows":[${fill('{"vhid":1,"interface":"a"},')}{}]}`],
  ["different members", `{${Array.from({ length: MANY_BYTES / 12 }, (_, nth) => `"${nth}":1`).join(",")}}`],
  ["small members", `{${fill('"a":1,')}"a":1}`],
])("decodes 256 KiB of %s in linear time", (_, body) => {
  const bytes = Buffer.from(body);
  for (const decode of DECODERS) expect(decode(bytes, AS_IS)).toHaveProperty("ok");
});

test.each([0xff, 0xe2, 0xf0, 0x80])("decodes 256 KiB of byte %i in linear time", (byte) => {
  const bytes = Buffer.alloc(MANY_BYTES, byte);
  for (const decode of DECODERS) expect(decode(bytes, AS_IS)).toHaveProperty("ok", false);
});

test("no decoder throws, whatever the bytes are", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      for (const decode of DECODERS) expect(decode(bytes, AS_IS)).toHaveProperty("ok");
    }),
  );
});
