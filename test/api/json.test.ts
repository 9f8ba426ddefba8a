import * as fc from "fast-check";
import { expect, test } from "vitest";

import { memberPath, parseJson } from "../../src/api/json.ts";

test.each([
  ["a line break", '"a\r\nb"', "a\r\nb"],
  ["a tab and a NUL", '["a\tb\0"]', ["a\tb\0"]],
  ["a line break behind an escaped quote", '"a\\"\nb"', 'a"\nb'],
  ["a line break behind an escaped backslash", '"a\\\\\nb"', "a\\\nb"],
  ["line breaks outside strings too", '{\n"a\nb"\n:\t1\n}', { "a\nb": 1 }],
])("accepts %s raw inside a string", (_, text, value) => {
  expect(parseJson(text)).toEqual({ ok: true, value });
});

test.each([
  ["", "expected JSON, got nothing"],
  [" \n", "expected JSON, got nothing"],
  ["  <html>secret</html>", "expected JSON, got markup"],
  ["secret", "expected JSON, got text that is not JSON"],
  ['{"secret": 1,}', "expected JSON, got text that is not JSON"],
  ['{"secret":\v1}', "expected JSON, got text that is not JSON"],
  ['"secret\\\n"', "expected JSON, got text that is not JSON"],
  ['"secret\n', "expected JSON, got text that is not JSON"],
])("refuses %j without telling what it holds", (text, message) => {
  expect(parseJson(text)).toEqual({ ok: false, problem: { reason: "decode", path: "$", message } });
});

function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

test("reads up to 64 levels of nesting, and refuses one more, well-formed or not", () => {
  const message = "expected at most 64 levels of nesting";
  const refused = { ok: false, problem: { reason: "decode", path: "$", message } };
  expect(parseJson(nested(64))).toHaveProperty("ok", true);
  expect(parseJson(nested(65))).toEqual(refused);
  expect(parseJson(nested(1_000_000))).toEqual(refused);
  expect(parseJson("[".repeat(1_000_000))).toEqual(refused);
  expect(parseJson('{"a":'.repeat(1_000_000))).toEqual(refused);
});

test("does not take brackets inside strings for nesting", () => {
  const value = `${"[".repeat(100)}\\"${"{".repeat(100)}`;
  expect(parseJson(JSON.stringify([value]))).toEqual({ ok: true, value: [value] });
});

test("keeps __proto__ as an inert member", () => {
  const parsed = parseJson('{"__proto__":{"vip":"192.0.2.1"}}');
  const value = parsed.ok ? parsed.value : undefined;
  expect(Object.entries(value ?? {})).toEqual([["__proto__", { vip: "192.0.2.1" }]]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test("gives back any JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
    }),
  );
});

test("gives back any string whose control characters were left raw", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("\n", "\t", "\0", '"', "\\", "é", "a") }), (value) => {
      const raw = `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
      expect(parseJson(raw)).toEqual({ ok: true, value });
    }),
  );
});

test("never throws", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("{", "}", "[", '"', ":", "\\", "\n", "u", "1") }),
      (text) => {
        expect(parseJson(text)).toHaveProperty("ok");
      },
    ),
  );
});

test.each([
  ["carp0", "$.carp0"],
  ["we ird", '$["we ird"]'],
  ["", '$[""]'],
  ["0", '$["0"]'],
  ['quo"te\n', '$["quo\\"te\\n"]'],
  ["\uDCFF", '$["\\udcff"]'],
  ["x".repeat(10_000), `$["${"x".repeat(64)}…"]`],
])("writes the path of member %j", (name, path) => {
  expect(memberPath("$", name)).toBe(path);
});
