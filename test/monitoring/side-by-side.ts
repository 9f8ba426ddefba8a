import type { Disturbance } from "./disturbances.ts";
import { expand, formatSeries, parseSeries, type Series } from "./promtool-series.ts";
import type { Check, RuleTest, RuleTestFile } from "./rule-tests.ts";

interface Plan {
  readonly disturbance: Disturbance;
  readonly scrapeSeconds: number;
  readonly evaluationSeconds: number;
}

/** Later checks would cost more than they tell. */
const LONGEST_MINUTES = 18;

/** Each test of a file, disturbed; expected is what it expects. */
export function oneByOne({ tests, ...file }: RuleTestFile, plan: Plan): RuleTestFile {
  return {
    ...file,
    evaluation_interval: `${plan.evaluationSeconds}s`,
    tests: tests.map((test) => disturbed(test.name, seriesOf(test, ""), test.promql_expr_test ?? [], plan)),
  };
}

/**
 * All tests of a file as one fleet, disturbed: each test has clusters and sites of its own there, so that one evaluation
 * serves them all. Expected is what the tests expect, and that nothing that fires has ended and begun anew.
 */
export function sideBySide({ tests, ...file }: RuleTestFile, plan: Plan): RuleTestFile {
  const parts = tests.map((test, index) => ({ test, prefix: `t${index}-` }));
  const tested = parts.flatMap(({ test, prefix }) => seriesOf(test, prefix));
  const series = [...tested, ...asManyHealthy(tested)];
  const checks = parts.flatMap(({ test, prefix }) => checksOf(test, prefix));
  return {
    ...file,
    evaluation_interval: `${plan.evaluationSeconds}s`,
    tests: [disturbed("side by side", series, checks, plan)],
  };
}

/** As many appliances that are up, so that those that are down are not most of the fleet: that is another alert. */
function asManyHealthy(tested: readonly Series[]): readonly Series[] {
  return tested
    .filter(({ metric }) => metric === "appliance_up")
    .map(({ metric, samples }, index) => ({
      metric,
      labels: { ha_cluster: `healthy-${index}`, appliance: `healthy-${index}` },
      samples: samples.map(() => 1),
    }));
}

function disturbed(
  name: string,
  series: readonly Series[],
  checks: readonly Check[],
  { disturbance, scrapeSeconds }: Plan,
): RuleTest {
  return {
    name,
    interval: `${scrapeSeconds}s`,
    input_series: disturbance(series).map((each) => ({
      series: formatSeries(each),
      values: each.samples.join(" "),
    })),
    promql_expr_test: checks,
  };
}

function seriesOf(test: RuleTest, prefix: string): readonly Series[] {
  return test.input_series.map(({ series, values }) => ({
    ...prefixed(series, prefix),
    samples: expand(values),
  }));
}

function prefixed(text: string, prefix: string): Omit<Series, "samples"> {
  const { metric, labels } = parseSeries(text);
  const entries = Object.entries(labels).map(([name, value]) =>
    name === "ha_cluster" || name === "site" ? [name, prefix + value] : [name, value],
  );
  return { metric, labels: Object.fromEntries(entries) };
}

function checksOf(test: RuleTest, prefix: string): readonly Check[] {
  return (test.promql_expr_test ?? [])
    .filter(({ eval_time }) => Number.parseInt(eval_time, 10) <= LONGEST_MINUTES)
    .flatMap(({ eval_time, expr, exp_samples }) => {
      const [, matchers = ""] = /^ALERTS\{(.*)\}$/.exec(expr) ?? [];
      const where = matchers.includes("SiteDark") ? "site" : "ha_cluster";
      const selector = `{${matchers},${where}=~"${prefix}.*"}`;
      return [
        {
          eval_time,
          expr: `ALERTS${selector}`,
          exp_samples: exp_samples.map(({ labels, value }) => ({
            labels: formatSeries(prefixed(labels, prefix)),
            value,
          })),
        },
        { eval_time, expr: `${beganAnew(selector)} > 0`, exp_samples: [] },
      ];
    });
}

/** How often in the last three minutes an alert that was there had gone and come back. */
function beganAnew(selector: string): string {
  return `changes(ALERTS_FOR_STATE${selector.replace(/,alertstate="\w+"/, "")}[3m])`;
}
