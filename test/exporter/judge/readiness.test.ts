import { expect, test } from "vitest";
import type { VrrpInterface } from "../../../src/exporter/api/vrrp.ts";
import { gathered, type WebsiteDetails } from "../../../src/exporter/api/website-details.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { readinessSentence } from "../../../src/exporter/judge/readiness-words.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import {
  applianceOf,
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { createJudge } from "./support.ts";

const discovery = { exclude: [], limit: 200 };
const PAIR = [MEMBER_A, MEMBER_B].map((member) => ({ ...member, discovery }));
const [{ cluster }] = [MEMBER_A];
const THREE = [...PAIR, applianceOf({ name: "c", cluster, discovery })];
type Members = Parameters<typeof fleetOf>[0];

function judged(observations: readonly Observation[], members: Members = PAIR) {
  const fleet = fleetOf(members);
  for (const [nth, each] of observations.entries()) fleet.record(each, nth);
  const [facts] = clustersOf(fleet);
  if (facts === undefined) throw new Error("a cluster is configured");
  return createJudge().judge(facts, { wallMs: WALL_MS, monotonicMs: 0 }).now;
}

/** `a: losses` and a line for each risk. */
function linesOf(observations: readonly Observation[], members: Members = PAIR): readonly string[] {
  return [...judged(observations, members).readiness.values()].flatMap(({ identity, state, risks }) => [
    `${identity.appliance}: ${state}`,
    ...risks.map(({ risk, effect, successor, subject }) => `${risk} ${effect} [${successor}] ${subject}`),
  ]);
}

const master = (given: Partial<VrrpInterface> = {}) => interfaceOf({ priority: 200, ...given });
const backup = (given: Partial<VrrpInterface> = {}) =>
  interfaceOf({ state: "BACKUP", priority: 100, configuredRole: "backup", ...given });
const SECOND = { name: "carp1", vhid: 3, vip: "192.0.2.101" };

const vrrp = (name: string, ...interfaces: readonly VrrpInterface[]) => seen.vrrp(name, listOf(interfaces));
const A = vrrp("a", master());
const B = vrrp("b", backup());

/** A website that is up, and described alike. */
const site = (
  name: string,
  id = 1,
  details: Parameters<typeof seen.details>[2] = {},
): readonly Observation[] => [
  seen.websites(name, [id]),
  seen.details(name, id, details),
  seen.website(name, id, blocksOf(200, 200)),
];
const READY = [A, B, ...site("a"), ...site("b")];
const BOTH = { bind: ["192.0.2.100", "192.0.2.101"] };
const TWO = [vrrp("a", master(), master(SECOND)), vrrp("b", backup(), backup(SECOND))];

test.each<readonly [string, readonly Observation[], readonly string[]]>([
  ["all is alike", READY, ["a: ready"]],
  ["no website is known", [A, B, seen.websites("a", []), seen.websites("b", [])], ["a: ready"]],
  [
    "the backup is not in the group",
    [A, vrrp("b"), ...site("a"), ...site("b")],
    ["a: outage", "no_backup outage [] 192.0.2.100"],
  ],
  [
    "the backup is down",
    [...READY, failed.vrrp("b", "timeout")],
    ["a: outage", "backup_lost outage [] 192.0.2.100"],
  ],
  [
    "the backup refuses the credentials",
    [...READY, failed.vrrp("b", "auth")],
    ["a: unknown", "backup_unknown uncertain [] 192.0.2.100"],
  ],
  [
    "the backup was not polled yet",
    [A, ...site("a")],
    ["a: unknown", "backup_unknown uncertain [] 192.0.2.100"],
  ],
  [
    "two members are MASTER",
    [...READY, A, vrrp("b", master()), A, vrrp("b", master())],
    ["a: unknown", "undecided uncertain [] 192.0.2.100", "b: unknown", "undecided uncertain [] 192.0.2.100"],
  ],
  [
    "an alias is missing there",
    [
      vrrp("a", master({ aliases: ["192.0.2.7", "2001:DB8::7"] })),
      vrrp("b", backup({ aliases: ["2001:db8::7"] })),
      ...READY.slice(2),
    ],
    ["a: losses", "address_missing loss [b] 192.0.2.7"],
  ],
  [
    "the VIP is an alias there, and nothing is missing",
    [
      vrrp("a", master({ aliases: ["192.0.2.7"] })),
      vrrp("b", backup({ vip: "192.0.2.7", aliases: ["192.0.2.100"] })),
      ...READY.slice(2),
    ],
    ["a: ready"],
  ],
  [
    "its aliases cannot be read",
    [A, vrrp("b", backup({ aliases: undefined })), ...READY.slice(2)],
    ["a: unknown", "address_unknown uncertain [b] 192.0.2.100"],
  ],
  [
    "priorities are equal",
    [A, vrrp("b", backup({ priority: 200 })), ...READY.slice(2)],
    ["a: ready", "same_priority none [b] 192.0.2.100"],
  ],
  [
    "both are FAILOVER MASTER",
    [A, vrrp("b", backup({ configuredRole: "master" })), ...READY.slice(2)],
    ["a: ready", "two_preferred none [] 192.0.2.100"],
  ],
  [
    "a website is down there by one protocol",
    [...READY, seen.website("b", 1, blocksOf(200, 503)), seen.website("b", 1, blocksOf(200, 503))],
    ["a: losses", "website_down loss [b] shop https"],
  ],
  ["it was down there in one test only", [...READY, seen.website("b", 1, blocksOf(200, 503))], ["a: ready"]],
  [
    "it is down at the master too",
    [...READY, ...["a", "a", "b", "b"].map((name) => seen.website(name, 1, blocksOf(503, 503)))],
    ["a: ready"],
  ],
  [
    "its tests fail there",
    [...READY, failed.website("b", 1, "timeout"), failed.website("b", 1, "timeout")],
    ["a: unknown", "website_unknown uncertain [b] shop"],
  ],
  [
    "a website is missing there",
    [...READY.slice(0, -3), seen.websites("b", [])],
    ["a: losses", "website_missing loss [b] shop"],
  ],
  [
    "a website is disabled there",
    [...READY.slice(0, -3), ...site("b", 1, { isEnabled: false })],
    ["a: losses", "website_disabled loss [b] shop"],
  ],
  [
    "a website is disabled at the master only",
    [A, B, ...site("a", 1, { isEnabled: false }), ...site("b")],
    ["a: ready", "website_differs none [b] shop"],
  ],
  [
    "a website is at the backup only",
    [A, B, seen.websites("a", []), ...site("b")],
    ["a: ready", "website_differs none [b] shop"],
  ],
  [
    "it is less protected there",
    [A, B, ...site("a"), ...site("b", 1, { mode: "detect" })],
    ["a: losses", "website_less_protected loss [b] shop"],
  ],
  [
    "it is better protected there",
    [A, B, ...site("a", 1, { mode: "pass" }), ...site("b")],
    ["a: ready", "website_differs none [b] shop"],
  ],
  [
    "its protection there is not known",
    [A, B, ...site("a"), ...site("b", 1, { mode: undefined })],
    ["a: unknown", "website_unknown uncertain [b] shop"],
  ],
  [
    "its protection here is not known",
    [A, B, ...site("a", 1, { mode: undefined }), ...site("b", 1, { mode: "detect" })],
    ["a: unknown", "website_unknown uncertain [b] shop"],
  ],
  [
    "one of its protocols is not offered there",
    [A, B, ...site("a"), ...site("b", 1, { protocol: "https" })],
    ["a: losses", "website_missing loss [b] shop http", "website_differs none [b] shop"],
  ],
  [
    "that is so, and the master did not test it yet",
    [A, B, ...site("a").slice(0, -1), ...site("b", 1, { protocol: "https" })],
    ["a: unknown", "website_unknown uncertain [b] shop", "website_differs none [b] shop"],
  ],
  [
    "one of its protocols is offered at another port there",
    [A, B, ...site("a"), ...site("b", 1, { secondPort: 8080 })],
    ["a: losses", "website_missing loss [b] shop http"],
  ],
  [
    "its second port there cannot be read",
    [A, B, ...site("a"), ...site("b", 1, { secondPort: undefined })],
    ["a: unknown", "website_unknown uncertain [b] shop"],
  ],
  [
    "it is a part of another website there, which has the same host and the port of its protocol as its second one",
    [
      A,
      B,
      ...site("a", 1, { protocol: "http", port: 80, secondPort: undefined }),
      ...site("b", 1, { protocol: "both", port: 443, secondPort: 80 }),
    ],
    ["a: ready", "website_differs none [b] shop", "website_differs none [b] shop (shop.example:443)"],
  ],
  [
    "that other website has another second port",
    [
      A,
      B,
      ...site("a", 1, { protocol: "http", port: 80, secondPort: undefined }),
      ...site("b", 1, { protocol: "both", port: 443, secondPort: 8080 }),
    ],
    ["a: losses", "website_missing loss [b] shop", "website_differs none [b] shop (shop.example:443)"],
  ],
  [
    "only a part of it is there, as another website of the same host",
    [A, B, ...site("a"), ...site("b", 1, { protocol: "http", port: 80, secondPort: undefined })],
    ["a: losses", "website_missing loss [b] shop https", "website_differs none [b] shop (shop.example:80)"],
  ],
  [
    "a website of the same host is there, whose second port cannot be read",
    [
      A,
      B,
      ...site("a", 1, { protocol: "http", port: 80, secondPort: undefined }),
      ...site("b", 1, { secondPort: undefined }),
    ],
    ["a: unknown", "website_unknown uncertain [b] shop", "website_differs none [b] shop (shop.example:443)"],
  ],
  [
    "it is disabled there, and another website of the same host serves it",
    [
      A,
      B,
      ...site("a", 1, { protocol: "http", port: 80, secondPort: undefined }),
      seen.websites("b", [1, 2]),
      seen.details("b", 1, { protocol: "http", port: 80, secondPort: undefined, isEnabled: false }),
      seen.details("b", 2),
      seen.website("b", 2, blocksOf(200, 200)),
    ],
    ["a: ready", "website_differs none [b] shop (shop.example:443)"],
  ],
  [
    "its servers fail there, and it is less protected",
    [
      A,
      B,
      ...site("a"),
      ...site("b", 1, {
        mode: "detect",
        backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]),
      }),
    ],
    ["a: losses", "website_backends_lost loss [b] shop", "website_less_protected loss [b] shop"],
  ],
  [
    "its servers fail there, and its tests have no result",
    [
      A,
      B,
      ...site("a"),
      ...site("b", 1, { backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]) }),
      ...[1, 2].map(() => failed.website("b", 1, "timeout")),
    ],
    ["a: losses", "website_backends_lost loss [b] shop", "website_unknown uncertain [b] shop"],
  ],
  [
    "no server behind it is usable there",
    [
      A,
      B,
      ...site("a"),
      ...site("b", 1, { backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]) }),
    ],
    ["a: losses", "website_backends_lost loss [b] shop"],
  ],
  [
    "its servers are others there",
    [
      A,
      B,
      ...site("a"),
      ...site("b", 1, { backends: gathered([{ address: "192.0.2.9:80", role: "active", isOk: true }]) }),
    ],
    ["a: ready", "website_differs none [b] shop"],
  ],
  [
    "neither priority is known",
    [
      vrrp("a", master({ priority: undefined })),
      vrrp("b", backup({ priority: undefined })),
      ...READY.slice(2),
    ],
    ["a: ready"],
  ],
  [
    "a website is at the master only, and other details of the backup fail",
    [...READY.slice(0, -3), seen.websites("b", [2]), failed.details("b", 2, "decode")],
    ["a: unknown", "website_unknown uncertain [b] all"],
  ],
  [
    "a website is down there, and none of its servers is usable",
    [
      ...READY.slice(0, -3),
      ...site("b", 1, {
        backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]),
      }),
      seen.website("b", 1, blocksOf(503, 200)),
      seen.website("b", 1, blocksOf(503, 200)),
    ],
    ["a: losses", "website_down loss [b] shop http"],
  ],
  [
    "a disabled website is at the backup only",
    [A, B, seen.websites("a", []), ...site("b", 1, { isEnabled: false })],
    ["a: ready"],
  ],
  [
    "a website was not tested, and no protocol of it is known",
    ["a", "b"].flatMap((name) => [
      A,
      B,
      seen.websites(name, [1]),
      seen.details(name, 1, { protocol: undefined }),
    ]),
    ["a: unknown", "website_unknown uncertain [b] shop"],
  ],
  [
    "an interface of the backup cannot be read",
    [A, seen.vrrp("b", listOf([backup()], { anomalies: ["bad_interface"] })), ...READY.slice(2)],
    ["a: unknown", "address_unknown uncertain [b] all"],
  ],
  [
    "an interface of the master cannot be read",
    [seen.vrrp("a", listOf([master()], { anomalies: ["bad_interface"] })), ...READY.slice(1)],
    ["a: unknown", "address_unknown uncertain [] all"],
  ],
  [
    "the list of the backup fails",
    [...READY, failed.websites("b", "decode")],
    ["a: unknown", "website_unknown uncertain [b] all"],
  ],
  [
    "the list of the master fails",
    [...READY, failed.websites("a", "decode")],
    ["a: unknown", "website_unknown uncertain [] all"],
  ],
  [
    "the list of the master has an entry that cannot be read",
    [...READY, seen.websites("a", [1], { invalid: ["4x"] })],
    ["a: unknown", "website_unknown uncertain [] all"],
  ],
  [
    "the website listens on another address there",
    [...TWO, ...site("a", 1, BOTH), ...site("b", 1, { bind: ["192.0.2.101"] })],
    ["a: losses", "website_missing loss [b] shop"],
  ],
  [
    "it did, and its details fail now",
    [
      ...TWO,
      ...site("a", 1, BOTH),
      ...site("b", 1, { bind: ["192.0.2.101"] }),
      failed.details("b", 1, "timeout"),
    ],
    ["a: unknown", "website_unknown uncertain [b] all"],
  ],
  [
    "both listen on one of two addresses",
    [...TWO, ...site("a", 1, { bind: ["192.0.2.101"] }), ...site("b", 1, { bind: ["192.0.2.101"] })],
    ["a: ready"],
  ],
  [
    "the groups are split, and the website is reached by the other master",
    [
      vrrp("a", master(), backup(SECOND)),
      vrrp("b", backup(), master(SECOND)),
      ...site("a", 1, { bind: ["192.0.2.101"] }),
      ...site("b", 1, { bind: ["192.0.2.101"], mode: "pass" }),
    ],
    ["a: ready", "b: ready", "website_differs none [a] shop"],
  ],
])("what is known when %s", (_, observations, expected) => {
  expect(linesOf(observations)).toEqual(expected);
});

