import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { promtool, RULE_TESTS, RULES, TESTS } from "./rule-tests.ts";

const tool = inject("promtool");
const path = tool.ok ? tool.path : "";
const named = (sentence: string): string => (tool.ok ? sentence : `${sentence} (${tool.reason})`);
const tried = test.skipIf(!tool.ok);

const ruleFiles = readdirSync(RULES).filter((file) => file.endsWith(".rules.yml"));

tried(named("promtool finds nothing wrong with the rules"), () => {
  const files = ruleFiles.map((file) => join(RULES, file));
  const { status, output } = promtool(path, "check", "rules", "--lint=all", "--lint-fatal", ...files);
  expect({ status, output }).toMatchObject({ status: 0 });
  expect(output.match(/SUCCESS/g)).toHaveLength(ruleFiles.length);
});

tried(named("the example configuration of Prometheus is valid and loads all rules"), () => {
  const { status, output } = promtool(path, "check", "config", join(RULES, "prometheus.yml"));
  expect({ status, output }).toMatchObject({ status: 0 });
  expect(output).toContain(`SUCCESS: ${ruleFiles.length} rule files found`);
});

tried.each(RULE_TESTS)(
  named("the rules fire and stay silent as test/monitoring/rules/%s.yml says"),
  { timeout: 120_000 },
  (file) => {
    const { status, output } = promtool(path, "test", "rules", join(TESTS, `${file}.yml`));
    expect(output).toMatch(/SUCCESS$/);
    expect(status).toBe(0);
  },
);
