import { expect, test } from "vitest";
import { ALERTS } from "./alert-rules.ts";
import { amtool, EXAMPLE, EXAMPLE_FILE } from "./amtool.ts";

const OURS_MATCHER = 'component="appliance-exporter"';
const RECEIVERS: Readonly<Record<string, string>> = { critical: "pager", warning: "tickets", info: "notes" };

test("amtool finds nothing wrong with the example", () => {
  expect(amtool("check-config", EXAMPLE_FILE)).toMatchObject({
    status: 0,
    output: expect.stringContaining("SUCCESS"),
  });
});

test.for(ALERTS.map(({ alert, labels }) => [alert, labels] as const))(
  "%s reaches the receiver of its severity",
  ([alert, labels]) => {
    const { severity = "" } = labels;
    const receiver = alert === "VrrpFailover" ? "failovers" : RECEIVERS[severity];
    const asked = [`alertname=${alert}`, ...labelsOf(labels), "ha_cluster=ams"];
    expect(amtool("config", "routes", "test", `--config.file=${EXAMPLE_FILE}`, ...asked)).toMatchObject({
      status: 0,
      output: receiver,
    });
  },
);

function labelsOf(labels: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}

test("our routes take no alert of others, however critical", () => {
  const foreign = ["alertname=ClusterHealthRed", "severity=critical", "ha_cluster=ams"];
  expect(amtool("config", "routes", "test", `--config.file=${EXAMPLE_FILE}`, ...foreign)).toMatchObject({
    status: 0,
    output: "others",
  });
});

test("every inhibition is bound to our alerts on both sides", () => {
  const bound = EXAMPLE.inhibit_rules.map(({ source_matchers, target_matchers }) =>
    [source_matchers, target_matchers].every((matchers) => matchers.includes(OURS_MATCHER)),
  );
  expect(bound.length).toBeGreaterThan(0);
  expect(bound).not.toContain(false);
});

test("wherever labels must be equal, both alerts must have them", () => {
  const optional = EXAMPLE.inhibit_rules.flatMap(({ source_matchers, target_matchers, equal = [] }) =>
    equal.filter((label) =>
      [source_matchers, target_matchers].some((matchers) => !matchers.includes(`${label}=~".+"`)),
    ),
  );
  expect(optional).toEqual([]);
});

test("every alert that the example names is one", () => {
  const matchers = EXAMPLE.inhibit_rules.flatMap((rule) => [
    ...rule.source_matchers,
    ...rule.target_matchers,
  ]);
  const named = matchers
    .flatMap((matcher) => /^alertname=~?"(.+)"$/.exec(matcher)?.[1] ?? [])
    .flatMap((pattern) => expand(pattern));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((each) => !ALERTS.some(({ alert }) => new RegExp(`^${each}$`).test(alert)))).toEqual(
    [],
  );
});

/** The alternatives of a pattern without nested groups: `A|B(C|D)` is A, BC, BD. */
function expand(pattern: string): readonly string[] {
  const alternatives = pattern.match(/(?:[^|(]|\([^)]*\))+/g) ?? [];
  return alternatives.flatMap((each) => {
    const [, before = "", group, after = ""] = /^([^(]*)\(([^)]*)\)(.*)$/.exec(each) ?? [];
    return group === undefined ? [each] : group.split("|").map((part) => before + part + after);
  });
}
