import { expect, test } from "vitest";
import type { FailureReason } from "../../../src/exporter/api/failure.ts";
import type { Fleet } from "../../../src/exporter/fleet/fleet.ts";
import { FLEET_FAMILIES } from "../../../src/exporter/metrics/families.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import {
  applianceOf,
  configOf,
  EXPIRES_AT_MS,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { fleetOf } from "../fleet/support.ts";
import { createJudge } from "../judge/support.ts";
import { windowOf } from "../maintenance/support.ts";
import { expositionOf, sampleLines } from "./canned-fleet.ts";

const WAF = applianceOf({ name: "waf", websites: [websiteOf({ id: 1, name: "shop" })] });
const VRRP_OK = seen.vrrp("waf", listOf([interfaceOf()]));
const WEBSITE_OK = seen.website("waf", 1, [{ protocol: "http", status: 200 }], { expiresAtMs: 80_000 });

function failedBy(reason: FailureReason): string {
  return `reason="${reason}"`;
}

function lines(observations: readonly Observation[], prefix: string, nowMs = 0): Promise<readonly string[]> {
  return samples(fleetOf([WAF], observations), prefix, nowMs);
}
/** Samples without the labels that all of them carry. */
async function samples(fleet: Fleet, prefix: string, nowMs = 0): Promise<readonly string[]> {
  const text = await expositionOf(fleet, nowMs);
  return sampleLines(text, prefix).map((line) => line.replace('appliance="waf",ha_cluster="waf"', "waf"));
}

test("rule 1: series of interfaces, and the anomalies, are there only while the latest poll of the list succeeded", async () => {
  expect(await lines([VRRP_OK], "vrrp_")).toHaveLength(9);
  expect(await lines([VRRP_OK], "appliance_api_anomalies")).toHaveLength(4);
  expect(await lines([VRRP_OK, failed.vrrp("waf", "decode")], "vrrp_")).toEqual([]);
  expect(await lines([VRRP_OK, failed.vrrp("waf", "decode")], "appliance_api_anomalies")).toEqual([]);
  expect(await lines([VRRP_OK, failed.vrrp("waf", "decode"), VRRP_OK], "vrrp_")).toHaveLength(9);
});

test("rule 1: series of a website are there only while its latest test succeeded, whatever the list does", async () => {
  const raw = async (...observations: readonly Observation[]) =>
    (await lines(observations, "website_")).filter((line) => !line.startsWith("website_state"));
  expect(await raw(WEBSITE_OK, failed.vrrp("waf", "connect"))).toHaveLength(3);
  expect(await raw(VRRP_OK, WEBSITE_OK, failed.website("waf", 1, "decode"))).toEqual([]);
  expect(
    await lines([VRRP_OK, WEBSITE_OK, failed.website("waf", 1, "decode")], "vrrp_is_master"),
  ).toHaveLength(1);
});

test("rule 1: after a failed poll the series about polling stay and show why", async () => {
  const failure = failed.vrrp("waf", "tls", { durationSeconds: 0.5, completedAtMs: WALL_MS + 5_000 });
  expect(await lines([VRRP_OK, failure], "appliance_")).toEqual([
    "appliance_up{waf} 0",
    'appliance_poll_success{waf,operation="vrrp"} 0',
    'appliance_poll_duration_seconds{waf,operation="vrrp"} 0.5',
    'appliance_last_success_timestamp_seconds{waf,operation="vrrp"} 1700000000',
    `appliance_poll_failure_info{waf,operation="vrrp",${failedBy("tls")}} 1`,
    'appliance_polls_total{waf,operation="vrrp"} 2',
    'appliance_polls_total{waf,operation="website_test"} 0',
    'appliance_poll_failures_total{waf,operation="vrrp"} 1',
    'appliance_poll_failures_total{waf,operation="website_test"} 0',
    "appliance_enabled{waf} 1",
    'appliance_state{waf,state="up"} 0',
    'appliance_state{waf,state="down"} 0',
    'appliance_state{waf,state="refused"} 1',
    'appliance_state{waf,state="unknown"} 0',
  ]);
});

test("rule 1: the latest of several reasons is the only one", async () => {
  const failures = [failed.vrrp("waf", "dns"), failed.vrrp("waf", "timeout"), failed.vrrp("waf", "auth")];
  expect(await lines(failures, "appliance_poll_failure_info")).toEqual([
    `appliance_poll_failure_info{waf,operation="vrrp",${failedBy("auth")}} 1`,
  ]);
});

