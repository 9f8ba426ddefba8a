import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/exporter/config/load.ts";
import { matchingNames } from "../../../src/exporter/config/sources.ts";
import { configOf, createFolder, errorsOf } from "./folder.ts";

const lone = (name: string) => `appliances: [{ name: ${name}, base_url: "https://${name}" }]\n`;

test("files are loaded in the order of the patterns, sorted within each, without duplicates and dotfiles", async () => {
  const config = await configOf({
    "config.yaml": `${lone("main")}config_files: [z.yaml, "d/*.yaml", "d/b*"]\n`,
    "z.yaml": lone("z"),
    "d/b.yaml": lone("b"),
    "d/a.yaml": lone("a"),
    "d/.hidden.yaml": lone("hidden"),
    "d/a.yaml.bak": lone("bak"),
  });
  expect(config.appliances.map(({ name }) => name)).toEqual(["main", "z", "a", "b"]);
});

test.each([
  ['["d/*.yaml"]', 'config.yaml:1:16: config_files[0]: no file matches "d/*.yaml"'],
  ['["*.yaml"]', 'config.yaml:1:16: config_files[0]: no file matches "*.yaml"'],
  [
    '["*/a.yaml"]',
    "config.yaml:1:16: config_files[0]: expected the path of a file, with * only in its last part",
  ],
])("config_files: %s: %s", async (patterns, error) => {
  expect(await errorsOf({ "config.yaml": `config_files: ${patterns}\n` })).toEqual([error]);
});

test("included files contain only clusters and appliances, and the errors of all files are reported", async () => {
  expect(
    await errorsOf({
      "config.yaml": `${lone("main")}config_files: ["d/*"]\nx: 1\n`,
      "d/a.yaml": `polling: {}\nhttp_client: {}\nconfig_files: []\n${lone("a")}`,
      "d/b.yaml": "a: [",
      "d/d.yaml": "",
      "d/e/f.yaml": "",
    }),
  ).toEqual([
    "config.yaml:3:1: unknown key; expected polling, http_client, kind, website_discovery, website_targets, maintenance, clusters, appliances or config_files",
    'd/a.yaml:1:1: unknown key "polling" here; expected clusters or appliances',
    'd/a.yaml:2:1: unknown key "http_client" here; expected clusters or appliances',
    "d/a.yaml:3:1: unknown key; expected clusters or appliances",
    "d/b.yaml:1:5: expected ] before this: a [ above is not closed",
    "d/d.yaml:1:1: the file is empty",
    "d/e: it is not a regular file",
  ]);
});

test("paths of included files in errors are relative like the main file's", async () => {
  const folder = await createFolder({ "config.yaml": "config_files: [d/a.yaml]\n", "d/a.yaml": "x: 1\n" });
  const given = relative(resolve("."), folder);
  const result = await loadConfig(join(given, "config.yaml"));
  expect(result.ok ? [] : result.errors.map(({ file }) => file)).toEqual([join(given, "d/a.yaml")]);
});

test.each([
  ["a.yaml", ["a.yaml"]],
  ["*.yaml", ["a.yaml", "aba.yaml"]],
  ["a*b*", ["a+(b)c", "aba.yaml"]],
  ["ab*ba*", []],
  ["a+(b)*", ["a+(b)c"]],
  ["*", ["a+(b)c", "a.yaml", "aba.yaml", "c\nd"]],
  ["*\n*", ["c\nd"]],
])("%j matches %j", async (pattern, names) => {
  const folder = await createFolder({
    "a.yaml": "",
    ".a.yaml": "",
    "aba.yaml": "",
    "a+(b)c": "",
    "c\nd": "",
  });
  const read = await matchingNames(join(folder, pattern));
  expect(read).toEqual({ ok: true, text: names.join("/") });
});
