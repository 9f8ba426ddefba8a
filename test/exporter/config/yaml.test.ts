import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatConfigError } from "../../../src/exporter/config/errors.ts";
import { collect } from "../../../src/exporter/config/sources.ts";
import { readYamlFile } from "../../../src/exporter/config/yaml.ts";
import { createFolder } from "./folder.ts";

function loadFile(path: string) {
  return collect((collector) => readYamlFile(path, collector));
}

/** The data as JSON or the errors as lines. */
async function read(content: string | Uint8Array): Promise<string> {
  const folder = await createFolder({ "a.yaml": content });
  const result = await loadFile(join(folder, "a.yaml"));
  if (result.ok) return JSON.stringify(result.data);
  return result.errors.map((error) => formatConfigError(error).replace(`${folder}/`, "")).join("\n");
}

test.each([
  ["a: 1\nb: [x, {c: true}]\n", '{"a":1,"b":["x",{"c":true}]}'],
  ["\uFEFFa: 1\r\nb: 2\r\n", '{"a":1,"b":2}'],
  ["a: yes\nb: ~\nc:\n", '{"a":"yes","b":null,"c":null}'],
  ["base: &b {x: 1}\nuse: [*b, *b]\n", '{"base":{"x":1},"use":[{"x":1},{"x":1}]}'],
  ["a: &x 1\nb: [*x, &x 2, *x]\n", '{"a":1,"b":[1,2,2]}'],
  ["a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", '{"a":{"x":1,"y":2},"b":{"x":1,"y":3}}'],
  ["<<: [{x: 1, y: 1}, {y: 2, z: 2}]\nz: 3\n", '{"x":1,"y":1,"z":3}'],
  [
    "a: &a {<<: {x: 1}}\nb: &b [*a, {y: 2}]\nc: {<<: *b}\n",
    '{"a":{"x":1},"b":[{"x":1},{"y":2}],"c":{"x":1,"y":2}}',
  ],
  ['"<<": 1\n', '{"<<":1}'],
  ["1: one\n007: x\ntrue: yes\n", '{"1":"one","007":"x","true":"yes"}'],
  ["%YAML 1.2\n---\na: 1\n...\n", '{"a":1}'],
])("%j is parsed as %s", async (text, json) => {
  expect(await read(text)).toBe(json);
});

const INDENT = "wrong indent: start each entry of a map or list in the same column, with - in a list";

test.each([
  ["", "a.yaml:1:1: the file is empty"],
  ["a: 1\n---\nb: 2\n", "a.yaml:2:1: expected one document, got more (---)"],
  ["a: [1, 2\n", "a.yaml:2:1: expected ] before this: a [ above is not closed"],
  ["a:\n  - { b: 1\n  - { b: 2 }\n", "a.yaml:3:3: expected } before this: a { above is not closed"],
  ["{ a: 1\n", "a.yaml:2:1: expected } before this: a { above is not closed"],
  ["a: { b: 1 c: 2 }\n", "a.yaml:1:9: expected a comma between the entries in { } or [ ]"],
  ["a:\n  - b: 1\n   c: 2\n    d: 3\n", `a.yaml:3:1: ${INDENT}`],
  ["a:\n  - b: 1\n  c: 2\n", `a.yaml:3:1: ${INDENT}`],
  ["a:\n- b: 1\n - b: 2\n", `a.yaml:3:2: ${INDENT}`],
  ["a:\n  - b: 1\n - b: 2\n", `a.yaml:3:1: ${INDENT}`],
  ["a:\n    b: 1\n  c: 2\n", `a.yaml:3:1: ${INDENT}`],
  [
    "a:\n  b: x\n    c: 2\n",
    'a.yaml:2:6: wrong indent: indent the next line like this key; or quote a value that contains ": " or ends with ":"',
  ],
  ["a:\n  - b:1\n    c: 2\n", "a.yaml:2:5: expected a key, a colon, a space and a value"],
  ["a:\n\tb: 1\n", "a.yaml:2:1: indent with spaces, not with tabs"],
  ["a: 1\nb:2\n", "a.yaml:2:1: expected a key, a colon, a space and a value"],
  ["a: 'x\n", "a.yaml:2:1: a quote before this is not closed"],
  ['a: "x\nb: 1\n', "a.yaml:3:1: a quote before this is not closed"],
  ["a: @b\n", "a.yaml:1:4: quote a string that starts with this character"],
  ['a: "\\q"\n', "a.yaml:1:5: invalid escape; in double quotes, write a backslash twice"],
  ["a: !secret b\n", "a.yaml:1:4: tags are not supported; quote a string that starts with !"],
  ["a: !!seq { b: 1 }\n", "a.yaml:1:4: tags are not supported; quote a string that starts with !"],
  ["a: *b\n", "a.yaml:1:4: unknown anchor; quote a string that starts with *"],
  ["a: &x &y 1\n", "a.yaml:1:7: invalid anchor or alias; quote a string that starts with & or *"],
  ["a: *x\nb: &x 2\n", "a.yaml:1:4: unknown anchor; quote a string that starts with *"],
  ["a: &x {<<: *x}\n", "a.yaml:1:1: expected a map or a list of maps after each <<"],
  ["a: {b: 1, <<: 7}\n", "a.yaml:1:1: expected a map or a list of maps after each <<"],
  ["<<: {a: 1}\n<<: {b: 1}\n", "a.yaml:2:1: duplicate key, first at 1:1"],
  ["a: 1\nb: 2\na: 3\n", 'a.yaml:3:1: duplicate key "a", first at 1:1'],
  [
    "a: {b: 1, b: 2}\nc: 1\nc: 2\n",
    'a.yaml:1:11: duplicate key "b", first at 1:5\na.yaml:3:1: duplicate key "c", first at 2:1',
  ],
  ["? [a]\n: 1\n", "a.yaml:1:3: expected a plain word as the key"],
  [
    "{a: 1}}\n",
    "a.yaml:1:7: unexpected text; check the indent, and the quotes, brackets and commas before it",
  ],
  [Uint8Array.of(0x61, 0x3a, 0x20, 0xff), "a.yaml: it is not UTF-8"],
])("%j is invalid: %s", async (content, errors) => {
  expect(await read(content)).toBe(errors);
});