test("rule 1: the poll counters are there from the loading of the configuration on, for website tests where there are websites", async () => {
  expect(await lines([], "")).toEqual([
    'appliance_polls_total{waf,operation="vrrp"} 0',
    'appliance_polls_total{waf,operation="website_test"} 0',
    'appliance_poll_failures_total{waf,operation="vrrp"} 0',
    'appliance_poll_failures_total{waf,operation="website_test"} 0',
    "appliance_enabled{waf} 1",
  ]);
  expect(await samples(fleetOf([{ ...WAF, websites: [] }]), "")).toEqual([
    'appliance_polls_total{waf,operation="vrrp"} 0',
    'appliance_poll_failures_total{waf,operation="vrrp"} 0',
    "appliance_enabled{waf} 1",
  ]);
});

test("rule 2: stalled polling takes the series of its operation away, and it is said why", async () => {
  const observations = [VRRP_OK, WEBSITE_OK];
  expect(await lines(observations, "vrrp_is_master", EXPIRES_AT_MS - 1)).toHaveLength(1);
  expect(await lines(observations, "appliance_up", EXPIRES_AT_MS - 1)).toEqual(["appliance_up{waf} 1"]);
  expect(await lines(observations, "vrrp_", EXPIRES_AT_MS)).toEqual([]);
  expect(await lines(observations, "appliance_api_anomalies", EXPIRES_AT_MS)).toEqual([]);
  expect(await lines(observations, "appliance_up", EXPIRES_AT_MS)).toEqual(["appliance_up{waf} 0"]);
  expect(await lines(observations, "appliance_poll_success", EXPIRES_AT_MS)).toEqual([
    'appliance_poll_success{waf,operation="vrrp"} 0',
    'appliance_poll_success{waf,operation="website_test",website_id="1",website="shop"} 1',
  ]);
  expect(await lines(observations, "appliance_poll_failure_info", EXPIRES_AT_MS)).toEqual([
    `appliance_poll_failure_info{waf,operation="vrrp",${failedBy("stalled")}} 1`,
  ]);
  expect(await lines(observations, "website_up", EXPIRES_AT_MS)).toHaveLength(1);
  expect(await lines(observations, "website_up", 80_000)).toEqual([]);
  expect((await lines(observations, "website_state", 80_000)).filter((line) => line.endsWith(" 1"))).toEqual([
    'website_state{ha_cluster="waf",website_id="1",website="shop",address="#1",protocol="http",state="unknown"} 1',
  ]);
  expect(
    (await lines(observations, "appliance_state", EXPIRES_AT_MS)).filter((line) => line.endsWith(" 1")),
  ).toEqual(['appliance_state{waf,state="unknown"} 1']);
});

test("rule 2: a rest of the schedule takes the series away too, with a reason of its own, until polling is stalled", async () => {
  const rest = { untilMs: WALL_MS + 60_000, stalledAtMs: 70_000 };
  const observations = [
    { ...VRRP_OK, rest },
    { ...WEBSITE_OK, expiresAtMs: EXPIRES_AT_MS, rest },
  ];
  const shop = 'operation="website_test",website_id="1",website="shop"';
  const linesAt = async (name: string, nowMs: number) =>
    (await lines(observations, name, nowMs)).filter((line) => !line.endsWith(" 0"));
  expect(await linesAt("appliance_poll_success", EXPIRES_AT_MS - 1)).toHaveLength(2);
  for (const name of ["vrrp_", "website_", "appliance_state", "ha_cluster_state", "appliance_up"])
    expect(await linesAt(name, EXPIRES_AT_MS)).toEqual([]);
  expect(await lines(observations, "appliance_poll_success", EXPIRES_AT_MS)).toEqual([
    'appliance_poll_success{waf,operation="vrrp"} 0',
    `appliance_poll_success{waf,${shop}} 0`,
  ]);
  expect(await linesAt("appliance_poll_failure_info", 69_999)).toEqual([
    `appliance_poll_failure_info{waf,operation="vrrp",${failedBy("not_scheduled")}} 1`,
    `appliance_poll_failure_info{waf,${shop},address="#1",reason="not_scheduled"} 1`,
  ]);
  expect(await linesAt("appliance_state", 70_000)).toEqual(['appliance_state{waf,state="unknown"} 1']);
  expect(await linesAt("appliance_poll_failure_info", 70_000)).toEqual([
    `appliance_poll_failure_info{waf,operation="vrrp",${failedBy("stalled")}} 1`,
    `appliance_poll_failure_info{waf,${shop},address="#1",reason="stalled"} 1`,
  ]);
});

