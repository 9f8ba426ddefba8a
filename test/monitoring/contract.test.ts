import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ALERTS, RECORDS } from "./alert-rules.ts";
import { METRICS, REASONS } from "./documented-metrics.ts";
import { metricNames } from "./promql.ts";
import { readRuleTests, RULE_TESTS, type Check, type RuleTest } from "./rule-tests.ts";

const RUNBOOK = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
const tests = RULE_TESTS.flatMap((file) => readRuleTests(file).tests);
const names = ALERTS.map(({ alert }) => alert);

/** Metrics of Prometheus and prom-client. */
const OTHER_METRICS = [
  "up",
  "ALERTS",
  "ALERTS_FOR_STATE",
  "process_cpu_seconds_total",
  "process_start_time_seconds",
];

function saysOf(alert: string, { expr }: Check): boolean {
  const [, operator, value = ""] = /alertname(=~|=)"([^"]*)"/.exec(expr) ?? [];
  return operator === undefined || new RegExp(`^(?:${value})$`).test(alert);
}

function fires({ promql_expr_test = [] }: RuleTest, alert: string): boolean {
  return promql_expr_test.some(({ exp_samples }) =>
    exp_samples.some(({ labels }) => labels.includes(`alertname="${alert}",alertstate="firing"`)),
  );
}

/** Whether a test says by its name that the alert does not fire, and asks for it. */
function staysSilent(each: RuleTest, alert: string): boolean {
  const asked = each.promql_expr_test?.some((check) => saysOf(alert, check)) ?? false;
  return asked && !fires(each, alert) && new RegExp(`\\bno ${alert}\\b`).test(each.name);
}

describe.each(ALERTS)("$alert", (rule) => {
  const { alert } = rule;

  test("has a test in which it fires, and one in which it does not", () => {
    expect(tests.filter((each) => fires(each, alert))).not.toEqual([]);
    expect(tests.filter((each) => staysSilent(each, alert))).not.toEqual([]);
  });

  test("has a severity, the label of all our alerts, and no label that tells exporters apart", () => {
    expect(["critical", "warning", "info"]).toContain(rule.labels["severity"]);
    expect(rule.labels).toEqual({ severity: rule.labels["severity"], component: "appliance-exporter" });
  });

  test("says what happened, and leads to its section of the runbook", () => {
    expect(Object.keys(rule.annotations)).toEqual(["summary", "description", "runbook_url"]);
    expect(rule.annotations["runbook_url"]).toBe(
      `https://appliance-exporter.example/docs/runbook.md#${alert.toLowerCase()}`,
    );
    expect(RUNBOOK).toContain(`\n### ${alert}\n`);
  });

  test("has a section with meaning, impact, diagnosis and remedy", () => {
    const [, section = ""] = RUNBOOK.split(`\n### ${alert}\n`);
    const [body = ""] = section.split("\n### ");
    const parts = [...body.matchAll(/^\*\*(\w+)\.\*\*\s+\S/gm)].map(([, part]) => part);
    expect(parts).toEqual(["Meaning", "Impact", "Diagnosis", "Remedy"]);
  });
});

test("no section of the runbook is about an alert that there is not", () => {
  const sections = [...RUNBOOK.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name);
  expect(sections.toSorted()).toEqual(names.toSorted());
});

test("no two rules record the same, but for their labels", () => {
  const recorded = RECORDS.map(({ record, labels = {} }) => `${record} ${JSON.stringify(labels)}`);
  expect(recorded.filter((each, index) => recorded.indexOf(each) !== index)).toEqual([]);
});

test("every metric in rules, annotations and runbook is documented or recorded", () => {
  const known = new Set([...METRICS, ...RECORDS.map(({ record }) => record), ...OTHER_METRICS]);
  const annotations = ALERTS.flatMap((rule) => Object.values(rule.annotations));
  const shown = [...RUNBOOK.matchAll(/^```promql\n([^]*?)^```/gm)].map(([, expr = ""]) => expr);
  const expressions = [
    ...[...ALERTS, ...RECORDS].map(({ expr }) => expr),
    ...annotations.flatMap(queriesOf),
    ...shown.flatMap((block) => block.trim().split("\n")),
  ];
  expect(expressions.flatMap(metricNames).filter((metric) => !known.has(metric))).toEqual([]);
});

test("every reason for a failed poll that a rule names is documented", () => {
  const rules = [...ALERTS, ...RECORDS].map(({ expr }) => expr).join("\n");
  const matchers = rules.matchAll(/appliance_poll_failure_info\{[^}]*\breason(?:!=|=~|!~|=)"([^"]*)"/g);
  const reasons = [...matchers].flatMap(([, value = ""]) => value.split("|"));
  expect(reasons.length).toBeGreaterThan(5);
  expect(reasons.filter((reason) => !REASONS.has(reason))).toEqual([]);
});

/** The queries in a template, with a text in place of each label. */
function queriesOf(template: string): readonly string[] {
  return [...template.matchAll(/\bquery (?:\(printf )?("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) =>
    String(JSON.parse(text)).replaceAll("%q", '"filled in"'),
  );
}
