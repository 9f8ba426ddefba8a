import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, decodeText } from "../../../src/exporter/api/text.ts";

/** The bytes from which `decodeText` made a text. */
function encodeText(text: string): Buffer {
  const parts = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character);
  });
  return Buffer.concat(parts);
}

test("drops a byte order mark only at the start", () => {
  expect(decodeText(Buffer.from("\uFEFF{}\uFEFF"))).toBe("{}\uFEFF");
});

test.each([
  ["a byte that starts nothing", [0x61, 0xff, 0x62], "a\uDCFFb"],
  ["a sequence cut short by the end", [0xe2, 0x82], "\uDCE2\uDC82"],
  ["a sequence cut short by a letter", [0xe2, 0x82, 0x61], "\uDCE2\uDC82a"],
  ["an overlong slash", [0xc0, 0xaf], "\uDCC0\uDCAF"],
  ["an encoded surrogate", [0xed, 0xa0, 0x80], "\uDCED\uDCA0\uDC80"],
  ["a code point beyond the last", [0xf4, 0x90, 0x80, 0x80], "\uDCF4\uDC90\uDC80\uDC80"],
  ["valid text beside it", [0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xff], "😀é€\uDCFF"],
])("decodes %s as lone surrogates", (_, bytes, text) => {
  expect(decodeText(Uint8Array.from(bytes))).toBe(text);
});

test("decodes the given view, not the buffer below it", () => {
  expect(decodeText(Uint8Array.from([0x61, 0x62, 0x63]).subarray(1, 2))).toBe("b");
});

test("decodes different bytes to different texts", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const prefixed = Buffer.concat([Buffer.from(" "), bytes]);
      expect(encodeText(decodeText(prefixed))).toEqual(prefixed);
    }),
  );
});

test("decodes a UTF-8 text as Node.js does, with or without an invalid byte after it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = Buffer.from(` ${text}`);
      expect(decodeText(bytes)).toBe(` ${text}`);
      expect(decodeText(Buffer.concat([bytes, Buffer.from([0xff])]))).toBe(` ${text}\uDCFF`);
    }),
  );
});

test.each([
  "",
  "carp0",
  "x".repeat(256),
  "é".repeat(128),
  "💥".repeat(64),
  'quotes " and \\',
  "line\nbreak",
  "\0",
])("well-formed text of at most 256 bytes is unchanged: %j", (raw) => {
  expect(cutText(raw)).toBe(raw);
});

test.each([
  { raw: "x".repeat(257), kept: "x".repeat(256) },
  { raw: "é".repeat(129), kept: "é".repeat(128) },
  { raw: `x${"é".repeat(128)}`, kept: `x${"é".repeat(127)}` },
  { raw: `xx${"💥".repeat(64)}`, kept: `xx${"💥".repeat(63)}` },
  { raw: "a\ud800b", kept: "a?b" },
  { raw: "\udc00\ud800", kept: "??" },
  { raw: "a\ufffdb", kept: "a?b" },
])("text that is cut or replaced ends in a hash of the whole text", ({ raw, kept }) => {
  const value = cutText(raw);
  expect(value.slice(0, kept.length)).toBe(kept);
  expect(value.slice(kept.length)).toMatch(/^~[0-9a-f]{16}$/);
});

test("a text that looks like the cut form of another text stays different from it", () => {
  for (const raw of ["\ud800", "x".repeat(300)]) expect(cutText(cutText(raw))).not.toBe(cutText(raw));
});

test("no value contains U+FFFD, or anything that becomes U+FFFD in UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.uint8Array(), (text, bytes) => {
      for (const raw of [text, decodeText(bytes)])
        expect(Buffer.from(cutText(raw)).toString()).not.toContain("\uFFFD");
    }),
  );
});

test("different texts never become the same value", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "binary", minLength: 250, maxLength: 300 }),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(cutText(a) === cutText(b)).toBe(a === b);
    }),
  );
});
