import * as fc from "fast-check";
import { expect, test } from "vitest";
import { printable } from "../../src/support/text.ts";

test.each([
  ["what is visible", "É 漢 😀 a b\u00A0c", "É 漢 😀 a b\u00A0c"],
  ["line breaks and tabs", "a\n\tb", "a\n\tb"],
  ["controls", "\0\r\u001B\u007F\u009B", String.raw`\u0000\u000d\u001b\u007f\u009b`],
  ["separators", "\u2028\u2029", String.raw`\u2028\u2029`],
  ["text direction", "\u202E\u2066\u061C", String.raw`\u202e\u2066\u061c`],
  ["no width", "a\u200Bb\u200Dc\uFEFF\u2060", String.raw`a\u200bb\u200dc\ufeff\u2060`],
  ["soft hyphens and joiners", "\u00AD\u034F", String.raw`\u00ad\u034f`],
  ["Hangul fillers", "\u115F\u3164\uFFA0", String.raw`\u115f\u3164\uffa0`],
  ["variation selectors", "\uFE0F\u{E0100}", String.raw`\ufe0f\udb40\udd00`],
  ["tags", "a\u{E0001}\u{E0061}", String.raw`a\udb40\udc01\udb40\udc61`],
])("escapes what is not seen, and keeps the rest: %s", (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("a", "\\", '"', "\u200B", "\u{E0001}", "\uFE0F", "\u2028", "\r") }),
);

test("JSON stays JSON of the same value, and has nothing invisible", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const json = printable(JSON.stringify(text));
      expect(JSON.parse(json)).toBe(text);
      expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u);
    }),
  );
});
