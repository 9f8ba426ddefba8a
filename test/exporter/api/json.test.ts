import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../../src/exporter/api/json.ts";

/** The value, or what is wrong. */
function parse(text: string) {
  const parsed = parseJson(Buffer.from(text));
  return parsed.ok ? { ok: true, value: parsed.value.value } : parsed;
}

/** Where keys occur twice. */
function repeatedIn(text: string) {
  const parsed = parseJson(Buffer.from(text));
  return parsed.ok ? parsed.value.repeated : parsed;
}

test.each([
  ["a line break", '"a\r\nb"', "a\r\nb"],
  ["a tab and a NUL", '["a\tb\0"]', ["a\tb\0"]],
  ["a line break behind an escaped quote", '"a\\"\nb"', 'a"\nb'],
  ["a line break behind an escaped backslash", '"a\\\\\nb"', "a\\\nb"],
  ["line breaks outside strings too", '{\n"a\nb"\n:\t1\n}', { "a\nb": 1 }],
])("accepts %s raw inside a string", (_, text, value) => {
  expect(parse(text)).toEqual({ ok: true, value });
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
])("rejects %j without revealing its content", (text, message) => {
  expect(parse(text)).toEqual({ ok: false, failure: { reason: "decode", message: `$: ${message}` } });
});

function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

test.each([nested(9), nested(1_000_000), '{"a":'.repeat(9)])(
  "rejects more than eight levels: %.20s",
  (text) => {
    expect(parse(nested(8))).toHaveProperty("ok", true);
    const message = "$: expected at most 8 levels of nesting";
    expect(parse(text)).toEqual({ ok: false, failure: { reason: "too_large", message } });
  },
);

test("a login page with nested scripts is reported as markup, not as too large", () => {
  const failure = { reason: "decode", message: "$: expected JSON, got markup" };
  expect(parse(`<script>${"{".repeat(100)}</script>`)).toEqual({ ok: false, failure });
});

test.each([
  ["nowhere", '{"a":{"b":1},"b":{"b":["b","b",{"b":1},{"b":1}]}}', []],
  ["in the outermost object", '{"a":1,"b":1,"a":1}', ["a"]],
  ["in a member", '{"a":{"b":1,"b":1,"c":1,"c":1},"b":{}}', ["b", "c"]],
  ["below arrays", '{"a":{"c":[[{"x":1,"x":1}]]}}', ["x"]],
  ["written with escapes", '{"a":{"carp0":1,"\\u0063arp0":1,"\\/":1,"/" : 1}}', ["carp0", "/"]],
  ["as array indices", '{"0":1,"0":1}', ["0"]],
  ["as __proto__", '{"__proto__":1,"__proto__":1}', ["__proto__"]],
])("finds repeated keys %s", (_, text, repeated) => {
  expect(repeatedIn(text)).toEqual(repeated);
});

test("brackets inside strings do not count as nesting", () => {
  const value = `${"[".repeat(100)}\\"${"{".repeat(100)}`;
  expect(parse(JSON.stringify([value]))).toEqual({ ok: true, value: [value] });
  const failure = { reason: "decode", message: "$: expected JSON, got text that is not JSON" };
  expect(parse(`${"[".repeat(8)}"[`)).toEqual({ ok: false, failure });
});

test("keeps __proto__ as an inert member", () => {
  const parsed = parse('{"__proto__":{"vip":"192.0.2.1"}}');
  const value = parsed.ok ? parsed.value : undefined;
  expect(Object.entries(value ?? {})).toEqual([["__proto__", { vip: "192.0.2.1" }]]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test("parses any string with raw control characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("\n", "\t", "\0", '"', "\\", "é", "a") }), (value) => {
      const raw = `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
      expect(parse(raw)).toEqual({ ok: true, value });
    }),
  );
});

test("never throws", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("{", "}", "[", '"', ":", "\\", "\n", "u", "1") }),
      (text) => {
        expect(parse(text)).toHaveProperty("ok");
      },
    ),
  );
});
