import * as fc from "fast-check";
import { expect, test } from "vitest";

import { cutText } from "../../src/api/kept-text.ts";

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
  { raw: "a\ud800b", kept: "a\ufffdb" },
  { raw: "\udc00\ud800", kept: "\ufffd\ufffd" },
])("text that is cut or replaced ends in a hash of the whole text", ({ raw, kept }) => {
  const value = cutText(raw);
  expect(value.slice(0, kept.length)).toBe(kept);
  expect(value.slice(kept.length)).toMatch(/^~[0-9a-f]{16}$/);
});

test("a text that looks like the cut form of another text stays different from it", () => {
  for (const raw of ["\ud800", "x".repeat(300)]) expect(cutText(cutText(raw))).not.toBe(cutText(raw));
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
