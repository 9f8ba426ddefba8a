import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { toolPath } from "../support/tool.ts";

/** A file of `promtool test rules`, as far as ours use it. */
export interface RuleTestFile {
  readonly rule_files: readonly string[];
  readonly evaluation_interval: string;
  readonly tests: readonly RuleTest[];
}

export interface RuleTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test?: readonly Check[];
  readonly alert_rule_test?: readonly {
    readonly eval_time: string;
    readonly alertname: string;
    readonly exp_alerts: readonly never[];
  }[];
}

/** What an expression gives at one time. */
export interface Check {
  readonly eval_time: string;
  readonly expr: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

export const RULE_TESTS = [
  "appliances",
  "availability",
  "dark",
  "exporter",
  "fleet",
  "gone",
  "soon",
  "vrrp",
  "websites",
] as const;

/** Where the rules and their tests lie. */
export const RULES = fileURLToPath(new URL("../../monitoring/prometheus/", import.meta.url));
export const TESTS = fileURLToPath(new URL("rules/", import.meta.url));

export function readRuleTests(name: string): RuleTestFile {
  return parse(readFileSync(join(TESTS, `${name}.yml`), "utf8"));
}

/** Runs promtool; `output` is all that it printed. */
export function promtool(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(toolPath("promtool"), args, { encoding: "utf8" });
  return { status, output: `${stdout}${stderr}`.trim() };
}

/** Runs tests that were made, not written; `rule_files` are relative to `TESTS` all the same. */
export function runRuleTests(tests: RuleTestFile) {
  const folder = mkdtempSync(join(tmpdir(), "appliance-exporter-rules-"));
  try {
    const file = join(folder, "tests.yml");
    const rule_files = tests.rule_files.map((name) => join(TESTS, name));
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ ...tests, rule_files }));
    return promtool("test", "rules", file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