test.each<readonly [string, readonly Observation[], readonly string[]]>([
  [
    "has a lower priority: what it lacks costs nothing",
    [...READY, vrrp("c", backup({ priority: 50 })), seen.websites("c", [])],
    ["a: ready", "website_missing none [c] shop"],
  ],
  [
    "has the same priority: who becomes MASTER is luck",
    [...READY, vrrp("c", backup()), seen.websites("c", [])],
    [
      "a: losses",
      "website_missing loss [c] shop",
      "same_priority none [b] 192.0.2.100",
      "same_priority none [c] 192.0.2.100",
    ],
  ],
  [
    "has a priority that is not known",
    [...READY, vrrp("c", backup({ priority: undefined })), seen.websites("c", [])],
    ["a: losses", "website_missing loss [c] shop"],
  ],
  ["is in FAULT", [...READY, vrrp("c", backup({ state: "FAULT" })), seen.websites("c", [])], ["a: ready"]],
])("a third member that %s", (_, observations, expected) => {
  expect(linesOf(observations, THREE)).toEqual(expected);
});

test("each address counts for the member that would take it over", () => {
  const vrrpAt = (name: string, ...priorities: readonly number[]) =>
    vrrp(name, ...[{}, SECOND].map((each, nth) => backup({ ...each, priority: priorities[nth] })));
  const observations = [
    vrrp("a", master(), master(SECOND)),
    vrrpAt("b", 100, 50),
    vrrpAt("c", 50, 100),
    ...site("a", 1, BOTH),
    ...site("b", 1, { bind: ["192.0.2.100"] }),
    ...site("c", 1, { bind: ["192.0.2.101"] }),
  ];
  expect(linesOf(observations, THREE)).toEqual(["a: ready"]);
});