test("rule 2: stalling replaces an older reason, and counts as no poll", async () => {
  const observations = [VRRP_OK, failed.vrrp("waf", "connect")];
  expect(await lines(observations, "appliance_poll_failure_info", EXPIRES_AT_MS)).toEqual([
    `appliance_poll_failure_info{waf,operation="vrrp",${failedBy("stalled")}} 1`,
  ]);
  expect((await lines(observations, "appliance_poll_failures_total", EXPIRES_AT_MS))[0]).toBe(
    'appliance_poll_failures_total{waf,operation="vrrp"} 1',
  );
});

test("rule 2: a poll that completes after all ends the stalling, without a change of its own", async () => {
  const fleet = fleetOf([WAF], [VRRP_OK]);
  expect(await samples(fleet, "appliance_up", EXPIRES_AT_MS)).toEqual(["appliance_up{waf} 0"]);
  const { changes } = fleet.record({ ...VRRP_OK, expiresAtMs: 2 * EXPIRES_AT_MS }, EXPIRES_AT_MS);
  expect(changes).toEqual([]);
  expect(await samples(fleet, "appliance_up", EXPIRES_AT_MS)).toEqual(["appliance_up{waf} 1"]);
});

test("rule 3: what is gone from an answer or from the configuration is gone at once", async () => {
  const fleet = fleetOf([WAF], [VRRP_OK, WEBSITE_OK]);
  fleet.record(seen.vrrp("waf", listOf([])), 0);
  expect(await samples(fleet, "vrrp_")).toEqual([]);
  fleet.configure(configOf({ ...WAF, websites: [] }), 0);
  expect(await samples(fleet, "website_")).toEqual([]);
  expect(sampleLines(await expositionOf(fleet)).filter((line) => line.includes("shop"))).toEqual([]);
  fleet.configure(configOf(), 0);
  expect(await expositionOf(fleet)).toBe("");
});

test("rule 3: counters go on across failed polls and reloads, under labels that change at once", async () => {
  const fleet = fleetOf([WAF], [VRRP_OK, seen.vrrp("waf", listOf([interfaceOf({ state: "BACKUP" })]))]);
  fleet.record(failed.vrrp("waf", "timeout"), 0);
  fleet.configure(configOf({ ...WAF, labels: { site: "ams" } }), 0);
  fleet.record(VRRP_OK, 0);
  expect(await samples(fleet, "vrrp_transitions_total")).toEqual([
    'vrrp_transitions_total{waf,site="ams",interface="carp0",vhid="2",vip="192.0.2.100"} 2',
  ]);
  expect((await samples(fleet, "appliance_polls_total"))[0]).toBe(
    'appliance_polls_total{waf,site="ams",operation="vrrp"} 4',
  );
});

test("rule 4: what is unknown is absent", async () => {
  const partial = interfaceOf({ priority: undefined, advskew: undefined, aliases: undefined });
  const names = (await lines([seen.vrrp("waf", listOf([partial]))], "vrrp_")).map(
    (line) => line.split("{")[0],
  );
  expect(names).toEqual([
    "vrrp_is_master",
    "vrrp_state",
    "vrrp_state",
    "vrrp_state",
    "vrrp_interface_info",
    "vrrp_transitions_total",
  ]);
});

test("rule 5: one appliance's failure changes no line of another's", async () => {
  const other = applianceOf({ name: "other" });
  const fleet = fleetOf([WAF, other], [VRRP_OK, seen.vrrp("other", listOf([interfaceOf()]))]);
  const of = async () =>
    sampleLines(await expositionOf(fleet)).filter((line) => line.includes('appliance="other"'));
  const before = await of();
  fleet.record(failed.vrrp("waf", "internal"), 0);
  expect(before).not.toEqual([]);
  expect(await of()).toEqual(before);
});

