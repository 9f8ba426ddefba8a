import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ABOUT_APPLIANCES, ALERTS as MUTED_BY } from "../../src/exporter/judge/alerts.ts";
import { alertOf, PROBLEM_KINDS, PROBLEMS, type ProblemKind } from "../../src/exporter/judge/states.ts";
import { keysOf } from "../../src/support/keys.ts";
import { ALERTS, ALL_ALERTS, PROBES, RECORDS, RULES_TEXT } from "./alert-rules.ts";
import { FAMILIES, METRICS } from "./documented-metrics.ts";
import { joinsSeries, metricNames } from "./promql.ts";
import { SCENARIOS } from "./scenarios.ts";
import { PROBED_SITES } from "./site-scenarios.ts";

const PAGE = readFileSync(new URL("../../docs/alerting.md", import.meta.url), "utf8");
const METRICS_PAGE = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
const PLANNED = readFileSync(new URL("../../docs/planned-work.md", import.meta.url), "utf8");
const RUNBOOK = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
/** Where the Debian package has it. */
const PACKAGED = "file:///usr/share/doc/appliance-exporter/docs/runbook.md";
const names = new Set(ALERTS.map(({ alert }) => alert));

/** Metrics of each process, of Prometheus and of blackbox_exporter. */
const OTHER_METRICS = [
  "process_start_time_seconds",
  "up",
  "ALERTS",
  "ALERTS_FOR_STATE",
  "probe_http_status_code",
  "probe_success",
];

test("every alert fires in a scenario, and the scenarios name no other", () => {
  const fired = [...SCENARIOS, ...PROBED_SITES].flatMap(({ expected }) => expected.map(({ alert }) => alert));
  expect(new Set(fired)).toEqual(new Set(ALL_ALERTS.map(({ alert }) => alert)));
});

describe.each(ALL_ALERTS)("$alert", ({ alert, labels, annotations }) => {
  test("has a severity, the label of all our alerts, texts, and a section of the runbook", () => {
    const severities = alert === "ApplianceExporterWatchdog" ? ["none"] : ["critical", "warning"];
    expect(severities).toContain(labels["severity"]);
    expect(labels).toEqual({ severity: labels["severity"], component: "appliance-exporter" });
    const { status_url: status, incident_url: _, ...texts } = annotations;
    expect(Object.keys(texts)).toEqual(["summary", "description", "runbook_url"]);
    // The exporter serves the runbook. Where an alert is about an exporter, perhaps nobody answers.
    const base = status === undefined ? PACKAGED : "/runbook";
    const [, served, fragment = ""] =
      /^(.*)#(.+)$/.exec(texts["runbook_url"]?.replace(/^\{\{.*\}\}(?=\/)/, "") ?? "") ?? [];
    expect(served).toBe(base);
    expect([alert.toLowerCase(), "{{ $labels.kind }}"]).toContain(fragment);
    const [, section = ""] = RUNBOOK.split(`\n### ${alert}\n`);
    const [body = ""] = section.split("\n### ");
    const parts = [...body.matchAll(/^\*\*(\w+)\.\*\*\s+\S/gm)].map(([, part]) => part);
    expect(parts).toEqual(["Meaning", "Impact", "Do"]);
  });
});

test("no section of the runbook is about an alert that does not exist", () => {
  const sections = [...RUNBOOK.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name);
  expect(sections.toSorted()).toEqual([...new Set(ALL_ALERTS.map(({ alert }) => alert))].toSorted());
});

test("the exporter knows every alert", () => {
  expect(keysOf(MUTED_BY).toSorted()).toEqual([...names].toSorted());
});

const ABOUT: ReadonlySet<string> = new Set(ABOUT_APPLIANCES);

/** The kinds of problems that an alert selects. */
function kindsOf({ expr }: (typeof ALERTS)[number]): readonly ProblemKind[] {
  const found = expr.matchAll(/problem:(?:open|info)\{kind="(\w+)"\}/g);
  const selected = new Set(Array.from(found, ([, kind]) => kind));
  return PROBLEM_KINDS.filter((kind) => selected.has(kind));
}

/** As bad as the problem. What is not known is a ticket, once it has lasted. */
const SEVERITIES = { critical: "critical", warning: "warning", unknown: "warning" } as const;

test("each kind of problem has the alert of its table, with its severity, and no rule selects another one", () => {
  const inTable = PROBLEM_KINDS.flatMap((kind) => {
    const alert = alertOf(kind);
    return alert === undefined ? [] : [`${kind}: ${alert} ${SEVERITIES[PROBLEMS[kind].severity]}`];
  });
  // Others see it where one exporter cannot say it, or it is milder where probes answer.
  const beyond = [
    "polling_stuck: ApplianceExporterStuck warning",
    "exporter_blind: ApplianceExporterBlind critical",
  ];
  const byRules = ALERTS.filter(
    ({ labels, alert }) => !(alert === "ClusterDark" && labels["severity"] === "warning"),
  ).flatMap((rule) => kindsOf(rule).map((kind) => `${kind}: ${rule.alert} ${rule.labels["severity"]}`));
  const judged = byRules.filter(
    (line) =>
      !/: (VrrpFailover|VrrpMastersDisputed|ApplianceExporterStuck|ApplianceExporterBlind) /.test(line),
  );
  expect([...new Set([...judged, ...beyond])].toSorted()).toEqual(inTable.toSorted());
});

