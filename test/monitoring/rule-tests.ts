import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolPath } from "../support/tool.ts";
import { ALL_ALERTS, GROUPS, RULES_TEXT } from "./alert-rules.ts";
import { EVENT, exportersIn, type Expected, type Scenario } from "./scenario.ts";
import { POLL_SECONDS } from "./judged.ts";
import { nameOf, scrape, type Labels, type Scraping } from "./world.ts";

/** Runs promtool; `output` is all that it printed. */
export function promtool(
  ...args: readonly string[]
): Promise<{ readonly hasFailed: boolean; readonly output: string }> {
  return new Promise((resolve) => {
    // With less garbage collection, tests take a third less of a processor; tests beside these go first.
    const env = { ...process.env, GOGC: "800" };
    const command = ["--adjustment=10", toolPath("promtool"), ...args];
    execFile("nice", command, { env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ hasFailed: error !== null, output: `${stdout}${stderr}`.trim() }),
    );
  });
}

const NAMES = GROUPS.map(({ name }) => name);

/** Texts take a quarter of the time of an evaluation. */
function withoutTexts(groups: typeof GROUPS): string {
  return JSON.stringify({
    groups: groups.map(({ rules, ...group }) => ({
      ...group,
      rules: rules.map((rule) => ({ ...rule, annotations: undefined })),
    })),
  });
}

/** Runs a test of `promtool test rules` against our rules, or these; evaluates the groups in their order, or this one. */
export async function testRules(
  evaluationSeconds: number,
  test: object,
  { rules = RULES_TEXT, order = NAMES } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-rules-"));
  try {
    const file = join(folder, "tests.yml");
    await writeFile(join(folder, "rules.yml"), rules);
    // JSON is YAML.
    await writeFile(
      file,
      JSON.stringify({
        rule_files: ["rules.yml"],
        group_eval_order: order,
        evaluation_interval: `${evaluationSeconds}s`,
        tests: [test],
      }),
    );
    return (await promtool("test", "rules", file)).output;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** All labels of an expected alert, except for the site of most clusters. */
function labelsOf({ alert, labels }: Expected): Labels {
  const severity = ALL_ALERTS.find((rule) => rule.alert === alert)?.labels["severity"] ?? "";
  return { alertname: alert, severity, component: "appliance-exporter", ...labels };
}

function firing({ alert, labels }: Expected): string {
  return `group by (alertname) (${nameOf("ALERTS", { alertstate: "firing", alertname: alert, ...labels })})`;
}

/**
 * What promtool says about which alerts fire, and when. If scrapes are lost, what a group takes of those before it is an
 * evaluation old, too: Prometheus evaluates groups in no order.
 */
export async function playScenario(
  scenario: Scenario,
  { seconds, losesScrapes }: Scraping,
  groups = GROUPS,
): Promise<string> {
  const { expected, ifScrapesAreLost = "", lastsSeconds, evaluatedEvery } = scenario;
  const evaluationSeconds = evaluatedEvery ?? seconds;
  const slack = evaluationSeconds * (losesScrapes ? 4 : 3) + POLL_SECONDS;
  // Windows of Prometheus 3 lack the sample at their beginning, and the last scrape before the event may be lost.
  const early = (losesScrapes ? 2 : 1) * seconds + POLL_SECONDS + 1;
  const end = lastsSeconds + slack;
  const checks = expected.flatMap((each) => {
    const alertname = `{alertname="${each.alert}"}`;
    const fires = Math.min(EVENT + each.after + slack, end);
    return [
      check(fires, firing(each), [alertname]),
      ...(each.after > early ? [check(EVENT + each.after - early, firing(each), [])] : []),
      ...(each.until === undefined
        ? []
        : [
            check(EVENT + Math.max(each.after + slack, each.until - 90), firing(each), [alertname]),
            check(EVENT + each.until + 90 + slack, firing(each), []),
          ]),
    ];
  });
  const others = losesScrapes ? ifScrapesAreLost : "";
  const ever = `group without (alertstate, component, site, kind, subject) (max_over_time(ALERTS{alertstate="firing",alertname!="${others}"}[1d]))`;
  const all = expected.map((each) => {
    const shown = Object.entries(labelsOf(each)).filter(([name]) => name !== "component" && name !== "site");
    return nameOf("", Object.fromEntries(shown));
  });
  const test = {
    interval: `${seconds}s`,
    input_series: scrape(await exportersIn(scenario), end, { seconds, losesScrapes }),
    promql_expr_test: [...checks, check(end, ever, [...new Set(all)])],
  };
  const names = groups.map(({ name }) => name);
  const order = losesScrapes ? names.toReversed() : names;
  return testRules(evaluationSeconds, test, { rules: withoutTexts(groups), order });
}

function check(second: number, expr: string, labels: readonly string[]) {
  return { eval_time: `${second}s`, expr, exp_samples: labels.map((each) => ({ labels: each, value: 1 })) };
}

interface Sent {
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** The texts of the expected alerts when they fire, as promtool shows them where none is expected. */
export async function textsOf(scenario: Scenario, groups = GROUPS): Promise<readonly Sent[]> {
  const { expected, lastsSeconds, evaluatedEvery } = scenario;
  const seconds = 15;
  const evaluationSeconds = evaluatedEvery ?? seconds;
  const shown = (after: number) => EVENT + (Math.ceil(after / evaluationSeconds) + 2) * evaluationSeconds;
  const times = new Map(expected.map(({ alert, after }) => [`${alert} ${shown(after)}`, { alert, after }]));
  const test = {
    interval: `${seconds}s`,
    input_series: scrape(await exportersIn(scenario), lastsSeconds, { seconds, losesScrapes: false }),
    alert_rule_test: Array.from(times.values(), ({ alert, after }) => ({
      eval_time: `${shown(after)}s`,
      alertname: alert,
      exp_alerts: [],
    })),
  };
  const order = groups.map(({ name }) => name);
  const output = await testRules(evaluationSeconds, test, { rules: JSON.stringify({ groups }), order });
  return [...output.matchAll(/Labels:(\{.*\})\s+Annotations:(\{.*\})/g)].map(
    ([, labels = "", annotations = ""]) => ({ labels: parse(labels), annotations: parse(annotations) }),
  );
}

function parse(text: string): Labels {
  const pairs = text.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g);
  return Object.fromEntries(Array.from(pairs, ([, name = "", value = '""']) => [name, JSON.parse(value)]));
}
