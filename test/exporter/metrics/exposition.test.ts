import { expect, test } from "vitest";
import { createFleet } from "../../../src/exporter/fleet/fleet.ts";
import { createFleetExposition } from "../../../src/exporter/metrics/exposition.ts";
import { FLEET_FAMILIES } from "../../../src/exporter/metrics/families.ts";
import type { Family } from "../../../src/exporter/metrics/family.ts";
import type { ClusterVerdict } from "../../../src/exporter/judge/verdict.ts";
import { fleetOf } from "../fleet/support.ts";
import { createJudge } from "../judge/support.ts";
import { applianceOf, configOf, interfaceOf, listOf, seen } from "../../support/observations.ts";
import {
  cannedFleet,
  completeExposition,
  discoveredText,
  expositionOf,
  failedOverText,
  READ_AT_MS,
  sampleLines,
  textOf,
  verdictsOf,
} from "./canned-fleet.ts";
import { parseExposition } from "./strict-parser.ts";

test("websites that are discovered are exported as this text, and no more", async () => {
  const text = await discoveredText();
  expect(sampleLines(withPresentStates(text), "website_")).toEqual(DISCOVERED.split("\n"));
  expect(sampleLines(text, "appliance_api_anomalies")).toEqual([
    'appliance_api_anomalies{appliance="waf-1",ha_cluster="ams",site="ams",anomaly="bad_website"} 1',
    'appliance_api_anomalies{appliance="waf-2",ha_cluster="ams",site="ams",anomaly="bad_website"} 0',
  ]);
});

test("the canned fleet is exported as this text, and no more, in each scrape", async () => {
  const exposition = createFleetExposition();
  const { fleet, judge } = cannedFleet();
  const verdicts = verdictsOf(fleet, READ_AT_MS, judge);
  const text = await textOf(exposition, verdicts, "# preamble\n");
  expect(withPresentStates(text)).toBe(`# preamble\n${EXPECTED}`);
  expect(`# preamble\n${await textOf(exposition, verdicts)}`).toBe(text);
});

/** The text without the states of which a subject is not. */
function withPresentStates(text: string): string {
  return text.replaceAll(/^.*,state="[^"]*"\} 0\n/gm, "");
}

test.each([
  ["vrrp_state", "MASTER BACKUP other"],
  [
    "vrrp_group_state",
    "one_master backup_unknown backup_lost no_backup split_brain no_master unknown unwatched changing",
  ],
  ["website_state", "up unstable partially_down down_at_master down unknown", "down_at_master"],
  ["website_backends_state", "ok some_down none_usable none_usable_but_up", "none_usable_but_up"],
  ["appliance_state", "up down refused unknown"],
  ["ha_cluster_state", "up degraded dark unknown", "degraded"],
  ["appliance_failover_state", "ready losses outage unknown"],
])("%s has each state of each subject, one of them 1: %s", async (family, states, notOfAll = "") => {
  const { fleet, judge } = cannedFleet();
  const text = await textOf(createFleetExposition(), verdictsOf(fleet, READ_AT_MS, judge));
  const found = Array.from(
    `${text}${await discoveredText()}`.matchAll(new RegExp(`^${family}\\{.*state="(.*)"\\} ([01])$`, "gm")),
    ([, state = "", value]) => ({ state, value }),
  );
  const [first = ""] = states.split(" ");
  const ofSubjects = found
    .map(({ state }) => state)
    .join(" ")
    .split(new RegExp(` (?=${first}\\b)`));
  expect(ofSubjects).toHaveLength(found.filter(({ value }) => value === "1").length);
  // A state that cannot occur in a cluster has no series there.
  expect([states, states.replace(new RegExp(` ${notOfAll}\\b`), "")]).toEqual(
    expect.arrayContaining(ofSubjects),
  );
});

