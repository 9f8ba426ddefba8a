import { expect, test } from "vitest";
import type { VrrpInterface } from "../../../src/exporter/api/vrrp.ts";
import { readinessSentence } from "../../../src/exporter/judge/readiness-words.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { clustersOf, fleetOf, groupLines, MEMBER_A, MEMBER_B, MEMBER_C } from "../fleet/support.ts";
import { interfaceOf, listOf, seen, WALL_MS, type ListExtras } from "../../support/observations.ts";
import { windowOf } from "../maintenance/support.ts";
import { createJudge, documentOf, incidentLines, judgedFleet, replay } from "./support.ts";

const MASTER = interfaceOf({ priority: 254, configuredRole: undefined });
const BACKUP = { ...MASTER, state: "BACKUP", priority: 154 };
const DEMOTED = { priority: undefined };

/** A list as an appliance with CARP has it: with a demotion, which is 0 unless `extras` have another. */
function carp(name: string, interfaces: readonly VrrpInterface[], extras: ListExtras = {}): Observation {
  return seen.vrrp(name, listOf(interfaces, { demotion: 0, ...extras }));
}

/** What would happen if `a` failed: the state, the sentence, and a line for each risk. */
function readinessOf(observations: readonly Observation[]): readonly string[] {
  const names = new Set(observations.map(({ appliance }) => appliance));
  const fleet = fleetOf([MEMBER_A, MEMBER_B, MEMBER_C].filter(({ name }) => names.has(name)));
  for (const [nth, each] of observations.entries()) fleet.record(each, nth);
  const [facts] = clustersOf(fleet);
  if (facts === undefined) throw new Error("a cluster is configured");
  const verdict = createJudge().judge(facts, { wallMs: WALL_MS, monotonicMs: 0 }).now;
  const readiness = verdict.readiness.get("a");
  if (readiness === undefined) throw new Error("a is MASTER");
  return [
    readiness.state,
    readinessSentence(readiness, verdict),
    ...readiness.risks.map(({ risk, effect, successor }) => `${risk} ${effect} [${successor}]`),
  ];
}

const ON_WAN = { name: "carp1", vhid: 3, vip: "192.0.2.101", aliases: ["192.0.2.102"] };

test.each<readonly [string, readonly Observation[], readonly string[]]>([
  [
    "no member is demoted",
    [carp("a", [MASTER]), carp("b", [BACKUP])],
    ["ready", "If a fails, b takes over 1 address"],
  ],
  [
    "the backup is in maintenance mode",
    [
      carp("a", [MASTER, { ...MASTER, ...ON_WAN }]),
      carp(
        "b",
        [BACKUP, { ...BACKUP, ...ON_WAN }].map((each) => ({ ...each, ...DEMOTED })),
        {
          demotion: 240,
          restraint: "maintenance_mode",
        },
      ),
    ],
    [
      "outage",
      "If a fails, b does not take over 192.0.2.100 (vhid 2) and 192.0.2.101 (vhid 3) with 1 more address: it is in maintenance mode",
      "takes_nothing_over outage [b]",
      "takes_nothing_over outage [b]",
    ],
  ],
  [
    "CARP is disabled at the backup",
    [carp("a", [MASTER]), carp("b", [BACKUP], { restraint: "carp_disabled" })],
    [
      "outage",
      "If a fails, b does not take over 192.0.2.100 (vhid 2): CARP is disabled there",
      "takes_nothing_over outage [b]",
    ],
  ],
  [
    "the master is in maintenance mode, and nobody else is",
    [
      carp("a", [{ ...MASTER, ...DEMOTED }], { demotion: 240, restraint: "maintenance_mode" }),
      carp("b", [BACKUP]),
    ],
    ["ready", "If a fails, b takes over 1 address"],
  ],
  [
    "another backup, of a lower priority, takes over",
    [
      carp("a", [MASTER]),
      carp("b", [BACKUP], { restraint: "maintenance_mode" }),
      carp("c", [{ ...BACKUP, priority: 54 }]),
    ],
    ["ready", "If a fails, c takes over 1 address", "takes_nothing_over none [b]"],
  ],
  [
    "the backup is demoted with the priority of the master",
    [carp("a", [MASTER]), carp("b", [{ ...BACKUP, ...DEMOTED }], { demotion: -540 })],
    ["ready", "If a fails, b takes over 1 address"],
  ],
  [
    "one of two backups is demoted, so either may take over",
    [carp("a", [MASTER]), carp("b", [{ ...BACKUP, ...DEMOTED }], { demotion: 20 }), carp("c", [BACKUP])],
    ["ready", "If a fails, b and c can take over 1 address"],
  ],
  [
    "nobody knows whether a third member takes over",
    [
      carp("a", [MASTER]),
      carp("b", [BACKUP], { restraint: "maintenance_mode" }),
      carp("c", [{ ...BACKUP, state: "WAITING" }]),
    ],
    [
      "unknown",
      "If a fails, it is not known whether c takes over 192.0.2.100 (vhid 2): c reports the unknown state WAITING",
      "backup_unknown uncertain [c]",
      "takes_nothing_over none [b]",
    ],
  ],
  [
    "nobody knows whether a third member, of a lower priority, takes over",
    [
      carp("a", [MASTER]),
      carp("b", [BACKUP], { restraint: "carp_disabled" }),
      carp("c", [{ ...BACKUP, state: "WAITING", priority: 54 }]),
    ],
    [
      "unknown",
      "If a fails, it is not known whether c takes over 192.0.2.100 (vhid 2): c reports the unknown state WAITING",
      "backup_unknown uncertain [c]",
      "takes_nothing_over none [b]",
    ],
  ],
])("readiness: %s", (_, observations, expected) => {
  expect(readinessOf(observations)).toEqual(expected);
});

