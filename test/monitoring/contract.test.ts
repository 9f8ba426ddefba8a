import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ALERTS, RECORDS } from "./alert-rules.ts";
import { METRICS } from "./documented-metrics.ts";
import { joinsSeries, metricNames } from "./promql.ts";
import { SCENARIOS } from "./scenarios.ts";

const PAGE = readFileSync(new URL("../../docs/alerting.md", import.meta.url), "utf8");
const RUNBOOK = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
const names = new Set(ALERTS.map(({ alert }) => alert));

/** Metrics of Prometheus and prom-client. */
const OTHER_METRICS = ["up", "ALERTS", "ALERTS_FOR_STATE"];

test("every alert fires in a scenario, and the scenarios name no other", () => {
  const fired = SCENARIOS.flatMap(({ expected }) => expected.map(({ alert }) => alert));
  expect(new Set(fired)).toEqual(names);
});

describe.each(ALERTS)("$alert", ({ alert, labels, annotations }) => {
  test("has a severity, the label of all our alerts, texts, and a section of the runbook", () => {
    expect(["critical", "warning"]).toContain(labels["severity"]);
    expect(labels).toEqual({ severity: labels["severity"], component: "appliance-exporter" });
    const { page: _, ...texts } = annotations;
    expect(Object.keys(texts)).toEqual(["summary", "description", "runbook_url"]);
    expect(annotations["runbook_url"]).toBe(
      `https://appliance-exporter.example/docs/runbook.md#${alert.toLowerCase()}`,
    );
    const [, section = ""] = RUNBOOK.split(`\n### ${alert}\n`);
    const [body = ""] = section.split("\n### ");
    const parts = [...body.matchAll(/^\*\*(\w+)\.\*\*\s+\S/gm)].map(([, part]) => part);
    expect(parts).toEqual(["Meaning", "Impact", "Do"]);
  });
});

test("no section of the runbook is about an alert that does not exist", () => {
  const sections = [...RUNBOOK.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name);
  expect(sections.toSorted()).toEqual([...names].toSorted());
});

test("every metric in rules and annotations is documented or recorded", () => {
  const known = new Set([...METRICS, ...RECORDS.map(({ record }) => record), ...OTHER_METRICS]);
  const annotations = ALERTS.flatMap((rule) => Object.values(rule.annotations));
  const expressions = [...[...ALERTS, ...RECORDS].map(({ expr }) => expr), ...annotations.flatMap(queriesOf)];
  expect(expressions.flatMap(metricNames).filter((metric) => !known.has(metric))).toEqual([]);
});

const queries = ALERTS.flatMap(({ annotations }) => Object.values(annotations).flatMap(queriesOf));

test("a text of an alert has short queries, and joins no series", () => {
  expect(queries.length).toBeGreaterThan(40);
  expect(queries.filter((query) => query.length > 160 || joinsSeries(query))).toEqual([]);
});

test("each text of an alert selects series of its own subject", () => {
  expect(queries.filter((query) => !query.includes('="filled in"'))).toEqual([
    // An alert that there is once, and one of exporters.
    'up{job=~".*appliance-exporter.*"}',
    "count by (site) (ALERTS{alertname='ClusterUnseen',site!=''})",
  ]);
});

/** The queries in a template, with a text in place of each label. */
function queriesOf(template: string): readonly string[] {
  return [...template.matchAll(/\bquery (?:\(printf )?("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) =>
    String(JSON.parse(text)).replaceAll(/%(\[\d\])?q/g, '"filled in"'),
  );
}

test("docs/alerting.md names every alert with its severity and how long it must last", () => {
  const [, table = ""] =
    /^\| alert \| severity \| `for` \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)*)/m.exec(PAGE) ?? [];
  const documented = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
        .join(" | "),
    );
  const actual = ALERTS.map((rule) => [rule.alert, rule.labels["severity"], rule.for ?? ""].join(" | "));
  expect(documented.toSorted()).toEqual(actual.toSorted());
});

test("the command that says where the runbook is changes every runbook_url", () => {
  const [, from = ""] = /sed -i 's#(https:[^#]*)#/.exec(PAGE) ?? [];
  expect(from).not.toBe("");
  expect(
    ALERTS.filter((rule) => !rule.annotations["runbook_url"]?.startsWith(`${from}docs/runbook.md#`)),
  ).toEqual([]);
});