test("a bug in a family takes away its series of that kind of part only, and is reported", async () => {
  const bugs: unknown[] = [];
  const broken: Family = {
    type: "gauge",
    help: "Broken.",
    samples: {
      vrrp: ({ identity: { appliance } }) => {
        if (appliance === "b") throw new Error("bug");
        return [{ labels: [], value: 1 }];
      },
    },
  };
  const exposition = createFleetExposition({
    families: { broken, ...FLEET_FAMILIES },
    onBug: (error) => bugs.push(error),
  });
  const fleet = fleetOf([applianceOf({ name: "a" }), applianceOf({ name: "b" })]);
  fleet.record(seen.vrrp("a", listOf([interfaceOf()])), 0);
  fleet.record(seen.vrrp("b", listOf([interfaceOf()])), 0);
  const text = await textOf(exposition, verdictsOf(fleet, 0));
  expect(sampleLines(text, "broken")).toEqual(['broken{appliance="a",ha_cluster="a"} 1']);
  expect(sampleLines(text, "vrrp_is_master")).toHaveLength(2);
  expect(bugs).toEqual([new Error("bug")]);
});

test("what stays as it is is rendered once, and again after its cluster was away", async () => {
  const rendered: string[] = [];
  const watched: Family = {
    type: "gauge",
    help: "Watched.",
    samples: { vrrp: ({ identity }) => (rendered.push(identity.appliance), []) },
  };
  const exposition = createFleetExposition({ families: { watched } });
  const fleet = fleetOf([applianceOf({ name: "a" }), applianceOf({ name: "b" })]);
  const [judge, scrape] = [
    createJudge(),
    (verdicts: readonly ClusterVerdict[]) => textOf(exposition, verdicts),
  ];
  await scrape(verdictsOf(fleet, 0, judge));
  fleet.record(seen.vrrp("b", listOf([interfaceOf()])), 0);
  await scrape(verdictsOf(fleet, 0, judge));
  expect(rendered).toEqual(["a", "b", "b"]);
  await scrape(verdictsOf(fleet, 0, judge));
  expect(rendered).toEqual(["a", "b", "b"]);
  await scrape([]);
  await scrape(verdictsOf(fleet, 0, judge));
  expect(rendered).toEqual(["a", "b", "b", "a", "b"]);
});

test("no metric family appears twice, not even in the exporter's own metrics", async () => {
  const names = parseExposition(await completeExposition()).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(40);
  expect(new Set(names).size).toBe(names.length);
});

test("an empty fleet is an empty text", async () => {
  expect(await expositionOf(createFleet())).toBe("");
});

const DISCOVERED = `website_info{appliance="waf-1",ha_cluster="ams",site="ams",website_id="7",website="shop",host="shop.example",port="443",protocol="both",mode="protect"} 1
website_info{appliance="waf-2",ha_cluster="ams",site="ams",website_id="1",website="blog",host="",port="",protocol="unknown",mode="protect"} 1
website_info{appliance="waf-2",ha_cluster="ams",site="ams",website_id="8",website="shop",host="shop.example",port="443",protocol="both",mode="pass"} 1
website_enabled{appliance="waf-1",ha_cluster="ams",site="ams",website_id="7",website="shop"} 1
website_enabled{appliance="waf-2",ha_cluster="ams",site="ams",website_id="1",website="blog"} 1
website_enabled{appliance="waf-2",ha_cluster="ams",site="ams",website_id="8",website="shop"} 1
website_backend_ok{appliance="waf-1",ha_cluster="ams",site="ams",website_id="7",website="shop",address="shop.example:443",backend="192.0.2.81:8080",role="active"} 0
website_backend_ok{appliance="waf-1",ha_cluster="ams",site="ams",website_id="7",website="shop",address="shop.example:443",backend="[2001:db8::1]:443",role="backup"} 1
website_backend_ok{appliance="waf-2",ha_cluster="ams",site="ams",website_id="8",website="shop",address="shop.example:443",backend="192.0.2.81:8080",role="active"} 1
website_backends_left_out{appliance="waf-1",ha_cluster="ams",site="ams"} 0
website_backends_left_out{appliance="waf-2",ha_cluster="ams",site="ams"} 0
website_usable_backends{appliance="waf-1",ha_cluster="ams",site="ams",website_id="7",website="shop"} 1
website_usable_backends{appliance="waf-2",ha_cluster="ams",site="ams",website_id="8",website="shop"} 1
website_backends_state{ha_cluster="ams",site="ams",website_id="7",website="shop",address="shop.example:443",state="some_down"} 1`;

