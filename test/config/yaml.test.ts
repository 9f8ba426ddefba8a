import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatConfigError } from "../../src/config/errors.ts";
import { readYamlFile } from "../../src/config/yaml.ts";
import { createFolder } from "./folder.ts";

/** The data as JSON or the errors as lines. */
async function read(content: string | Uint8Array): Promise<string> {
  const folder = await createFolder({ "a.yaml": content });
  const result = await readYamlFile(join(folder, "a.yaml"));
  if (result.ok) return JSON.stringify(result.file.data);
  return result.errors.map((error) => formatConfigError(error).replace(`${folder}/`, "")).join("\n");
}

test.each([
  ["a: 1\nb: [x, {c: true}]\n", '{"a":1,"b":["x",{"c":true}]}'],
  ["\uFEFFa: 1\r\nb: 2\r\n", '{"a":1,"b":2}'],
  ["a: yes\nb: ~\nc:\n", '{"a":"yes","b":null,"c":null}'],
  ["base: &b {x: 1}\nuse: [*b, *b]\n", '{"base":{"x":1},"use":[{"x":1},{"x":1}]}'],
  ["a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n", '{"a":{"x":1,"y":2},"b":{"x":1,"y":3}}'],
  ["a: {y: 3, <<: &a {x: 1, y: 2}, z: *a}\n", '{"a":{"x":1,"y":3,"z":{"x":1,"y":2}}}'],
  ["<<: [{x: 1, y: 1}, {y: 2, z: 2}]\nz: 3\n", '{"y":1,"z":3,"x":1}'],
  [
    "a: &a {<<: {x: 1}}\nb: &b [*a, {y: 2}]\nc: {<<: *b}\n",
    '{"a":{"x":1},"b":[{"x":1},{"y":2}],"c":{"y":2,"x":1}}',
  ],
  ['"<<": 1\n', '{"<<":1}'],
  ["1: one\n007: x\ntrue: yes\n", '{"1":"one","007":"x","true":"yes"}'],
  ["%YAML 1.2\n---\na: 1\n...\n", '{"a":1}'],
])("%j is parsed as %s", async (text, json) => {
  expect(await read(text)).toBe(json);
});

test.each([
  ["", "a.yaml:1:1: the file is empty"],
  ["# nothing\n", "a.yaml:1:1: the file is empty"],
  ["a: 1\n---\nb: 2\n", "a.yaml:2:1: expected one document, got more (---)"],
  ["a: [1, 2\n", "a.yaml:2:1: wrong indentation"],
  ["a: 'x\n", "a.yaml:2:1: missing closing quote or bracket, comma, colon, or space after one"],
  ["a: b: c\n", "a.yaml:1:4: a key is not allowed here; quote a string that contains a colon and a space"],
  ["a:\n\tb: 1\n", "a.yaml:2:1: indentation with a tab; use spaces"],
  ["a: @b\n", "a.yaml:1:4: quote a string that starts with this character"],
  ['a: "\\q"\n', "a.yaml:1:5: invalid escape; in double quotes, write a backslash twice"],
  ["a: !secret b\n", "a.yaml:1:4: tags are not supported; quote a string that starts with !"],
  ["a: *b\n", "a.yaml:1:4: unknown anchor; quote a string that starts with *"],
  ["a: &x &y 1\n", "a.yaml:1:7: invalid YAML"],
  ["a: &x [1, *x]\n", "a.yaml:1:11: unknown anchor; quote a string that starts with *"],
  ["a: &x {<<: *x}\n", "a.yaml:1:12: unknown anchor; quote a string that starts with *"],
  ["a: {b: 1, <<: 7}\n", "a.yaml:1:11: expected a map or a list of maps after <<"],
  ["<<: [{a: 1}, 7]\n", "a.yaml:1:1: expected a map or a list of maps after <<"],
  ["<<: {a: 1}\n<<: {b: 1}\n", "a.yaml:2:1: duplicate key"],
  ["a: 1\nb: 2\na: 3\n", "a.yaml:3:1: duplicate key"],
  ["a: {b: 1, b: 2}\nc: 1\nc: 2\n", "a.yaml:1:11: duplicate key\na.yaml:3:1: duplicate key"],
  ["? [a]\n: 1\n", "a.yaml:1:3: expected a plain word as the key"],
  ["a: {__proto__: 1}\n", "a.yaml:1:5: expected a plain word as the key"],
  ["%YAML 1.1\n---\na: yes\n", "a.yaml:1:1: expected YAML 1.2"],
  ["{a: 1}}\n", "a.yaml:1:7: invalid YAML"],
  [Uint8Array.of(0x61, 0x3a, 0x20, 0xff), "a.yaml: it is not UTF-8"],
])("%j is invalid: %s", async (content, errors) => {
  expect(await read(content)).toBe(errors);
});

