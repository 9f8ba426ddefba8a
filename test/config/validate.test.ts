import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { formatErrors } from "../../src/config/errors.ts";
import { createSourceReader } from "../../src/config/sources.ts";
import { loadYaml } from "../../src/config/validate.ts";
import { createFolder } from "./folder.ts";

const schema = z.strictObject({
  text: z.string(),
  flag: z.boolean().optional(),
  count: z.int().min(1).max(9).optional(),
  ratio: z.number().optional(),
  word: z.enum(["on", "off"]).optional(),
  list: z.array(z.string().min(2)).min(1).optional(),
  inner: z.strictObject({ a: z.string(), password: z.string().optional() }).optional(),
  either: z.union([z.int(), z.strictObject({ id: z.int() })]).optional(),
});

async function validate(text: string): Promise<string> {
  const folder = await createFolder({ "a.yaml": text });
  const loaded = await loadYaml(join(folder, "a.yaml"), schema, createSourceReader());
  return loaded.ok
    ? JSON.stringify(loaded.value)
    : formatErrors(loaded.errors).join("\n").replaceAll(`${folder}/`, "");
}

test.each([
  ["text: x\ninner: {a: y}\n", '{"text":"x","inner":{"a":"y"}}'],
  ["- text\n", "a.yaml:1:1: expected a map, got a list"],
  ["flag: true\n", "a.yaml:1:1: text: required key is missing"],
  ["text: 5\n", "a.yaml:1:1: text: expected a string, got a number; put it in quotes"],
  ["text: ~\n", "a.yaml:1:1: text: expected a string, got nothing"],
  ["text: x\nflag: hunter2\n", "a.yaml:2:1: flag: expected true or false, got a string"],
  ["text: x\ncount: 0\n", "a.yaml:2:1: count: expected at least 1"],
  ["text: x\ncount: 10\n", "a.yaml:2:1: count: expected at most 9"],
  ["text: x\ncount: 1.5\n", "a.yaml:2:1: count: expected a whole number, got a number"],
  ["text: x\nratio: {}\n", "a.yaml:2:1: ratio: expected a number, got a map"],
  ["text: x\nword: hunter2\n", "a.yaml:2:1: word: expected one of on, off"],
  ["text: x\nlist: x\n", "a.yaml:2:1: list: expected a list, got a string"],
  ["text: x\nlist: [ok, a]\n", "a.yaml:2:12: list[1]: expected at least 2 character(s)"],
  ["text: x\ninner:\n  password: y\n", "a.yaml:3:3: inner.a: required key is missing"],
  ["text: x\ninner: { password: y }\n", "a.yaml:2:8: inner.a: required key is missing"],
  ["text: x\neither: {id: 1, ie: 2}\n", 'a.yaml:2:17: either: unknown key "ie"; did you mean "id"?'],
  ["text: x\niner: {}\n", 'a.yaml:2:1: unknown key "iner"; did you mean "inner"?'],
  ["text: x\nwrod: x\n", 'a.yaml:2:1: unknown key "wrod"; did you mean "word"?'],
  ["text: x\nw: x\n", 'a.yaml:2:1: unknown key "w"'],
  ["text: x\nschedule: x\n", 'a.yaml:2:1: unknown key "schedule"'],
  ["text: x\neither: [1]\n", "a.yaml:2:1: either: invalid value"],
  [
    "d: &d {c: 1}\ntext: x\ninner: *d\n",
    'a.yaml:1:1: unknown key "d"\na.yaml:3:1: inner.a: required key is missing\na.yaml:3:1: inner: unknown key "c"',
  ],
])("%j: %s", async (text, expected) => {
  expect(await validate(text)).toBe(expected);
});

test("a key that could be a secret, written without a space after the colon, is not shown", async () => {
  expect(await validate("text: x\ninner: {a: y, password:hunter2, hunter2}\n")).toBe(
    "a.yaml:2:15: inner: unknown key\na.yaml:2:33: inner: unknown key",
  );
});