const AT_A = vrrp("a", master(), backup(SECOND));
const [AT_B, AT_C] = ["b", "c"].map((name) => vrrp(name, backup(), master(SECOND)));
const BESIDE = [AT_A, AT_B, AT_C].flatMap((each) => each ?? []);

test.each<readonly [string, readonly Observation[], boolean]>([
  ["is changing", BESIDE, true],
  ["is split", [...BESIDE, ...BESIDE], true],
  [
    "is not known",
    [...BESIDE.slice(0, 1), vrrp("b", backup(), backup(SECOND)), failed.vrrp("c", "timeout")],
    true,
  ],
  ["has one MASTER", [...BESIDE.slice(0, 2), vrrp("c", backup(), backup(SECOND))], false],
])("a group that %s matters to its members that are MASTER of another one", (_, polls, isUndecided) => {
  const lists = ["a", "b", "c"].map((name) => seen.websites(name, []));
  const risk = "undecided uncertain [] 192.0.2.101";
  expect(
    linesOf([...polls, ...lists], THREE)
      .slice(0, 2)
      .includes(risk),
  ).toBe(isUndecided);
});

test("an address of two groups counts for whoever takes over one of them", () => {
  const more = { aliases: ["192.0.2.7"] };
  const vrrpAt = (name: string, ...priorities: readonly number[]) =>
    vrrp(name, ...[{}, SECOND].map((each, nth) => backup({ ...each, ...more, priority: priorities[nth] })));
  const observations = [
    vrrp("a", master(more), master({ ...SECOND, ...more })),
    vrrpAt("b", 50, 100),
    vrrpAt("c", 100, 50),
    ...site("a", 1, { bind: ["192.0.2.7"] }),
    ...["b", "c"].flatMap((name) => site(name, 1, { bind: ["192.0.2.100"] })),
  ];
  expect(linesOf(observations, THREE)).toEqual([
    "a: losses",
    "website_missing loss [b] shop",
    "website_missing loss [c] shop",
  ]);
});