test("rule 6: the HELP of every polled family says that its values come from the latest poll, not from the scrape", () => {
  const polled = Object.entries(FLEET_FAMILIES).filter(
    ([name, { type }]) =>
      name !== "appliance_enabled" && (type === "gauge" || !name.startsWith("appliance_")),
  );
  const silent = polled.filter(
    ([, { help }]) => !/latest (website )?(poll|test)|last (succeeded|presented to a poll)/.test(help),
  );
  expect(silent.map(([name]) => name)).toEqual([]);
});

const DISCOVERING = { ...WAF, websites: [], discovery: { exclude: [], limit: 200 } };
const DISCOVERED = [VRRP_OK, seen.websites("waf", [1]), seen.details("waf", 1)];

/** The series that say something of the discovered website, or of the polls that found it. */
async function discovered(fleet: Fleet, nowMs = 0): Promise<readonly string[]> {
  const all = await samples(fleet, "", nowMs);
  return all.filter((line) =>
    /^website_(info|enabled|backend_ok|usable_backends|backends_state)|poll_success.*website_(list|details)/.test(
      line,
    ),
  );
}

test.each(["dns", "connect", "tls", "timeout", "proxy", "auth"] as const)(
  "rule 7: websites that an appliance described are known no more once its VRRP list fails with %s, until it answers again",
  async (reason) => {
    const fleet = fleetOf([DISCOVERING], DISCOVERED);
    const before = await discovered(fleet);
    expect(before).toHaveLength(10);
    fleet.record(failed.vrrp("waf", reason), 0);
    expect(await discovered(fleet)).toEqual([
      'appliance_poll_success{waf,operation="website_list"} 0',
      'appliance_poll_success{waf,operation="website_details"} 0',
    ]);
    expect(await samples(fleet, "appliance_poll_failure_info")).toEqual([
      `appliance_poll_failure_info{waf,operation="vrrp",${failedBy(reason)}} 1`,
      'appliance_poll_failure_info{waf,operation="website_list",reason="appliance_down"} 1',
      'appliance_poll_failure_info{waf,operation="website_details",reason="appliance_down"} 1',
    ]);
    fleet.record(failed.vrrp("waf", "decode"), 0);
    expect(await discovered(fleet)).toEqual(before);
  },
);

test("rule 7: neither a stalled list nor one that works again brings back what has expired meanwhile", async () => {
  const fleet = fleetOf([DISCOVERING], [...DISCOVERED, failed.vrrp("waf", "connect")]);
  const unknown = await discovered(fleet);
  const stalled = failed.vrrp("waf", "connect", { expiresAtMs: 1 });
  fleet.record(stalled, 0);
  expect(await discovered(fleet, 2)).toEqual(unknown);
  fleet.record({ ...VRRP_OK, expiresAtMs: 2 * EXPIRES_AT_MS }, EXPIRES_AT_MS);
  expect(await discovered(fleet, EXPIRES_AT_MS)).toEqual(unknown);
});

test("rule 7: websites that were read after the VRRP list failed are known until it fails again", async () => {
  const fleet = fleetOf(
    [DISCOVERING],
    [...DISCOVERED, failed.vrrp("waf", "connect"), seen.details("waf", 1)],
  );
  expect(await samples(fleet, "website_info")).toHaveLength(1);
  fleet.record(failed.vrrp("waf", "connect"), 0);
  expect(await samples(fleet, "website_info")).toEqual([]);
});

test("a window on another member is a risk of the appliance that would stop, with its own labels", async () => {
  const members = ["a", "b"].map((name) =>
    applianceOf({ name, cluster: "ams", labels: { site: "ams", rack: name } }),
  );
  const backup = interfaceOf({ state: "BACKUP", priority: 100, configuredRole: "backup" });
  const fleet = fleetOf(members, [seen.vrrp("a", listOf([interfaceOf()])), seen.vrrp("b", listOf([backup]))]);
  const judge = createJudge([
    windowOf({ appliances: ["b"] }),
    windowOf({ appliances: ["a"] }, { id: "onself00" }),
  ]);
  expect(sampleLines(await expositionOf(fleet, 0, judge), "failover_risk_info")).toEqual([
    'failover_risk_info{ha_cluster="ams",site="ams",appliance="a",rack="a",successor="b",risk="planned_elsewhere",effect="none",subject="patchnight"} 1',
  ]);
});
