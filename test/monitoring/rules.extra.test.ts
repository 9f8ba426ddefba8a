import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { promtool, RULE_TESTS, RULES, TESTS } from "./rule-tests.ts";

const ruleFiles = readdirSync(RULES).filter((file) => file.endsWith(".rules.yml"));

test("promtool finds nothing wrong with the rules", () => {
  const files = ruleFiles.map((file) => join(RULES, file));
  const { status, output } = promtool("check", "rules", "--lint=all", "--lint-fatal", ...files);
  expect({ status, output }).toMatchObject({ status: 0 });
  expect(output.match(/SUCCESS/g)).toHaveLength(ruleFiles.length);
});

test("the example configuration of Prometheus is valid and loads all rules", () => {
  const { status, output } = promtool("check", "config", join(RULES, "prometheus.yml"));
  expect({ status, output }).toMatchObject({ status: 0 });
  expect(output).toContain(`SUCCESS: ${ruleFiles.length} rule files found`);
});

test.for(RULE_TESTS)("the rules fire and stay silent as test/monitoring/rules/%s.yml says", (file) => {
  const { status, output } = promtool("test", "rules", join(TESTS, `${file}.yml`));
  expect(output).toMatch(/SUCCESS$/);
  expect(status).toBe(0);
});