test("where a website listens is not known without its details", () => {
  const [a, ...others] = PAIR;
  const members = [{ ...MEMBER_A, ...a, discovery: undefined, websites: [websiteOf({ id: 1 })] }, ...others];
  const tested = seen.website("a", 1, blocksOf(200, 200));
  expect(linesOf([...TWO, tested, ...site("b", 1, { bind: ["192.0.2.101"] }), tested], members)).toEqual([
    "a: unknown",
    "website_unknown uncertain [b] 1",
  ]);
});

test.each([
  ["a higher priority may take over", 100, ["a: unknown", "backup_unknown uncertain [b] 192.0.2.100"]],
  ["a lower priority does not", 40, ["a: ready"]],
] as const)("a silent member with %s", (_, priority, lines) => {
  const members = [A, vrrp("b", backup({ priority })), vrrp("c", backup({ priority: 50 }))];
  const silent = failed.vrrp("b", "timeout");
  expect(linesOf([...members, ...["a", "b", "c"].flatMap((name) => site(name)), silent], THREE)).toEqual(
    lines,
  );
});

test("of four members, those with the highest priority are the successors, and alike", () => {
  const members = [...THREE, applianceOf({ name: "d", cluster, discovery })];
  const others = [vrrp("c", backup()), vrrp("d", backup({ priority: 50 }))];
  const observations = [...READY, ...others, ...site("c"), ...site("d")];
  expect(linesOf(observations, members)).toEqual([
    "a: ready",
    "same_priority none [b] 192.0.2.100",
    "same_priority none [c] 192.0.2.100",
  ]);
  expect(judged(observations, members).readiness.get("a")?.successors).toEqual(["b", "c"]);
});

