import * as fc from "fast-check";
import { expect, test } from "vitest";

import { decodeText } from "../../src/api/text.ts";

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
