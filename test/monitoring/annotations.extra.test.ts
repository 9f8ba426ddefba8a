import { expect, test } from "vitest";
import { ALERTS } from "./alert-rules.ts";
import { parseSeries } from "./promtool-series.ts";
import { readRuleTests, runRuleTests, type RuleTest } from "./rule-tests.ts";

interface Told {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Alerts as promtool tells them where it is told to expect none: each as it first fires in the files' tests. */
function toldIn(names: readonly string[]): readonly Told[] {
  const asked = new Set<string>();
  return names.flatMap((name) => {
    const file = readRuleTests(name);
    const tests = file.tests
      .map((each) => expectingNone(each, asked))
      .filter(({ alert_rule_test = [] }) => alert_rule_test.length > 0);
    return alertsIn(runRuleTests({ ...file, tests }).output);
  });
}

function expectingNone({ promql_expr_test = [], ...ruleTest }: RuleTest, asked: Set<string>): RuleTest {
  const alert_rule_test = promql_expr_test.flatMap(({ eval_time, exp_samples }) =>
    exp_samples.flatMap(({ labels }) => {
      const { alertname } = parseSeries(labels).labels;
      if (alertname === undefined || asked.has(alertname)) return [];
      asked.add(alertname);
      return { eval_time, alertname, exp_alerts: [] };
    }),
  );
  return { ...ruleTest, alert_rule_test };
}

function alertsIn(output: string): readonly Told[] {
  return [...output.matchAll(/Labels:(\{.*\})\s+Annotations:(\{.*\})/g)].map(
    ([, labels = "", annotations = ""]) => ({
      labels: parseSeries(labels).labels,
      annotations: parseSeries(annotations).labels,
    }),
  );
}

const WHERE = ["appliance", "ha_cluster", "site", "vip", "vhid", "website", "anomaly", "status"];

/** What is wrong with how an alert reads. */
function faultsOf({ labels, annotations }: Told): readonly string[] {
  const { summary = "", description = "" } = annotations;
  const text = `${summary} ${description}`;
  const unnamed = WHERE.filter((label) => {
    const value = labels[label];
    // The site of a cluster or an appliance is told by the label alone.
    const isSubject = label !== "site" || labels["alertname"] === "SiteDark";
    return isSubject && value !== undefined && !text.includes(value);
  });
  return [
    ...unnamed.map((label) => `does not name its ${label}`),
    ...(/<no value>|<error|%!|\{\{|NaN|\[\]/.test(text) ? ["has a broken template"] : []),
    ...(/\b(since|until|ended at|ends at|in the last|for two and a half minutes)\b/i.test(text)
      ? []
      : ["does not say when"]),
    ...(/ {2}| [.,;:]/.test(text) ? ["has odd spaces"] : []),
    ...(summary.length > 120 ? ["has a long summary"] : []),
  ].map((fault) => `${labels["alertname"]} ${fault}: ${text}`);
}

test("every alert reads well: what, where, since when, with no hole in it", () => {
  const told = toldIn(["appliances", "exporter", "vrrp", "websites", "fleet"]);
  expect(new Set(told.map(({ labels }) => labels["alertname"]))).toEqual(
    new Set(ALERTS.map(({ alert }) => alert)),
  );
  expect(told.flatMap(faultsOf)).toEqual([]);

  const descriptionOf = (alert: string) =>
    told.find(({ labels }) => labels["alertname"] === alert)?.annotations["description"];
  expect(descriptionOf("VrrpFailover")).toBe(
    "Failover: waf-2 took 192.0.2.100 (vhid 2) of cluster ams over from waf-1, master until 1970-01-01 00:03:45 +0000 UTC; find out what became of the former master, and whether somebody would take over next.",
  );
  expect(descriptionOf("ApplianceDown")).toBe(
    "No exporter has a good answer from waf-1 (cluster ams) since 1970-01-01 00:03:45 +0000 UTC; reason: connect. Ask it yourself: appliance-exporter poll waf-1",
  );
  expect(descriptionOf("WebsiteDown")).toBe(
    "No appliance finds shop (https, id 1, cluster ams) up since 1970-01-01 00:04:00 +0000 UTC; status seen (0: no HTTP response): waf-1 404 waf-2 503. Ask the website itself, past the appliances, to tell whether it or the way to it is broken.",
  );
});