test.each<readonly [string, readonly Observation[], number]>([
  ["is up there", READY, 1],
  ["is down there", [...READY, ...[1, 2].map(() => seen.website("a", 1, blocksOf(503, 503)))], 0],
  [
    "listens on an address of which another one is MASTER",
    [
      vrrp("a", master(), backup(SECOND)),
      vrrp("b", backup(), master(SECOND)),
      ...site("a", 1, { bind: ["192.0.2.101"] }),
      ...site("b", 1, { bind: ["192.0.2.101"] }),
    ],
    0,
  ],
])("an appliance serves a website that %s, or not", (_, observations, websites) => {
  expect(judged(observations).readiness.get("a")?.websites).toBe(websites);
});

test("there is no readiness beside a disabled member, and for one that is MASTER of nothing", () => {
  const disabled = THREE.map((each) => ({ ...each, enabled: each.name !== "c" }));
  expect(linesOf(READY, disabled)).toEqual([]);
  expect([...judged(READY).readiness.keys()]).toEqual(["a"]);
});

test("an alias that comes to the successor with another group is not missing", () => {
  const [alias, other] = ["192.0.2.7", { ...SECOND, aliases: ["192.0.2.7"] }];
  const a = vrrp("a", master({ aliases: [alias] }), master(SECOND));
  const none = [seen.websites("a", []), seen.websites("b", [])];
  expect(linesOf([a, vrrp("b", backup(), backup(other)), ...none])).toEqual(["a: ready"]);
  const c = vrrp("c", backup(), backup({ ...other, priority: 150 }));
  expect(linesOf([a, vrrp("b", backup(), backup(other)), c, ...none, seen.websites("c", [])], THREE)).toEqual(
    [
      "a: losses",
      "address_missing loss [b] 192.0.2.7",
      "same_priority none [b] 192.0.2.100",
      "same_priority none [c] 192.0.2.100",
    ],
  );
});