test.each([
  ["/dev/zero", "it is not a regular file"],
  ["/dev", "it is not a regular file"],
  ["/dev/none", "no such file"],
])("%j: %s", async (file, message) => {
  expect(await loadFile(file)).toMatchObject({ ok: false, errors: [{ file, path: "", message }] });
});

test.each(["[]", "{a: }", "- "])(
  "more than a hundred levels of %j are an error with its place",
  async (level) => {
    const [, open = "", close = ""] = /^(.*?)([\]}]?)$/.exec(level) ?? [];
    const nested = (levels: number) => read(`${open.repeat(levels)}x${close.repeat(levels)}`);
    expect(await nested(90)).toMatch(/^[[{]/);
    const error = /^a\.yaml:1:\d+: expected at most 100 levels: close each \[ and \{, and check the indent$/;
    for (const levels of [110, 20_000]) expect(await nested(levels)).toMatch(error);
    expect(await read(open.repeat(20_000))).toMatch(error);
  },
);

test("ten thousand aliases of a small map are valid", async () => {
  const text = `- &h {a: 1, b: 2}\n${"- *h\n".repeat(10_000)}`;
  expect(JSON.parse(await read(text))).toEqual(Array.from({ length: 10_001 }, () => ({ a: 1, b: 2 })));
});

test.each([
  [25_000, "anchors", (n: number) => `a${n}: &a${n} x\n`, "20001:17"],
  [25_000, "aliases", (n: number) => (n === 0 ? "- &a x\n" : "- *a\n"), "20001:3"],
])("of %i %s, the first beyond the limit is an error", async (count, _, line, place) => {
  const text = Array.from({ length: count }, (__, n) => line(n)).join("");
  expect(await read(text)).toBe(`a.yaml:${place}: expected at most 20000 anchors and aliases`);
});

test("a key that occurs twice among 20,000 is found, plain or in flow style", async () => {
  const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}`);
  expect(await read(`${keys.join(": 1\n")}: 1\nk7: 2\n`)).toBe("a.yaml:20001:1: duplicate key, first at 8:1");
  expect(await read(`{${keys.join(": 1,\n")}: 1,\nk7: 2}\n`)).toBe(
    "a.yaml:20001:1: duplicate key, first at 8:1",
  );
});

test("reading arbitrary bytes never throws", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      expect(typeof (await read(bytes))).toBe("string");
    }),
    { numRuns: 50 },
  );
});