const EXPECTED = `# HELP vrrp_is_master Whether state_current of the VRRP interface is MASTER (1) or not (0). From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_is_master gauge
vrrp_is_master{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100"} 1
vrrp_is_master{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100"} 0
vrrp_is_master{appliance="odd",ha_cluster="odd",interface="carp0",vhid="2",vip="192.0.2.100"} 0
vrrp_is_master{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64"} 1
# HELP vrrp_priority Priority of the VRRP interface as reported, 0 to 255. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_priority gauge
vrrp_priority{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100"} 204
vrrp_priority{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100"} 100
vrrp_priority{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64"} 204
# HELP vrrp_advskew Advertising skew of the VRRP interface as reported, -1 to 254. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_advskew gauge
vrrp_advskew{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100"} 50
vrrp_advskew{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100"} 154
vrrp_advskew{appliance="odd",ha_cluster="odd",interface="carp0",vhid="2",vip="192.0.2.100"} 50
vrrp_advskew{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64"} 51
# HELP vrrp_aliases Number of IP aliases of the VRRP interface. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_aliases gauge
vrrp_aliases{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100"} 0
vrrp_aliases{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100"} 2
vrrp_aliases{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64"} 0
# HELP vrrp_state Whether state_current of the VRRP interface is that of the label state. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_state gauge
vrrp_state{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100",state="MASTER"} 1
vrrp_state{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100",state="BACKUP"} 1
vrrp_state{appliance="odd",ha_cluster="odd",interface="carp0",vhid="2",vip="192.0.2.100",state="other"} 1
vrrp_state{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64",state="MASTER"} 1
# HELP vrrp_interface_info Further facts of the VRRP interface as reported; always 1. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_interface_info gauge
vrrp_interface_info{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100",device="eth1",netmask="255.255.255.0",peer="224.0.0.18",configured_role="master"} 1
vrrp_interface_info{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100",device="eth1",netmask="255.255.255.0",peer="224.0.0.18",configured_role="backup"} 1
vrrp_interface_info{appliance="odd",ha_cluster="odd",interface="carp0",vhid="2",vip="192.0.2.100",device="",netmask="255.255.255.0",peer="",configured_role="master"} 1
vrrp_interface_info{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64",device="eth1",netmask="255.255.255.0",peer="224.0.0.18",configured_role=""} 1
# HELP carp_demotion CARP demotion of the appliance, which adds to the advertising skews of all its interfaces; where it is not 0, vrrp_priority is absent. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE carp_demotion gauge
carp_demotion{appliance="odd",ha_cluster="odd"} 240
# HELP vrrp_transitions_total Changes of state_current against the last successful poll, since the interface was first seen. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_transitions_total counter
vrrp_transitions_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100"} 1
vrrp_transitions_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100"} 1
vrrp_transitions_total{appliance="odd",ha_cluster="odd",interface="carp0",vhid="2",vip="192.0.2.100"} 0
vrrp_transitions_total{appliance="odd",ha_cluster="odd",interface="carp1",vhid="3",vip="2001:db8::64"} 0
# HELP vrrp_last_transition_timestamp_seconds When the latest change of state_current was seen, as Unix time; absent before the first. From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.
# TYPE vrrp_last_transition_timestamp_seconds gauge
vrrp_last_transition_timestamp_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",interface="carp0",vhid="2",vip="192.0.2.100"} 1700000005.25
vrrp_last_transition_timestamp_seconds{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",interface="carp0",vhid="2",vip="192.0.2.100"} 1700000000
# HELP vrrp_group_masters Members of the VRRP group known to be MASTER. From the latest polls of the members' VRRP lists, not from the scrape.
# TYPE vrrp_group_masters gauge
vrrp_group_masters{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface=""} 1
# HELP vrrp_group_backups Members of the VRRP group known to be BACKUP. From the latest polls of the members' VRRP lists, not from the scrape.
# TYPE vrrp_group_backups gauge
vrrp_group_backups{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface=""} 1
# HELP vrrp_group_unknown_members Appliances whose VRRP list is not known now and that were last seen in the group, or never seen at all. From the latest polls of the members' VRRP lists, not from the scrape.
# TYPE vrrp_group_unknown_members gauge
vrrp_group_unknown_members{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface=""} 0
# HELP vrrp_group_preferred_master Whether the one MASTER of the VRRP group is its preferred member; absent unless there is exactly one. From the latest polls of the members' VRRP lists, not from the scrape.
# TYPE vrrp_group_preferred_master gauge
vrrp_group_preferred_master{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface=""} 1
# HELP website_http_status Status code of the website's response to HEAD; 0 if the appliance got no HTTP response. From the latest website test by the appliance, not from the scrape; absent unless that poll succeeded.
# TYPE website_http_status gauge
website_http_status{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",website_id="1",website="shop",address="#1",protocol="http"} 301
website_http_status{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",website_id="1",website="shop",address="#1",protocol="https"} 200
website_http_status{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",website_id="1",website="shop",address="#1",protocol="http"} 200
website_http_status{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",website_id="1",website="shop",address="#1",protocol="https"} 0
# HELP website_up Whether the website's status is among those expected. From the latest website test by the appliance, not from the scrape; absent unless that poll succeeded.
# TYPE website_up gauge
website_up{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",website_id="1",website="shop",protocol="http"} 1
website_up{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",website_id="1",website="shop",protocol="https"} 1
website_up{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",website_id="1",website="shop",protocol="http"} 1
website_up{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",website_id="1",website="shop",protocol="https"} 0
# HELP website_status_changes_total Changes of the website's status against the last successful poll, since it was first seen. From the latest website test by the appliance, not from the scrape; absent unless that poll succeeded.
# TYPE website_status_changes_total counter
website_status_changes_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",website_id="1",website="shop",protocol="http"} 0
website_status_changes_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",website_id="1",website="shop",protocol="https"} 0
website_status_changes_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",website_id="1",website="shop",protocol="http"} 0
website_status_changes_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",website_id="1",website="shop",protocol="https"} 1
# HELP appliance_up Whether the latest poll of the appliance's VRRP list succeeded; not from the scrape.
# TYPE appliance_up gauge
appliance_up{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1"} 1
appliance_up{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2"} 1
appliance_up{appliance="failed",ha_cluster="fra"} 0
appliance_up{appliance="locked",ha_cluster="locked"} 0
appliance_up{appliance="odd",ha_cluster="odd"} 1
# HELP appliance_poll_success Whether the latest poll of the operation succeeded; not from the scrape.
# TYPE appliance_poll_success gauge
appliance_poll_success{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="vrrp"} 1
appliance_poll_success{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="website_test",website_id="1",website="shop"} 1
appliance_poll_success{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="vrrp"} 1
appliance_poll_success{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="website_test",website_id="1",website="shop"} 1
appliance_poll_success{appliance="failed",ha_cluster="fra",operation="vrrp"} 0
appliance_poll_success{appliance="locked",ha_cluster="locked",operation="vrrp"} 0
appliance_poll_success{appliance="locked",ha_cluster="locked",operation="website_test",website_id="3",website="3"} 0
appliance_poll_success{appliance="odd",ha_cluster="odd",operation="vrrp"} 1
# HELP appliance_poll_duration_seconds How long the latest poll of the operation took, from name lookup to last byte; not the scrape.
# TYPE appliance_poll_duration_seconds gauge
appliance_poll_duration_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="vrrp"} 0.125
appliance_poll_duration_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="website_test",website_id="1",website="shop"} 0.25
appliance_poll_duration_seconds{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="vrrp"} 0.25
appliance_poll_duration_seconds{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="website_test",website_id="1",website="shop"} 0.25
appliance_poll_duration_seconds{appliance="failed",ha_cluster="fra",operation="vrrp"} 0.001
appliance_poll_duration_seconds{appliance="locked",ha_cluster="locked",operation="vrrp"} 0.25
appliance_poll_duration_seconds{appliance="locked",ha_cluster="locked",operation="website_test",website_id="3",website="3"} 0
appliance_poll_duration_seconds{appliance="odd",ha_cluster="odd",operation="vrrp"} 0.25
# HELP appliance_last_success_timestamp_seconds When a poll of the operation last succeeded, as Unix time, not when it was scraped; absent before the first.
# TYPE appliance_last_success_timestamp_seconds gauge
appliance_last_success_timestamp_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="vrrp"} 1700000005.25
appliance_last_success_timestamp_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="website_test",website_id="1",website="shop"} 1700000000
appliance_last_success_timestamp_seconds{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="vrrp"} 1700000000
appliance_last_success_timestamp_seconds{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="website_test",website_id="1",website="shop"} 1700000000
appliance_last_success_timestamp_seconds{appliance="failed",ha_cluster="fra",operation="vrrp"} 1700000000
appliance_last_success_timestamp_seconds{appliance="odd",ha_cluster="odd",operation="vrrp"} 1700000000
# HELP appliance_poll_failure_info 1 while the latest poll of the operation, not the scrape, has failed, with the one reason.
# TYPE appliance_poll_failure_info gauge
appliance_poll_failure_info{appliance="failed",ha_cluster="fra",operation="vrrp",reason="connect"} 1
appliance_poll_failure_info{appliance="locked",ha_cluster="locked",operation="vrrp",reason="auth"} 1
appliance_poll_failure_info{appliance="locked",ha_cluster="locked",operation="website_test",website_id="3",website="3",address="#3",reason="appliance_down"} 1
# HELP appliance_polls_total Polls of the operation since the appliance was configured.
# TYPE appliance_polls_total counter
appliance_polls_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="vrrp"} 2
appliance_polls_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="website_test"} 1
appliance_polls_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="vrrp"} 2
appliance_polls_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="website_test"} 2
appliance_polls_total{appliance="failed",ha_cluster="fra",operation="vrrp"} 2
appliance_polls_total{appliance="locked",ha_cluster="locked",operation="vrrp"} 1
appliance_polls_total{appliance="locked",ha_cluster="locked",operation="website_test"} 1
appliance_polls_total{appliance="odd",ha_cluster="odd",operation="vrrp"} 1
# HELP appliance_poll_failures_total Failed polls of the operation since the appliance was configured.
# TYPE appliance_poll_failures_total counter
appliance_poll_failures_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="vrrp"} 0
appliance_poll_failures_total{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",operation="website_test"} 0
appliance_poll_failures_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="vrrp"} 0
appliance_poll_failures_total{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",operation="website_test"} 0
appliance_poll_failures_total{appliance="failed",ha_cluster="fra",operation="vrrp"} 1
appliance_poll_failures_total{appliance="locked",ha_cluster="locked",operation="vrrp"} 1
appliance_poll_failures_total{appliance="locked",ha_cluster="locked",operation="website_test"} 1
appliance_poll_failures_total{appliance="odd",ha_cluster="odd",operation="vrrp"} 0
# HELP appliance_api_anomalies Deviations from the API in the latest polled lists and details, not in the scrape; absent unless those polls succeeded.
# TYPE appliance_api_anomalies gauge
appliance_api_anomalies{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",anomaly="unknown_state"} 0
appliance_api_anomalies{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",anomaly="advskew_mismatch"} 0
appliance_api_anomalies{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",anomaly="bad_interface"} 0
appliance_api_anomalies{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",anomaly="bad_field"} 0
appliance_api_anomalies{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",anomaly="unknown_state"} 0
appliance_api_anomalies{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",anomaly="advskew_mismatch"} 0
appliance_api_anomalies{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",anomaly="bad_interface"} 0
appliance_api_anomalies{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",anomaly="bad_field"} 0
appliance_api_anomalies{appliance="odd",ha_cluster="odd",anomaly="unknown_state"} 1
appliance_api_anomalies{appliance="odd",ha_cluster="odd",anomaly="advskew_mismatch"} 1
appliance_api_anomalies{appliance="odd",ha_cluster="odd",anomaly="bad_interface"} 1
appliance_api_anomalies{appliance="odd",ha_cluster="odd",anomaly="bad_field"} 2
# HELP appliance_tls_certificate_not_after_timestamp_seconds End of validity, as Unix time, of the certificate the appliance last presented to a poll, trusted or not.
# TYPE appliance_tls_certificate_not_after_timestamp_seconds gauge
appliance_tls_certificate_not_after_timestamp_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1"} 1800000000
# HELP appliance_tls_chain_not_after_timestamp_seconds Earliest end of validity, as Unix time, in the chain of the certificate last presented to a poll, up to the authority; of a pinned one, its own.
# TYPE appliance_tls_chain_not_after_timestamp_seconds gauge
appliance_tls_chain_not_after_timestamp_seconds{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1"} 1790000000
# HELP vrrp_group_state State of the VRRP group: 1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.
# TYPE vrrp_group_state gauge
vrrp_group_state{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface="",state="one_master"} 1
# HELP vrrp_group_master 1 for the one known MASTER of the VRRP group; absent unless there is one. Judged from the latest polls, not from the scrape.
# TYPE vrrp_group_master gauge
vrrp_group_master{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface="",appliance="waf-1"} 1
# HELP vrrp_group_state_since_timestamp_seconds When the state of the VRRP group began, as Unix time; absent where the exporter did not see the beginning. Judged from the latest polls, not from the scrape.
# TYPE vrrp_group_state_since_timestamp_seconds gauge
vrrp_group_state_since_timestamp_seconds{ha_cluster="ams",site="ams",vhid="2",vip="192.0.2.100",interface=""} 1700000000
# HELP website_state State of the website for its visitors: 1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.
# TYPE website_state gauge
website_state{ha_cluster="ams",site="ams",website_id="1",website="shop",address="#1",protocol="http",state="up"} 1
website_state{ha_cluster="ams",site="ams",website_id="1",website="shop",address="#1",protocol="https",state="partially_down"} 1
website_state{ha_cluster="locked",website_id="3",website="3",address="#3",protocol="",state="unknown"} 1
# HELP website_state_since_timestamp_seconds When the state of the website began, as Unix time; absent where the exporter did not see the beginning. Judged from the latest polls, not from the scrape.
# TYPE website_state_since_timestamp_seconds gauge
website_state_since_timestamp_seconds{ha_cluster="ams",site="ams",website_id="1",website="shop",protocol="https"} 1700000000
# HELP appliance_enabled Whether the appliance is enabled in the configuration; if not, it is not polled.
# TYPE appliance_enabled gauge
appliance_enabled{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1"} 1
appliance_enabled{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2"} 1
appliance_enabled{appliance="failed",ha_cluster="fra"} 1
appliance_enabled{appliance="locked",ha_cluster="locked"} 1
appliance_enabled{appliance="odd",ha_cluster="odd"} 1
appliance_enabled{appliance="alone",ha_cluster="alone",site="ams"} 0
# HELP appliance_state State of the appliance: 1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.
# TYPE appliance_state gauge
appliance_state{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",state="up"} 1
appliance_state{appliance="waf-2",ha_cluster="ams",site="ams",rack="r2",state="up"} 1
appliance_state{appliance="failed",ha_cluster="fra",state="down"} 1
appliance_state{appliance="locked",ha_cluster="locked",state="refused"} 1
appliance_state{appliance="odd",ha_cluster="odd",state="up"} 1
# HELP appliance_state_since_timestamp_seconds When the state of the appliance began, as Unix time; absent where the exporter did not see the beginning. Judged from the latest polls, not from the scrape.
# TYPE appliance_state_since_timestamp_seconds gauge
appliance_state_since_timestamp_seconds{appliance="failed",ha_cluster="fra"} 1700000000
# HELP appliance_tls_certificate_state State of the certificate that the appliance last presented, with its chain: 1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.
# TYPE appliance_tls_certificate_state gauge
appliance_tls_certificate_state{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",state="valid"} 1
# HELP ha_cluster_state State of the cluster: 1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.
# TYPE ha_cluster_state gauge
ha_cluster_state{ha_cluster="ams",site="ams",state="up"} 1
ha_cluster_state{ha_cluster="fra",state="dark"} 1
ha_cluster_state{ha_cluster="locked",state="unknown"} 1
ha_cluster_state{ha_cluster="odd",state="up"} 1
# HELP appliance_failover_state What would happen if the appliance stopped now; absent if it is MASTER of no group: 1 for the present one, 0 for the others. Judged from the latest polls, not from the scrape.
# TYPE appliance_failover_state gauge
appliance_failover_state{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",state="losses"} 1
# HELP failover_risk_info 1 for each risk of a failover from the appliance, the worst 50; one with the subject more stands for the others. Judged from the latest polls, not from the scrape.
# TYPE failover_risk_info gauge
failover_risk_info{appliance="waf-1",ha_cluster="ams",site="ams",rack="r1",successor="waf-2",risk="website_down",effect="loss",subject="shop https",address="#1"} 1
# HELP ha_cluster_failovers_total Failovers of the cluster since the exporter started, by cause: groups that one appliance took over from another. Judged from the latest polls, not from the scrape.
# TYPE ha_cluster_failovers_total counter
ha_cluster_failovers_total{ha_cluster="ams",site="ams",cause="fault"} 0
ha_cluster_failovers_total{ha_cluster="ams",site="ams",cause="silent"} 0
ha_cluster_failovers_total{ha_cluster="ams",site="ams",cause="priority"} 0
ha_cluster_failovers_total{ha_cluster="ams",site="ams",cause="preempted"} 0
ha_cluster_failovers_total{ha_cluster="ams",site="ams",cause="stepped_down"} 0
ha_cluster_failovers_total{ha_cluster="ams",site="ams",cause="unknown"} 0
# HELP ha_cluster_problem 1 for each problem of the cluster that is not planned; with the kind, subject identifies it. Judged from the latest polls, not from the scrape.
# TYPE ha_cluster_problem gauge
ha_cluster_problem{ha_cluster="ams",site="ams",kind="failover_not_ready",subject="waf-1",alert="FailoverNotReady",severity="warning",appliance="waf-1"} 1
ha_cluster_problem{ha_cluster="fra",kind="cluster_dark",subject="fra",alert="ClusterDark",severity="critical"} 1
ha_cluster_problem{ha_cluster="locked",kind="appliance_refused",subject="locked",alert="ApplianceRefused",severity="warning",appliance="locked"} 1
ha_cluster_problem{ha_cluster="odd",kind="not_serving",subject="odd",alert="VrrpNotServing",severity="critical",appliance="odd"} 1
ha_cluster_problem{ha_cluster="odd",kind="api_anomalies",subject="odd",alert="ApplianceApiAnomalies",severity="warning",appliance="odd"} 1
# HELP ha_cluster_problem_since_timestamp_seconds When the problem began, as Unix time; absent where the exporter did not see the beginning. Judged from the latest polls, not from the scrape.
# TYPE ha_cluster_problem_since_timestamp_seconds gauge
ha_cluster_problem_since_timestamp_seconds{ha_cluster="ams",site="ams",kind="failover_not_ready",subject="waf-1"} 1700000000
ha_cluster_problem_since_timestamp_seconds{ha_cluster="fra",kind="cluster_dark",subject="fra"} 1700000000
# HELP ha_cluster_problem_words_info 1 for the sentence about each of these problems, and about each failover of the last five minutes, whose subject is the new MASTER. Judged from the latest polls, not from the scrape.
# TYPE ha_cluster_problem_words_info gauge
ha_cluster_problem_words_info{ha_cluster="ams",site="ams",kind="failover_not_ready",subject="waf-1",summary="If waf-1 fails, shop https is lost: no HTTP response at waf-2",advice="It can wait for the day: fix it at the member that would take over"} 1
ha_cluster_problem_words_info{ha_cluster="fra",kind="cluster_dark",subject="fra",summary="failed is down: it cannot be reached (connect)",advice="Try its VIPs first: if a website answers there, only the management network is cut",incident="AkL-LHDKUHM1"} 1
ha_cluster_problem_words_info{ha_cluster="locked",kind="appliance_refused",subject="locked",summary="locked refuses the exporter's password (auth). Nobody watches it",advice="Check the user, its permissions on the appliance, and the password"} 1
ha_cluster_problem_words_info{ha_cluster="odd",kind="not_serving",subject="odd",summary="odd reports INIT for 192.0.2.100 on carp0: it serves nothing there",advice="No visitor reaches it there, and it takes nothing over: look at this interface"} 1
ha_cluster_problem_words_info{ha_cluster="odd",kind="api_anomalies",subject="odd",summary="The answers of odd deviate from the API in 5 places",advice="Nothing is wrong for visitors: report the places in its log to the maker of the exporter"} 1
`;