test("an alias that one of two equal successors may take over elsewhere is missing at the other", () => {
  const [alias, other] = ["192.0.2.7", { ...SECOND, aliases: ["192.0.2.7"] }];
  const observations = [
    vrrp("a", master({ aliases: [alias] }), master(SECOND)),
    vrrp("b", backup(), backup(other)),
    vrrp("c", backup({ aliases: [alias] }), backup(SECOND)),
    ...["a", "b", "c"].map((name) => seen.websites(name, [])),
  ];
  expect(linesOf(observations, THREE).slice(0, 2)).toEqual([
    "a: losses",
    "address_missing loss [b] 192.0.2.7",
  ]);
});

test("after its backup was lost, a group may be taken over by a member that answers, but not to the exporter", () => {
  const fleet = fleetOf(PAIR);
  const judge = createJudge();
  const [silent, refused] = [failed.vrrp("b", "connect"), failed.vrrp("b", "auth")];
  const states = [A, B, silent, refused, refused, refused, refused].map((each, nth) => {
    // The member is down until it has refused the exporter for two minutes.
    const atMs = nth * 40_000;
    fleet.record({ ...each, expiresAtMs: 1e12 }, atMs);
    const [facts] = clustersOf(fleet);
    if (facts === undefined) throw new Error("a cluster is configured");
    const { groups, readiness } = judge.judge(facts, { wallMs: WALL_MS + atMs, monotonicMs: atMs }).now;
    return [[...groups.values()][0]?.state, readiness.get("a")?.risks[0]?.risk];
  });
  expect(states.slice(2)).toEqual([
    ["backup_lost", "backup_lost"],
    ["backup_lost", "backup_lost"],
    ["backup_lost", "backup_lost"],
    ["backup_lost", "backup_lost"],
    ["backup_lost", "backup_unknown"],
  ]);
});

test.each<readonly [string, Partial<WebsiteDetails>]>([
  ["status", { isEnabled: undefined }],
  ["addresses", { bind: undefined }],
  ["servers", { backends: undefined }],
])("it is not known whether a website is served that has no readable %s", (_, details) => {
  const lines = ["a: unknown", "website_unknown uncertain [b] shop"];
  expect(linesOf([A, B, ...site("a"), ...site("b", 1, details)])).toEqual(lines);
  const isOfBoth = !("backends" in details);
  expect(linesOf([A, B, ...site("a", 1, details), ...site("b")])).toEqual(isOfBoth ? lines : ["a: ready"]);
});

test("a protocol that another website of the host serves at the successor is not lost", () => {
  const ids = [1, 2];
  const apart = (status: number): readonly Observation[] => [
    seen.websites("b", ids),
    seen.details("b", 1, { protocol: "https" }),
    seen.details("b", 2, { protocol: "http", port: 80, secondPort: undefined }),
    seen.website("b", 1, blocksOf(200, 200).slice(1)),
    ...ids.map(() => seen.website("b", 2, blocksOf(status, 200).slice(0, 1))),
  ];
  expect(linesOf([A, B, ...site("a"), ...apart(200)])[0]).toBe("a: ready");
  expect(linesOf([A, B, ...site("a"), ...apart(503)]).slice(0, 2)).toEqual([
    "a: losses",
    "website_down loss [b] shop (shop.example:443) http",
  ]);
});

test.each<readonly [string, Partial<WebsiteDetails>]>([
  ["less protected (pass instead of protect)", { mode: "pass" }],
  [
    "without a usable server",
    { backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]) },
  ],
])("a protocol that another website of the host serves at the successor may be %s", (words, details) => {
  const verdict = judged([
    A,
    B,
    ...site("a"),
    seen.websites("b", [1, 2]),
    seen.details("b", 1, { protocol: "https" }),
    seen.details("b", 2, { protocol: "http", port: 80, secondPort: undefined, ...details }),
    seen.website("b", 1, blocksOf(200, 200).slice(1)),
    seen.website("b", 2, blocksOf(200, 200).slice(0, 1)),
  ]);
  const readiness = verdict.readiness.get("a");
  const sentence = readiness && readinessSentence(readiness, verdict);
  expect(sentence).toBe(`If a fails, shop (shop.example:443) http is ${words} at b`);
});