test("a missing file and a folder are errors", async () => {
  const folder = await createFolder({});
  await mkdir(join(folder, "folder"));
  const results = await Promise.all([
    readYamlFile(join(folder, "none")),
    readYamlFile(join(folder, "folder")),
  ]);
  expect(results).toEqual([
    { ok: false, errors: [{ file: join(folder, "none"), path: "", message: "no such file" }] },
    { ok: false, errors: [{ file: join(folder, "folder"), path: "", message: "it is a directory" }] },
  ]);
});

test("a file above 4 MiB is not read", async () => {
  expect(await read(`a: ${"x".repeat(4 * 1024 * 1024)}`)).toBe("a.yaml: it is larger than 4194304 bytes");
});

test("an impossible path is an error", async () => {
  expect(await readYamlFile("a\0b")).toEqual({
    ok: false,
    errors: [{ file: "a\0b", path: "", message: "cannot be read (ERR_INVALID_ARG_VALUE)" }],
  });
});

test("a file that is not regular does not block", async () => {
  expect(await readYamlFile("/dev/zero")).toEqual({
    ok: false,
    errors: [{ file: "/dev/zero", path: "", message: "it is not a regular file" }],
  });
});

describe("input that would crash a parser is an error", () => {
  const indented = Array.from({ length: 100 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("");

  test.each([
    ["20,000 nested lists", "[".repeat(20_000), "a.yaml:1:65: nested deeper than 64 levels"],
    [
      "20,000 nested lists behind a quote",
      `a: it's ${"[".repeat(9)}\nb: ${"[".repeat(20_000)}`,
      "a.yaml:2:67: nested deeper than 64 levels",
    ],
    ["20,000 nested maps", "{a: ".repeat(20_000), "a.yaml:1:257: nested deeper than 64 levels"],
    ["a million values", `[${"1,".repeat(1_000_000)}`, "a.yaml:1:1666667: more than 2500000 YAML tokens"],
    ["20,000 dashes", "- ".repeat(20_000), "a.yaml:1:129: nested deeper than 64 levels"],
    ["20,000 question marks", "? ".repeat(20_000), "a.yaml:1:129: nested deeper than 64 levels"],
    ["maps nested by indentation", indented, "a.yaml:65:66: nested deeper than 64 levels"],
  ])("%s", async (_, text, error) => {
    expect(await read(text)).toBe(error);
  });

  test("64 nested lists are valid", async () => {
    expect(await read(`${"[".repeat(64)}${"]".repeat(64)}`)).toBe(`${"[".repeat(64)}${"]".repeat(64)}`);
  });

  test("brackets in quotes and comments do not count as nesting", async () => {
    const brackets = "[".repeat(100);
    expect(await read(`a: "${brackets}" # ${brackets}\nb: '${brackets}'\nc: x ${brackets}\n`)).toBe(
      JSON.stringify({ a: brackets, b: brackets, c: `x ${brackets}` }),
    );
  });

  test("multiplying aliases", async () => {
    const lines = Array.from(
      { length: 9 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]`,
    );
    expect(await read(`a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${lines.join("\n")}\n`)).toBe(
      "a.yaml:6:45: aliases add more than 1000000 values",
    );
  });

  test("ten thousand aliases of a small map are valid", async () => {
    const text = `- &h {a: 1, b: 2}\n${"- *h\n".repeat(10_000)}`;
    expect(JSON.parse(await read(text))).toEqual(Array.from({ length: 10_001 }, () => ({ a: 1, b: 2 })));
  });
});

test("reading arbitrary bytes never throws", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      expect(typeof (await read(bytes))).toBe("string");
    }),
    { numRuns: 50 },
  );
});