/** The problems after the backup of a pair that was well came into maintenance mode. */
function problemsOf(windows: Parameters<typeof createJudge>[0]) {
  const [fleet, judging] = [fleetOf([MEMBER_A, MEMBER_B]), createJudge(windows)];
  for (const [nth, each] of [carp("a", [MASTER]), carp("b", [BACKUP])].entries()) fleet.record(each, nth);
  documentOf(fleet, {}, 1000, judging);
  fleet.record(carp("b", [BACKUP], { restraint: "maintenance_mode" }), 2000);
  const { problems } = documentOf(fleet, {}, 3000, judging);
  return problems.map(({ kind, severity, summary, isPlanned }) => [kind, severity, summary, isPlanned]);
}

test("a backup that takes nothing over is one problem, which a window on it mutes", () => {
  const summary = "If a fails, b does not take over 192.0.2.100 (vhid 2): it is in maintenance mode";
  expect(problemsOf([])).toEqual([["failover_not_ready", "warning", summary, undefined]]);
  const window = windowOf({ appliances: ["b"] });
  expect(problemsOf([window])).toEqual([["failover_not_ready", "warning", summary, true]]);
});

test.each<readonly [string, Observation, string]>([
  ["is not demoted, it is preferred", carp("a", [{ ...MASTER, state: "BACKUP" }]), "false"],
  [
    "is demoted, nobody knows who is preferred",
    carp("a", [{ ...MASTER, state: "BACKUP", ...DEMOTED }], { demotion: 240 }),
    "-",
  ],
  [
    "says nothing of its demotion, nobody knows who is preferred",
    carp("a", [{ ...MASTER, state: "BACKUP", ...DEMOTED, isOutOfOrder: true }], { demotion: undefined }),
    "-",
  ],
  [
    "advertises at another interval, nobody knows who is preferred",
    carp("a", [{ ...MASTER, state: "BACKUP", ...DEMOTED, isOutOfOrder: true }]),
    "-",
  ],
])("where the backup with the lowest skew %s", (_, a, preferred) => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B], [a, carp("b", [{ ...BACKUP, state: "MASTER" }])]);
  expect(groupLines(fleet)).toEqual([
    `2 192.0.2.100: masters b, backups a, unknown -, preferred ${preferred}`,
  ]);
});

function polledAt(observation: Observation, second: number) {
  const given = { sentAtMs: second * 1000, expiresAtMs: 1e9, completedAtMs: WALL_MS + second * 1000 };
  return { observation: { ...observation, ...given }, atMs: second * 1000 };
}

const masterAt = (name: string, second: number, a: number, b: number) => [
  polledAt(
    carp("a", [{ ...(name === "a" ? MASTER : BACKUP), priority: a === 0 ? 254 : undefined }], {
      demotion: a,
    }),
    second,
  ),
  polledAt(
    carp("b", [{ ...(name === "b" ? MASTER : BACKUP), priority: b === 0 ? 154 : undefined }], {
      demotion: b,
    }),
    second,
  ),
];

test("a demotion and its end change no priority that is known, so neither is the cause of a failover", () => {
  const { past } = replay([
    ...masterAt("a", 0, 0, 0),
    ...masterAt("a", 5, 0, 0),
    ...masterAt("b", 10, 240, 0),
    ...masterAt("b", 15, 240, 0),
    ...masterAt("a", 20, 0, 0),
    ...masterAt("a", 25, 0, 0),
  ]);
  const lines = incidentLines(past);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).not.toContain("priority");
});

test("while a row has no name, an interface that is missing may be that row, and is not known", () => {
  const record = judgedFleet([MEMBER_A, MEMBER_B]);
  record(carp("a", [MASTER]), 0);
  record(carp("b", [BACKUP]), 1);
  const { judged } = record(carp("b", [], { hasUnnamed: true, anomalies: ["bad_interface"] }), 2);
  const stateNow = ({ groups }: typeof judged.now) => [...groups.values()].map(({ state }) => state);
  expect(stateNow(judged.now)).toEqual(["backup_unknown"]);
  expect(stateNow(record(carp("b", []), 3).judged.now)).toEqual(["no_backup"]);
});