/** The pair, with one website at most at one of them. */
const limited = (name: string) =>
  PAIR.map((each) => (each.name === name ? { ...each, discovery: { exclude: [], limit: 1 } } : each));

test("websites beyond the limit are not compared, and are named", () => {
  const blog = { name: "blog", host: "blog.example" };
  const both = (name: string) => [
    seen.websites(name, [1, 2]),
    seen.details(name, 1),
    seen.details(name, 2, blog),
    seen.website(name, 1, blocksOf(200, 200)),
    seen.website(name, 2, blocksOf(200, 200)),
  ];
  const all = [A, B, ...both("a"), ...both("b")];
  expect(linesOf(all, limited("b"))).toEqual(["a: unknown", "website_unknown uncertain [b] blog"]);
  expect(linesOf(all, limited("a"))).toEqual(["a: unknown", "website_unknown uncertain [] #2"]);
  const verdict = judged(all, limited("a"));
  const readiness = verdict.readiness.get("a");
  expect(readiness && readinessSentence(readiness, verdict)).toBe(
    "If a fails, it is not known what is lost with #2 of a, beyond the limit of website discovery",
  );
});

test("websites that are excluded are left out", () => {
  const members = PAIR.map((each) => ({ ...each, discovery: { exclude: [2], limit: 200 } }));
  const more = [seen.websites("a", [1, 2]), seen.websites("b", [1, 2])];
  expect(linesOf([...READY, ...more], members)).toEqual(["a: ready"]);
});

test("websites that share a name are told apart by their addresses", () => {
  const ids = [1, 2, 3];
  const described = ids.map((id) =>
    seen.details("a", id, { name: id < 3 ? "shop" : "blog", host: `${id}.example` }),
  );
  const observations = [A, B, seen.websites("a", ids), ...described, seen.websites("b", [])];
  expect(linesOf(observations)).toEqual([
    "a: losses",
    "website_missing loss [b] shop (1.example:443)",
    "website_missing loss [b] shop (2.example:443)",
    "website_missing loss [b] blog",
  ]);
});

test("50 risks are kept, the worst ones, and the others are counted", () => {
  const ids = Array.from({ length: 60 }, (_, nth) => nth + 1);
  const described = ids.map((id) => seen.details("a", id, { name: `site-${id}`, host: `${id}.example` }));
  const verdict = judged([
    vrrp("a", master()),
    B,
    seen.websites("a", ids),
    ...described,
    seen.websites("b", []),
  ]);
  const { risks = [], more, decisive } = verdict.readiness.get("a") ?? {};
  expect([risks.length, more?.count, more?.worst.effect, decisive]).toEqual([50, 10, "loss", 60]);
});

const NO_SERVER = gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]);
const REFUSED = [
  ...blocksOf(200, 0).slice(0, 1),
  { protocol: "https", status: 0, text: "connection refused" },
] as const;
const SITES = [2, 3, 4, 5];
const listing = (name: string, given: Readonly<Record<number, Parameters<typeof site>[2]>> = {}) => [
  seen.websites(name, SITES),
  ...SITES.flatMap((id) =>
    site(name, id, { name: `site-${id}`, host: `${id}.example`, ...given[id] }).slice(1),
  ),
];

const SILENT = "b cannot be polled since 2023-11-14 22:13 UTC";