test("a failover says in words who took over, and why", async () => {
  const samples = sampleLines(await failedOverText(), "ha_cluster_failover_info");
  expect(samples.map((line) => line.replace(/incident="[^"]+"/, 'incident="one"'))).toEqual([
    'ha_cluster_failover_info{ha_cluster="ams",site="ams",from="waf-1",to="waf-2",cause="priority",incident="one"} 1',
  ]);
  const told = sampleLines(await failedOverText(), "ha_cluster_problem_words_info");
  const sentence =
    "waf-2 took over 192.0.2.100 (vhid 2) from waf-1, as the priority of waf-2 changed from 100 to 204";
  expect(told.filter((line) => line.includes('kind="failover"'))).toEqual([
    expect.stringContaining(`subject="waf-2",summary="${sentence}`),
  ]);
});

function pair(site: string) {
  return configOf(...["a", "b"].map((name) => applianceOf({ name, cluster: "ab", labels: { site } })));
}

test("a group that stays as it is gets the labels of the new configuration", async () => {
  const exposition = createFleetExposition();
  const fleet = createFleet();
  const masters = async () => {
    const text = await textOf(exposition, verdictsOf(fleet, 0));
    return text.match(/^vrrp_group_masters\{.*$/m)?.[0];
  };
  fleet.configure(pair("x"), 0);
  fleet.record(seen.vrrp("a", listOf([interfaceOf()])), 0);
  expect(await masters()).toBe(
    'vrrp_group_masters{ha_cluster="ab",site="x",vhid="2",vip="192.0.2.100",interface=""} 1',
  );
  fleet.configure(pair("y"), 0);
  expect(await masters()).toBe(
    'vrrp_group_masters{ha_cluster="ab",site="y",vhid="2",vip="192.0.2.100",interface=""} 1',
  );
});

test("long text and short text are joined in the order of the families, in UTF-8", async () => {
  const fleet = fleetOf([applianceOf({ name: "a" }), applianceOf({ name: "b" })]);
  const interfaces = Array.from({ length: 500 }, (_, nth) => interfaceOf({ name: `漢${nth}` }));
  fleet.record(seen.vrrp("a", listOf(interfaces)), 0);
  fleet.record(seen.vrrp("b", listOf([interfaceOf()])), 0);
  const text = await expositionOf(fleet, 0);
  const masters = text.match(/^vrrp_is_master\{.*$/gm) ?? [];
  expect(masters).toHaveLength(501);
  expect(masters[499]).toBe(
    'vrrp_is_master{appliance="a",ha_cluster="a",interface="漢499",vhid="2",vip="192.0.2.100"} 1',
  );
  expect(masters[500]).toBe(
    'vrrp_is_master{appliance="b",ha_cluster="b",interface="carp0",vhid="2",vip="192.0.2.100"} 1',
  );
});