test("a problem names an appliance if its alert is about one, so that a window finds it", () => {
  const wrong = SCENARIOS.flatMap(({ expected }) => expected).filter(({ alert, labels }) => {
    const isKnown = keysOf(MUTED_BY).some((each) => each === alert);
    return isKnown && labels["appliance"] !== undefined && !ABOUT.has(alert);
  });
  expect(wrong).toEqual([]);
});

test("every metric in rules and annotations is documented or recorded", () => {
  const records = [...RECORDS, ...PROBES.records];
  const known = new Set([...METRICS, ...records.map(({ record }) => record), ...OTHER_METRICS]);
  const expressions = [...[...ALL_ALERTS, ...records].map(({ expr }) => expr), ...queries];
  expect(expressions.flatMap(metricNames).filter((metric) => !known.has(metric))).toEqual([]);
});

test("docs/metrics.md lists the families of the fleet that neither rules nor dashboard read", () => {
  const dashboard = readFileSync(
    new URL("../../monitoring/grafana/appliance-exporter.json", import.meta.url),
    "utf8",
  );
  const text = [RULES_TEXT, PROBES.text, dashboard].join("\n");
  const unread = FAMILIES.filter((name) => !name.startsWith("appliance_exporter_")).filter(
    (name) => !new RegExp(`\\b${name}\\b`).test(text),
  );
  const [, listed = ""] = /regex: >-\n +(\S+)\n/.exec(METRICS_PAGE) ?? [];
  expect(listed.split("|").toSorted()).toEqual(unread.toSorted());
});

const queries = ALL_ALERTS.flatMap(({ annotations }) => Object.values(annotations).flatMap(queriesOf));

test("a text of an alert has short queries, and joins no series", () => {
  expect(queries.length).toBeGreaterThan(40);
  expect(queries.filter((query) => query.length > 160 || joinsSeries(query))).toEqual([]);
});

test("an alert is read in ten seconds, and the rules have at most 317 lines", () => {
  const lines = [...RULES_TEXT.split("\n"), ...PROBES.text.split("\n")];
  expect(lines.filter((line) => line.length > 210)).toEqual([]);
  expect(ALERTS.filter(({ expr }) => expr.length > 400).map(({ alert }) => alert)).toEqual([]);
  expect(RULES_TEXT.trimEnd().split("\n").length).toBeLessThanOrEqual(317);
});

test("each text of an alert selects series of its own subject", () => {
  expect(queries.filter((query) => !query.includes('="filled in"'))).toEqual([
    // An alert that there is once, and one of exporters.
    'up{job=~".*appliance-exporter.*"}',
    'count by (site) (ha_cluster:unseen:info{site!=""})',
  ]);
});

/** The queries in a template, with a text in place of each label. */
function queriesOf(template: string): readonly string[] {
  return [...template.matchAll(/\bquery (?:\(printf )?("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) =>
    String(JSON.parse(text)).replaceAll(/%(\[\d\])?q/g, '"filled in"'),
  );
}

/** The cells of the table with this header. */
function tableIn(page: string, header: string): readonly (readonly string[])[] {
  const [, body = ""] = page.split(`\n${header}\n`);
  const [table = ""] = body.split("\n\n");
  const [, ...rows] = table.split("\n");
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("docs/alerting.md names every alert with its severity and how long it must last", () => {
  const documented = tableIn(PAGE, "| alert | severity | `for` |").map((row) => row.join(" | "));
  const actual = ALL_ALERTS.map((rule) => [rule.alert, rule.labels["severity"], rule.for ?? ""].join(" | "));
  expect(documented.toSorted()).toEqual(actual.toSorted());
});

test("docs/planned-work.md says which windows mute each alert", () => {
  const header =
    "| alert | in a window of a member | in a window of the cluster, the site, or an appliance that stands alone |";
  const words = {
    never: "stays stays",
    cluster: "stays muted",
    member: "muted muted",
    failovers: "muted muted",
  };
  const documented = tableIn(PLANNED, header).map((row) =>
    row.map((cell) => cell.replace(/,.*/, "")).join(" "),
  );
  const actual = keysOf(MUTED_BY).map((alert) => `${alert} ${words[MUTED_BY[alert]]}`);
  expect(documented).toEqual(actual);
});

test("the command that says where the packaged runbook is served finds it in the rules", () => {
  const [, from = ""] = /sed -i 's#(file:[^#]*)#/.exec(PAGE) ?? [];
  expect(from).toBe(PACKAGED);
});

test("no placeholder host is left in the rules", () => {
  expect(RULES_TEXT + PROBES.text).not.toMatch(/\.example\b/);
});