test.each<readonly [string, readonly Observation[]]>([
  ["b takes over 1 address and 1 website", READY],
  ["b takes over 2 addresses", [...TWO, seen.websites("a", []), seen.websites("b", [])]],
  ["b and c can take over 1 address and 1 website", [...READY, vrrp("c", backup()), ...site("c")]],
  [
    `no appliance takes over 192.0.2.100 (vhid 2) and 192.0.2.101 (vhid 3): ${SILENT}: it does not answer in time (timeout)`,
    [...TWO, failed.vrrp("b", "timeout")],
  ],
  [
    "no appliance takes over 192.0.2.100 (vhid 2) with 2 more addresses: b reports FAULT and c has no such group",
    [
      vrrp("a", master({ aliases: ["192.0.2.7", "192.0.2.8"] })),
      vrrp("b", backup({ state: "FAULT" })),
      vrrp("c"),
    ],
  ],
  [
    "it is not known whether b takes over 192.0.2.100 (vhid 2): b reports the unknown state LEARNING",
    [A, vrrp("b", backup({ state: "LEARNING" })), seen.websites("a", []), seen.websites("b", [])],
  ],
  [
    "no appliance takes over 192.0.2.100 (vhid 2): b has it under VHID 12",
    [A, vrrp("b", backup({ vhid: 12 }))],
  ],
  [
    `it is not known whether b takes over 192.0.2.100 (vhid 2): ${SILENT}: it refuses the credentials (auth)`,
    [...READY, failed.vrrp("b", "auth")],
  ],
  ["it is not known whether b takes over 192.0.2.100 (vhid 2): b was not polled yet", [A, ...site("a")]],
  [
    `it is not known which appliance takes over 192.0.2.100 (vhid 2): ${SILENT}: it refuses the credentials (auth) ` +
      "and c was not polled yet",
    [A, failed.vrrp("b", "auth"), seen.websites("a", []), seen.websites("c", [])],
  ],
  [
    "the master of 192.0.2.100 (vhid 2) is not certain, so it is not known which appliance takes over",
    [...READY, A, vrrp("b", master()), A, vrrp("b", master())],
  ],
  [
    "it is not known whether b has all addresses of 192.0.2.100 (vhid 2)",
    [A, vrrp("b", backup({ aliases: undefined })), ...READY.slice(2)],
  ],
  [
    "it is not known what is lost: not all websites of b are known",
    [...READY, failed.websites("b", "decode")],
  ],
  [
    "it is not known what is lost: not all websites of a and b are known",
    [...READY, failed.websites("a", "decode"), failed.websites("b", "decode")],
  ],
  [
    "it is not known whether b would serve shop like a",
    [...READY, failed.website("b", 1, "timeout"), failed.website("b", 1, "timeout")],
  ],
  [
    "shop http is lost: 503 at b",
    [
      A,
      B,
      ...site("a", 1, { protocol: "http", port: 80, secondPort: undefined }),
      ...site("b", 1, { protocol: "both", port: 443, secondPort: 80 }),
      seen.website("a", 1, [{ protocol: "http", status: 200 }]),
      ...[1, 2].map(() => seen.website("b", 1, blocksOf(503, 200))),
    ],
  ],
  [
    "shop http is offered at port 8080 only at b",
    [A, B, ...site("a"), ...site("b", 1, { secondPort: 8080 })],
  ],
  ["shop http is not offered at b", [A, B, ...site("a"), ...site("b", 1, { protocol: "https" })]],
  [
    "shop https is not offered at b",
    [A, B, ...site("a"), ...site("b", 1, { protocol: "http", port: 80, secondPort: undefined })],
  ],
  [
    "shop (shop.example:443) http is lost: 503 at b",
    [
      A,
      B,
      ...site("a"),
      seen.websites("b", [1, 2]),
      seen.details("b", 1, { protocol: "https" }),
      seen.details("b", 2, { protocol: "http", port: 80, secondPort: undefined }),
      seen.website("b", 1, blocksOf(200, 200).slice(1)),
      ...[1, 2].map(() => seen.website("b", 2, blocksOf(503, 200).slice(0, 1))),
    ],
  ],
  ["shop is missing at b", [...READY.slice(0, -3), seen.websites("b", [])]],
  [
    "shop is missing (it listens on 192.0.2.101 only) at b",
    [...TWO, ...site("a", 1, BOTH), ...site("b", 1, { bind: ["192.0.2.101"] })],
  ],
  [
    "shop https is lost: no HTTP response (connection refused) at b",
    [...READY, ...[1, 2].map(() => seen.website("b", 1, REFUSED))],
  ],
  [
    "site-2 http and https are lost: 503 and site-3 is disabled at b, and 3 more",
    [
      vrrp("a", master({ aliases: ["192.0.2.7"] })),
      B,
      ...listing("a"),
      ...listing("b", { 3: { isEnabled: false }, 4: { backends: NO_SERVER }, 5: { mode: "detect" } }),
      ...[1, 2].map(() => seen.website("b", 2, blocksOf(503, 503))),
    ],
  ],
  [
    "site-2, site-3 and site-4 are missing at b, and 3 more",
    [
      A,
      B,
      vrrp("c", backup()),
      ...listing("a"),
      seen.websites("b", []),
      ...listing("c", { 3: { isEnabled: false }, 4: { isEnabled: false } }),
    ],
  ],
])("If a fails, %s", (words, observations) => {
  const hasThird = observations.some(({ appliance }) => appliance === "c");
  const verdict = judged(observations, hasThird ? THREE : PAIR);
  const failover = verdict.readiness.get("a");
  expect(failover && readinessSentence(failover, verdict)).toBe(`If a fails, ${words}`);
});
