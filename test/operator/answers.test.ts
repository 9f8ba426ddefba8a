import { expect, test } from "vitest";
import type { VrrpInterface } from "../../src/exporter/api/vrrp.ts";
import { answersOf, verdictOn } from "../../src/operator/answers.ts";
import type { Observation } from "../../src/exporter/polling/observation.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C } from "../exporter/fleet/support.ts";
import { documentOf } from "../exporter/judge/support.ts";
import { applianceOf, failed, interfaceOf, listOf, seen } from "../support/observations.ts";

const LONE = applianceOf({ name: "lone" });
const MEMBERS = [MEMBER_A, MEMBER_B, MEMBER_C, LONE];
const SECOND = { name: "carp1", vhid: 3, vip: "192.0.2.200" };

const master = (given: Partial<VrrpInterface> = {}) => interfaceOf(given);
const backup = (given: Partial<VrrpInterface> = {}) =>
  interfaceOf({ state: "BACKUP", priority: 100, configuredRole: "backup", ...given });
const vrrp = (name: string, ...interfaces: readonly VrrpInterface[]) => seen.vrrp(name, listOf(interfaces));
/** `a` is MASTER, `b` would take over. */
const READY = [vrrp("a", master()), vrrp("b", backup()), vrrp("c")];
/** `b` is MASTER of a second group, which `a` is to take over. */
const CROSSED = [vrrp("a", master(), backup(SECOND)), vrrp("b", backup(), master(SECOND)), vrrp("c")];

const NOTHING = "nothing depends on it; redundancy is lost meanwhile";
const TIMEOUT = "it does not answer in time (timeout)";
const VIP = "192.0.2.100 (vhid 2)";
const VIP_2 = "192.0.2.200 (vhid 3)";

test.each<readonly [string, readonly Observation[], readonly string[], readonly string[]]>([
  ["a MASTER whose BACKUP is ready", READY, ["a"], ["ready: If a fails, b takes over 1 address"]],
  ["its BACKUP", READY, ["b"], [`ready: If b fails, ${NOTHING}`]],
  [
    "a MASTER whose BACKUP is lost, and the BACKUP",
    [vrrp("a", master()), failed.vrrp("b", "timeout")],
    ["a", "b"],
    [
      `not_ready: If a fails, no appliance takes over ${VIP}: b cannot be polled since 2023-11-14 22:13 UTC: it does not answer in time (timeout) and c was not polled yet`,
      `unknown: If b fails, it is not known what is lost: ${TIMEOUT}`,
    ],
  ],
  [
    "a MASTER whose BACKUP lacks an address",
    [vrrp("a", master({ aliases: ["192.0.2.101"] })), vrrp("b", backup())],
    ["a"],
    ["not_ready: If a fails, 192.0.2.101 is missing at b"],
  ],
  [
    "a BACKUP whose MASTER is silent",
    [...READY, failed.vrrp("a", "timeout")],
    ["b"],
    [`unknown: If b fails, it is not known what is lost: ${VIP} has no known MASTER`],
  ],
  [
    "a BACKUP beside another BACKUP, without a MASTER",
    [vrrp("a", backup()), vrrp("b", backup())],
    ["b"],
    [`unknown: If b fails, it is not known what is lost: ${VIP} has no known MASTER`],
  ],
  [
    "a BACKUP of two MASTERs",
    [vrrp("a", master()), vrrp("c", master()), vrrp("b", backup())],
    ["b"],
    [`unknown: If b fails, it is not known what is lost: ${VIP} has 2 masters: a, c`],
  ],
  [
    "a BACKUP of a MASTER, beside which another VHID has one",
    [vrrp("a", master()), vrrp("c", master({ vhid: 3 })), vrrp("b", backup())],
    ["b"],
    [`unknown: If b fails, it is not known what is lost: ${VIP} has 2 masters: a, c`],
  ],
  [
    "one in FAULT",
    [vrrp("a", master()), vrrp("b", backup({ state: "FAULT" }))],
    ["b"],
    [`unknown: If b fails, it is not known what is lost: it is neither MASTER nor BACKUP of ${VIP}`],
  ],
  [
    "one that is BACKUP of one group, and in FAULT in another",
    [vrrp("a", master(), master(SECOND)), vrrp("b", backup(), backup({ ...SECOND, state: "FAULT" }))],
    ["b"],
    [`unknown: If b fails, it is not known what is lost: it is neither MASTER nor BACKUP of ${VIP_2}`],
  ],
  [
    "one in no group",
    [vrrp("a", master()), vrrp("b")],
    ["b"],
    ["unknown: If b fails, it is not known what is lost: it is in no VRRP group"],
  ],
  [
    "one with an interface that cannot be read",
    [vrrp("a", master()), seen.vrrp("b", listOf([backup()], { anomalies: ["bad_interface"] }))],
    ["b"],
    ["unknown: If b fails, it is not known what is lost: 1 interface of it cannot be read"],
  ],
  [
    "a MASTER with an interface that cannot be read",
    [seen.vrrp("a", listOf([master()], { anomalies: ["bad_interface"] })), ...READY.slice(1)],
    ["a"],
    ["unknown: If a fails, it is not known what is lost: not all interfaces of a can be read"],
  ],
  [
    "one whose interface became unreadable",
    [...READY, seen.vrrp("b", listOf([], { unreadable: ["carp0"], anomalies: ["bad_interface"] }))],
    ["b"],
    [
      `unknown: If b fails, it is not known what is lost: 1 interface of it cannot be read and its state in ${VIP} is not known`,
    ],
  ],
  [
    "one that was not polled",
    READY.slice(0, 2),
    ["c"],
    ["unknown: If c fails, it is not known what is lost: it was not polled yet"],
  ],
  [
    "one that answers to nobody",
    [...READY, failed.vrrp("b", "auth")],
    ["b"],
    ["unknown: If b fails, it is not known what is lost: it refuses the credentials (auth)"],
  ],
  [
    "one that stands alone",
    [vrrp("lone", backup())],
    ["lone"],
    ["unknown: If lone fails, it is not known what is lost: its cluster has no other appliance"],
  ],
  [
    "a MASTER that is BACKUP of a group without a known MASTER",
    [vrrp("a", master(), backup(SECOND)), vrrp("b", backup(), backup(SECOND)), vrrp("c")],
    ["a"],
    [`unknown: If a fails, it is not known what is lost: ${VIP_2} has no known MASTER`],
  ],
  [
    "a cluster: each of its MASTERs",
    CROSSED,
    ["ams"],
    ["ready: If a fails, b takes over 1 address", "ready: If b fails, a takes over 1 address"],
  ],
  [
    "a cluster and its members: each once",
    READY,
    ["ams", "a", "b"],
    ["ready: If a fails, b takes over 1 address", `ready: If b fails, ${NOTHING}`],
  ],
  [
    "a cluster of which one MASTER is silent",
    [...CROSSED, failed.vrrp("b", "timeout")],
    ["ams"],
    [
      `not_ready: If a fails, no appliance takes over ${VIP}: b cannot be polled since 2023-11-14 22:13 UTC: it does not answer in time (timeout) and c has no such group`,
      `unknown: ams: it is not known which appliance is MASTER of ${VIP_2}`,
    ],
  ],
  ["a cluster that was not polled", [], ["ams"], ["unknown: ams: it is not known which appliance is MASTER"]],
  [
    "no name: all clusters, but not those that stand alone",
    [...READY, vrrp("lone", master())],
    [],
    ["ready: If a fails, b takes over 1 address"],
  ],
])("the answer on %s", (_, observations, names, expected) => {
  expect(linesOf(observations, names)).toEqual(expected);
});

