import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { formatConfigError } from "../../../src/config/errors.ts";
import { validateYaml } from "../../../src/config/yaml/validate.ts";
import { errorAt, readYamlFile } from "../../../src/config/yaml/file.ts";
import { createFolder } from "../folder.ts";

const schema = z.strictObject({
  text: z.string(),
  flag: z.boolean().optional(),
  count: z.int().min(1).max(9).optional(),
  ratio: z.number().optional(),
  word: z.enum(["on", "off"]).optional(),
  list: z.array(z.string().min(2)).min(1).optional(),
  inner: z.strictObject({ a: z.string(), b: z.string().optional() }).optional(),
  either: z.union([z.int(), z.strictObject({ id: z.int() })]).optional(),
});

async function validate(text: string): Promise<string> {
  const folder = await createFolder({ "a.yaml": text });
  const parsed = await readYamlFile(join(folder, "a.yaml"));
  if (!parsed.ok) throw new Error("not YAML");
  const result = validateYaml({ ...parsed.file, file: "a.yaml" }, schema);
  return result.ok ? JSON.stringify(result.value) : result.errors.map(formatConfigError).join("\n");
}

test.each([
  ["text: x\ninner: {a: y}\n", '{"text":"x","inner":{"a":"y"}}'],
  ["- text\n", "a.yaml:1:1: expected a map, got a list"],
  ["flag: true\n", "a.yaml:1:1: text: required key is missing"],
  ["text: 5\n", "a.yaml:1:1: text: expected a text, got a number; put it in quotes"],
  ["text: ~\n", "a.yaml:1:1: text: expected a text, got nothing"],
  ["text: x\nflag: hunter2\n", "a.yaml:2:1: flag: expected true or false, got a text"],
  ["text: x\ncount: 0\n", "a.yaml:2:1: count: expected at least 1"],
  ["text: x\ncount: 10\n", "a.yaml:2:1: count: expected at most 9"],
  ["text: x\ncount: 1.5\n", "a.yaml:2:1: count: expected a whole number, got a number"],
  ["text: x\nratio: {}\n", "a.yaml:2:1: ratio: expected a number, got a map"],
  ["text: x\nword: hunter2\n", "a.yaml:2:1: word: expected one of on, off"],
  ["text: x\nlist: x\n", "a.yaml:2:1: list: expected a list, got a text"],
  ["text: x\nlist: []\n", "a.yaml:2:1: list: expected at least 1 item"],
  ["text: x\nlist: [ok, a]\n", "a.yaml:2:12: list[1]: expected at least 2 characters"],
  ["text: x\ninner:\n  b: y\n", "a.yaml:3:3: inner.a: required key is missing"],
  ["text: x\ninner: { b: y }\n", "a.yaml:2:8: inner.a: required key is missing"],
  ["text: x\ninner: {a: y, c: z}\n", "a.yaml:2:15: inner.c: unknown key"],
  ["text: x\neither: {id: 1, ie: 2}\n", "a.yaml:2:17: either.ie: unknown key"],
  ["text: x\neither: [1]\n", "a.yaml:2:1: either: not what is expected here"],
  [
    "d: &d {c: 1}\ntext: x\ninner: *d\n",
    "a.yaml:1:1: d: unknown key\na.yaml:1:7: inner.a: required key is missing\na.yaml:1:8: inner.c: unknown key",
  ],
])("%j gives: %s", async (text, expected) => {
  const lines = await validate(text);
  expect(lines.split("\n").toSorted().join("\n")).toBe(expected);
});

test("what became a key by mistake and could be a secret is not shown", async () => {
  expect(await validate("text: x\ninner: {a: y, b:hunter2, hunter2}\n")).toBe(
    "a.yaml:2:15: inner: unknown key\na.yaml:2:26: inner: unknown key",
  );
});

test("an error can be placed at any path, however far the file follows it", async () => {
  const folder = await createFolder({ "a.yaml": "a:\n  - b: 1\n" });
  const parsed = await readYamlFile(join(folder, "a.yaml"));
  if (!parsed.ok) throw new Error("not YAML");
  const file = { ...parsed.file, file: "a.yaml" };
  const paths = [[], ["a"], ["a", 0], ["a", 0, "b"], ["a", 0, "c", "d"], ["a", 5], ["z"]];
  expect(paths.map((path) => formatConfigError(errorAt(file, path, "wrong")))).toEqual([
    "a.yaml:1:1: wrong",
    "a.yaml:1:1: a: wrong",
    "a.yaml:2:5: a[0]: wrong",
    "a.yaml:2:5: a[0].b: wrong",
    "a.yaml:2:5: a[0].c.d: wrong",
    "a.yaml:2:3: a[5]: wrong",
    "a.yaml:1:1: z: wrong",
  ]);
});
