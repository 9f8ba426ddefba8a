import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cutText } from "../../../src/exporter/api/text.ts";
import { promtool } from "../../monitoring/rule-tests.ts";

/** What promtool says about a rule with this label value in a string of PromQL. */
async function check(value: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-text-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "rules.yml");
  const query = `up{name="${value.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"}`;
  // YAML takes any character in this form.
  const escaped = Array.from(query, (char) => {
    return /[a-z]/.test(char) ? char : `\\U${char.codePointAt(0)?.toString(16).padStart(8, "0")}`;
  }).join("");
  await writeFile(file, `groups: [{ name: g, rules: [{ record: r, expr: "${escaped}" }] }]`);
  return (await promtool("check", "rules", file)).output;
}

test("PromQL takes every character that a cut text can contain, raw in a string", async () => {
  const every = Array.from({ length: 0x110000 }, (_, code) => cutText(String.fromCodePoint(code)));
  expect(await check(every.join(""))).toMatch(/SUCCESS: 1 rules found$/);
});

test("PromQL would reject U+FFFD", async () => {
  expect(await check("\uFFFD")).toMatch(/FAILED/);
});
