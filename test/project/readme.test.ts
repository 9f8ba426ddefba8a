import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/exporter/config/load.ts";
import { runAfter } from "../program/support.ts";
import { writeSetup } from "../support/exporter.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The code blocks of a language, without their indentation. */
function blocks(language: string): readonly string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\`$`, "gms");
  return Array.from(README.matchAll(fence), ([, indent = "", text = ""]) =>
    text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** The names of a configuration's appliances, or its errors. */
async function appliancesOf(yaml: string) {
  const folder = await writeSetup({ config: yaml, files: { password: "x" } });
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "config.yaml"), yaml.replace("secrets/monitor", "password"));
  const loaded = await loadConfig(join(folder, "config.yaml"));
  return loaded.ok ? loaded.config.appliances.map(({ name }) => name) : loaded.errors;
}

test("the first configuration in the README is valid", async () => {
  const [config = ""] = blocks("yaml");
  expect(await appliancesOf(config)).toEqual(["waf-ams-1", "waf-ams-2"]);
});

test("every command and flag in the README exists", async () => {
  const lines = blocks("sh").flatMap((block) => block.match(/^appliance-exporter .*$/gm) ?? []);
  expect(lines.length).toBeGreaterThanOrEqual(4);
  for (const line of lines) {
    const [, command = ""] = line.split(" ");
    const { out: help } = await runAfter(command, "--help");
    expect(help).toContain(`Usage: appliance-exporter ${command} `);
    for (const [flag] of line.matchAll(/--[\w.-]+/g)) expect(help).toContain(flag);
  }
});
