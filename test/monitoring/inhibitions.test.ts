import { expect, test } from "vitest";
import { PROBLEMS } from "../../src/exporter/judge/states.ts";
import { ALERTS, ALL_ALERTS, ALL_GROUPS } from "./alert-rules.ts";
import { EXAMPLE, silences } from "./inhibitions.ts";
import { PROBED } from "./probe-scenario.ts";
import { labelsOf } from "./rule-tests.ts";
import type { Expected } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Labels } from "./world.ts";

/** One of each alert, all about the same cluster, appliance, website, site and exporter. */
const SAME: Labels = {
  ha_cluster: "ams",
  site: "amsterdam",
  appliance: "a",
  website_id: "1",
  website: "shop",
  address: "shop.example:443",
  job: "appliance-exporter",
  instance: "one:1",
};
const fired = [...SCENARIOS, PROBED].flatMap(({ expected }) => expected.map(labelsOf));
const all: readonly Labels[] = fired.map((labels) => {
  const isOfCluster = labels["ha_cluster"] !== undefined;
  const same = Object.entries(SAME).filter(([name]) => name in labels || (name === "site" && isOfCluster));
  return { ...labels, ...Object.fromEntries(same) };
});

test("no alert silences one of higher severity", () => {
  const wrong = all.flatMap((source) =>
    all
      .filter(({ severity }) => source["severity"] === "warning" && severity === "critical")
      .filter((target) => silences(source, target))
      .map((target) => `${source["alertname"]} silences ${target["alertname"]}`),
  );
  expect(wrong).toEqual([]);
});

test("no alert silences the watchdog, also with external labels of Prometheus, and the watchdog silences none", () => {
  const watchdog = labelsOf({ alert: "ApplianceExporterWatchdog", labels: { site: "amsterdam" }, after: 0 });
  expect(all.filter((each) => silences(each, watchdog) || silences(watchdog, each))).toEqual([]);
});

test("no two alerts silence each other", () => {
  const pairs = all.flatMap((one) =>
    all
      .filter((other) => one["alertname"] !== other["alertname"])
      .filter((other) => silences(one, other) && silences(other, one))
      .map((other) => `${one["alertname"]} and ${other["alertname"]}`),
  );
  expect(pairs).toEqual([]);
});

function keepFiringSeconds({ alertname = "", severity }: Labels): number {
  const rule = ALL_ALERTS.find(({ alert, labels }) => alert === alertname && labels["severity"] === severity);
  const [, minutes = "0", seconds = "0"] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(rule?.keep_firing_for ?? "") ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

/** Whether the target cannot begin while the source fires: the rules say so, or it needs answers of the appliances. */
function beginsNothing({ alertname: source = "" }: Labels, { alertname: target = "" }: Labels): boolean {
  return (
    ["ApplianceExporterAbsent", "ClusterUnseen"].includes(source) ||
    ["WebsiteUnknown", "VrrpFlapping", "VrrpSplitBrain"].includes(target) ||
    (["SiteDark", "ClusterDark"].includes(source) && ["WebsitesDown", "VrrpFailover"].includes(target))
  );
}

/** How long an alert lasts after its cause: its expression may remember it. */
function lastsSeconds(labels: Labels): number {
  return keepFiringSeconds(labels) + (labels["alertname"] === "VrrpMastersDisputed" ? 75 : 0);
}

/** The longest interval of evaluations, within which two causes may end. Two groups are evaluated as far apart. */
function secondsApart(...alerts: readonly Labels[]): number {
  const groups = alerts.map(({ alertname }) =>
    ALL_GROUPS.find(({ rules }) => rules.some((rule) => "alert" in rule && rule.alert === alertname)),
  );
  return new Set(groups).size * 30;
}

test("an alert that silences others ends an evaluation after those that began behind it", () => {
  const wrong = all.flatMap((source) =>
    all
      .filter((target) => silences(source, target) && !beginsNothing(source, target))
      .filter((target) => keepFiringSeconds(source) < lastsSeconds(target) + secondsApart(source, target))
      .map((target) => `${source["alertname"]} ends before ${target["alertname"]}`),
  );
  expect([...new Set(wrong)]).toEqual([]);
});

test("no alert of another team is silenced or silences, whatever its name", () => {
  const red: Labels = { alertname: "ClusterHealthRed", severity: "critical", ...SAME };
  const foreign = [...all, red].map((labels): Labels => ({ ...labels, component: "" }));
  const wrong = foreign.flatMap((theirs) =>
    all.filter((ours) => silences(ours, theirs) || silences(theirs, ours)).map(() => theirs["alertname"]),
  );
  expect(wrong).toEqual([]);
});

test("an alert of another cluster, site or job is not silenced", () => {
  const [, ...rules] = EXAMPLE.inhibit_rules;
  expect(rules.filter(({ equal = [] }) => equal.length === 0)).toEqual([]);
  // Two labels that are both missing count as equal.
  const optional = rules.flatMap(({ source_matchers, target_matchers }) =>
    [source_matchers, target_matchers].filter((matchers) => !matchers.join().includes('=~".+"')),
  );
  expect(optional).toEqual([]);
});

function lasts({ after, until = Number.POSITIVE_INFINITY }: Expected, second: number): boolean {
  return after <= second && second < until;
}

test.for([...SCENARIOS, PROBED].map((scenario) => [scenario.name, scenario] as const))(
  "one message for one trouble: %s",
  ([, { expected }]) => {
    // From its beginning on, also where one alert that silences it follows another.
    const isSilenced = (target: Expected) => {
      const sources = expected.filter((source) => silences(labelsOf(source), labelsOf(target)));
      const changes = sources.flatMap(({ until = target.after }) => (lasts(target, until) ? [until] : []));
      return [target.after, ...changes].every((second) => sources.some((source) => lasts(source, second)));
    };
    const wrong = expected
      .filter((each) => isSilenced(each) !== (each.silenced ?? false))
      .map(({ alert, labels }) => `${alert} ${JSON.stringify(labels)}`);
    expect(wrong).toEqual([]);
  },
);

test("the status page and the alerts give a problem the same severity", () => {
  const shown = Object.values(PROBLEMS).flatMap((problem) =>
    // What is not known is a ticket, once it has lasted.
    "alert" in problem
      ? [[problem.alert, problem.severity === "unknown" ? "warning" : problem.severity]]
      : [],
  );
  const severities = new Set(ALERTS.map(({ alert, labels }) => `${alert} ${labels["severity"]}`));
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter(([alert = "", severity]) => !severities.has(`${alert} ${severity}`))).toEqual([]);
});
