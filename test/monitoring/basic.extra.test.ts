import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createFleetExposition } from "../../src/exporter/metrics/exposition.ts";
import { createJudge, incidentsIn } from "../exporter/judge/support.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B } from "../exporter/fleet/support.ts";
import { interfaceOf, listOf, seen, WALL_MS, websiteOf } from "../support/observations.ts";
import { testRules } from "./rule-tests.ts";

const RULES = readFileSync(new URL("../../monitoring/prometheus/basic.yml", import.meta.url), "utf8");
const SHOP = websiteOf({ id: 2, name: "shop" });

/** What an exporter says of a pair with a split brain whose website is down. */
async function problemLines(): Promise<readonly string[]> {
  const members = [MEMBER_A, MEMBER_B].map((member) => ({ ...member, websites: [SHOP] }));
  const polls = ["a", "b"].flatMap((name) => [
    seen.vrrp(name, listOf([interfaceOf()])),
    seen.website(name, 2, [{ protocol: "https", status: 503 }]),
  ]);
  const fleet = fleetOf(members, polls);
  for (const observation of polls) fleet.record(observation, 1000);
  const at = { wallMs: WALL_MS + 1000, monotonicMs: 1000 };
  const judge = createJudge();
  const verdicts = clustersOf(fleet, 1000).map((facts) => judge.judge(facts, at).now);
  const text = (await createFleetExposition().render("", verdicts, incidentsIn(verdicts)))
    .map(String)
    .join("");
  return text.split("\n").filter((line) => line.startsWith("ha_cluster_problem"));
}

/** An alert that fires at a time. */
function alertAt(time: string, alertname: string, kind: string, subject: string, texts: object) {
  const labels = { ha_cluster: "ams", kind, subject, severity: "critical", component: "appliance-exporter" };
  return { eval_time: time, alertname, exp_alerts: [{ exp_labels: labels, exp_annotations: texts }] };
}

test("the five alerts for beginners say the sentences of the page", async () => {
  const lines = await problemLines();
  expect(lines.length).toBeGreaterThan(3);
  const output = await testRules(
    15,
    {
      interval: "15s",
      input_series: [...lines, "appliance_exporter_build_info 1"].map((line) => {
        const [, series = "", value = ""] = /^(.*) (\S+)$/.exec(line) ?? [];
        return { series: series.replace("{", '{instance="one:1",'), values: `${value}+0x20` };
      }),
      alert_rule_test: [
        alertAt("15s", "VrrpSplitBrain", "split_brain", "ams", {
          summary: "ams: a and b are both MASTER of 192.0.2.100.",
          description: "Visitors reach one of them by chance: fix the link between them, or stop VRRP on one",
        }),
        alertAt("75s", "WebsiteDown", "website_down", "#2", {
          summary: "ams: shop is down: 503 from a and b, each MASTER.",
          description:
            "Look behind the appliances: at its servers, and at what it shares with others that are down",
        }),
        { eval_time: "75s", alertname: "VrrpNoMaster", exp_alerts: [] },
        { eval_time: "75s", alertname: "ApplianceExporterAbsent", exp_alerts: [] },
      ],
    },
    { rules: RULES, order: ["appliance-exporter-basic"] },
  );
  expect(output).toMatch(/SUCCESS$/);
});