test.each<readonly [string, readonly string[]]>([
  [
    "a",
    [`unknown: If a fails, it is not known what is lost: a disabled appliance may be a BACKUP of ${VIP}`],
  ],
  ["b", [`ready: If b fails, ${NOTHING}`]],
  ["c", ["unknown: If c fails, it is not known what is lost: it is disabled, so it is not polled"]],
])("beside a disabled member: the answer on %s", (name, expected) => {
  const members = MEMBERS.map((each) => ({ ...each, enabled: each.name !== "c" }));
  expect(linesOf(READY, [name], members)).toEqual(expected);
});

test("a poll counts until two intervals and a timeout after it", () => {
  expect(linesOf(READY, ["b"], MEMBERS, 13_999)).toEqual([`ready: If b fails, ${NOTHING}`]);
  expect(linesOf(READY, ["b"], MEMBERS, 14_000)).toEqual([
    "unknown: If b fails, it is not known what is lost: the exporter has stopped polling it (stalled)",
  ]);
});

test.each([
  [["ready", "ready"], "ready"],
  [["ready", "unknown"], "unknown"],
  [["unknown", "not_ready", "ready"], "not_ready"],
  [[], "unknown"],
] as const)("of %j the verdict is %s", (verdicts, expected) => {
  const answers = verdicts.map((verdict) => ({ cluster: "ams", verdict, summary: "" }));
  expect(verdictOn(answers)).toBe(expected);
});

/** `ready: If a fails, …`, a line for each answer. */
function linesOf(
  observations: readonly Observation[],
  names: readonly string[],
  members: Parameters<typeof fleetOf>[0] = MEMBERS,
  nowMs = 0,
): readonly string[] {
  const { clusters } = documentOf(fleetOf(members, observations), {}, nowMs);
  return answersOf(clusters, names).map(({ verdict, summary }) => `${verdict}: ${summary}`);
}
