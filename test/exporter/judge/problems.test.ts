import { adviceOn } from "../../../src/exporter/api/advice.ts";
import type { Failure } from "../../../src/exporter/api/failure.ts";
import { expect, test } from "vitest";
import { gathered } from "../../../src/exporter/api/website-details.ts";
import { PROBLEM_KINDS, PROBLEMS } from "../../../src/exporter/judge/states.ts";
import type { Fleet } from "../../../src/exporter/fleet/fleet.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
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
import { createJudge, documentOf, problemLines } from "./support.ts";

const SHOP = websiteOf({ id: 2, name: "shop" });
const A = { ...MEMBER_A, websites: [SHOP] };
const B = { ...MEMBER_B, websites: [SHOP] };
const MASTER = interfaceOf({ configuredRole: "master" });
const BACKUP = interfaceOf({ state: "BACKUP", priority: 100, configuredRole: "backup" });
const VIP = "192.0.2.100";

/** An interface with a link-local VIP; its device has its name. */
function onLink(name: string, state: string) {
  return interfaceOf({ name, device: name, state, vhid: 1, vip: "fe80::1", configuredRole: undefined });
}

function https(appliance: string, status: number, text?: string): Observation {
  const block = { protocol: "https", status } as const;
  return seen.website(appliance, 2, [text === undefined ? block : { ...block, text }]);
}
const UNREADABLE = {
  protocol: "https",
  status: undefined,
  text: 'unreadable status line "HTTP/1.1 2000"',
} as const;
const A_IS_MASTER = seen.vrrp("a", listOf([MASTER]));
const B_IS_BACKUP = seen.vrrp("b", listOf([BACKUP]));
const SHOP_IS_UP = [https("a", 200), https("b", 200)];

/** A fleet that was polled twice with the same results. */
function polledTwice(members: Parameters<typeof fleetOf>[0], polls: readonly Observation[]): Fleet {
  const fleet = fleetOf(members, polls);
  for (const observation of polls) fleet.record(observation, 1000);
  return fleet;
}

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly problems: readonly string[];
}

test.each<Case>([
  { name: "all is well", polls: [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP], problems: [] },
  {
    name: "two masters",
    polls: [A_IS_MASTER, seen.vrrp("b", listOf([{ ...BACKUP, state: "MASTER" }])), ...SHOP_IS_UP],
    problems: [`critical split_brain: a and b are both MASTER of ${VIP}`],
  },
  {
    name: "no master and no backup, each on another link of one VIP",
    polls: [
      seen.vrrp(
        "a",
        listOf([onLink("vlan10", "MASTER"), onLink("vlan20", "BACKUP"), onLink("vlan30", "MASTER")]),
      ),
      seen.vrrp(
        "b",
        listOf([onLink("vlan10", "BACKUP"), onLink("vlan20", "BACKUP"), onLink("vlan30", "FAULT")]),
      ),
      ...SHOP_IS_UP,
    ],
    problems: [
      "critical no_master: Nobody is MASTER of fe80::1 (vlan20)",
      "critical redundancy_lost: a is MASTER of fe80::1 (vlan30) without a backup: no other member is BACKUP",
      "warning odd_state: b reports FAULT for fe80::1 on vlan30: it would not take over",
    ],
  },
  {
    name: "interfaces of a link-local VIP that may be on one link or on two",
    polls: [
      seen.vrrp("a", listOf([onLink("em0", "MASTER")])),
      seen.vrrp("b", listOf([onLink("igb0", "MASTER")])),
      ...SHOP_IS_UP,
    ],
    problems: [
      "unknown link_unknown: It is not known on which link each interface with fe80::1 is (em0 of a and igb0 of b): " +
        "interfaces on one link need the same name or device at all appliances",
    ],
  },
  {
    name: "a website whose tests fail every second time",
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      https("b", 200),
      ...[200, 503, 200, 503, 200].map((status) => https("a", status)),
    ],
    problems: ["warning website_unstable: shop comes and goes: some tests from a, MASTER, fail"],
  },
  {
    name: "a website every second test of which has no result",
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      https("b", 200),
      ...(["appliance_down", "connect", "timeout", "local"] as const).flatMap((reason) => [
        https("a", 200),
        failed.website("a", 2, reason),
      ]),
      https("a", 200),
    ],
    problems: [],
  },
  {
    name: "two backups",
    polls: [seen.vrrp("a", listOf([{ ...MASTER, state: "BACKUP" }])), B_IS_BACKUP, ...SHOP_IS_UP],
    problems: [`critical no_master: Nobody is MASTER of ${VIP}`],
  },
  {
    name: "a silent appliance that may be the master, and a website that follows from it",
    polls: [
      failed.vrrp("a", "timeout"),
      B_IS_BACKUP,
      failed.website("a", 2, "appliance_down"),
      https("b", 200),
    ],
    problems: [
      `critical master_unknown: Who is MASTER of ${VIP} is not known: a does not answer in time (timeout)`,
      "warning appliance_down: a is down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a silent backup",
    polls: [
      A_IS_MASTER,
      failed.vrrp("b", "timeout"),
      https("a", 200),
      failed.website("b", 2, "appliance_down"),
    ],
    problems: [
      `critical redundancy_lost: a is MASTER of ${VIP} without a backup: b does not answer in time (timeout)`,
      "warning appliance_down: b is down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "members that cannot be polled for reasons of their own",
    polls: [A_IS_MASTER, failed.vrrp("a", "timeout"), failed.vrrp("b", "auth"), ...SHOP_IS_UP],
    problems: [
      `critical master_unknown: Who is MASTER of ${VIP} is not known: a does not answer in time (timeout); b refuses the credentials (auth)`,
      "warning appliance_refused: b refuses the exporter's password (auth). Nobody watches it",
      "warning appliance_down: a is down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a backup that refuses the credentials",
    polls: [A_IS_MASTER, failed.vrrp("b", "auth"), https("a", 200), failed.website("b", 2, "appliance_down")],
    problems: [
      "warning appliance_refused: b refuses the exporter's password (auth). Nobody watches it, its cluster has a MASTER",
      `unknown backup_unknown: a is MASTER of ${VIP}, and it is not known whether it has a backup: b refuses the credentials (auth)`,
    ],
  },
  {
    name: "a backup that the exporter itself fails to poll",
    polls: [A_IS_MASTER, failed.vrrp("b", "secret"), https("a", 200), failed.website("b", 2, "secret")],
    problems: [
      "warning polling_stuck: b is not polled: the password file cannot be read (secret)",
      `unknown backup_unknown: a is MASTER of ${VIP}, and it is not known whether it has a backup: b: the password file cannot be read (secret)`,
    ],
  },
  {
    name: "appliances that cannot be polled for one reason",
    polls: [
      failed.vrrp("a", "timeout"),
      failed.vrrp("b", "timeout"),
      failed.website("a", 2, "appliance_down"),
      failed.website("b", 2, "appliance_down"),
    ],
    problems: ["critical cluster_dark: Neither a nor b is reached (timeout)"],
  },
  {
    name: "tests that have no result for one reason",
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      failed.website("a", 2, "too_large"),
      failed.website("b", 2, "too_large"),
    ],
    problems: [
      "critical website_unknown: shop is not known to be up: no result from a, MASTER, and b: their answers are too large (too large)",
    ],
  },
  {
    name: "a dark cluster, and nothing that follows from it",
    polls: [
      failed.vrrp("a", "connect"),
      failed.vrrp("b", "timeout"),
      failed.website("a", 2, "appliance_down"),
      failed.website("b", 2, "appliance_down"),
    ],
    problems: ["critical cluster_dark: Neither a (connect) nor b (timeout) is reached"],
  },
  {
    name: "a master without a backup",
    polls: [A_IS_MASTER, seen.vrrp("b", listOf([{ ...BACKUP, state: "FAULT" }])), ...SHOP_IS_UP],
    problems: [
      `critical redundancy_lost: a is MASTER of ${VIP} without a backup: no other member is BACKUP`,
      `warning odd_state: b reports FAULT for ${VIP} on carp0: it would not take over`,
    ],
  },
  {
    name: "a master that is not the preferred one",
    polls: [
      seen.vrrp("a", listOf([{ ...MASTER, state: "BACKUP" }])),
      seen.vrrp("b", listOf([{ ...BACKUP, state: "MASTER" }])),
      ...SHOP_IS_UP,
    ],
    problems: [`warning preferred_master_lost: b is MASTER of ${VIP}, and is not the preferred member`],
  },
  {
    name: "a website that is down, in the words of the appliances",
    polls: [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 0, "connection refused")],
    problems: [
      "critical website_down: shop is down: 503 from a, MASTER; no HTTP response (connection refused) from b",
    ],
  },
  {
    name: "a website that is down at the master",
    polls: [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 200)],
    problems: ["critical website_down: shop is down for visitors: 503 from a, MASTER. b finds it up"],
  },
  {
    name: "a website that a failover would take down",
    polls: [A_IS_MASTER, B_IS_BACKUP, https("a", 200), https("b", 503)],
    problems: ["warning failover_not_ready: If a fails, shop https is lost: 503 at b"],
  },
  {
    name: "a website whose test did not reach the master, which answers now",
    polls: [A_IS_MASTER, B_IS_BACKUP, failed.website("a", 2, "connect"), https("b", 200)],
    problems: [
      "critical website_unknown: shop is not known to be up: " +
        "no result from a, MASTER: it was out of reach at the latest poll (connect). b finds it up",
    ],
  },
  {
    name: "a website whose test fails at the master",
    polls: [A_IS_MASTER, B_IS_BACKUP, failed.website("a", 2, "timeout"), https("b", 200)],
    problems: [
      "critical website_unknown: shop is not known to be up: " +
        "no answer in time from a, MASTER. b finds it up",
    ],
  },
  {
    name: "a website without a readable status at the master",
    polls: [A_IS_MASTER, B_IS_BACKUP, seen.website("a", 2, []), https("b", 200)],
    problems: [
      "critical website_unknown: shop is not known to be up: no status from a, MASTER. b finds it up",
    ],
  },
  {
    name: "a website with an unreadable status line at the master",
    polls: [A_IS_MASTER, B_IS_BACKUP, seen.website("a", 2, [UNREADABLE]), https("b", 200)],
    problems: [
      'critical website_unknown: shop is not known to be up: not known: unreadable status line "HTTP/1.1 2000" from a, MASTER. b finds it up',
    ],
  },
  {
    name: "a list that deviates from the API",
    polls: [seen.vrrp("a", listOf([MASTER], { anomalies: ["bad_field"] })), B_IS_BACKUP, ...SHOP_IS_UP],
    problems: ["warning api_anomalies: The answers of a deviate from the API in one place"],
  },
])("$name", ({ polls, problems }) => {
  expect(problemLines(documentOf(polledTwice([A, B], polls), {}, 1000))).toEqual(problems);
});

const DISCOVERING = [MEMBER_A, MEMBER_B, MEMBER_C].map((each) => {
  return { ...each, discovery: { exclude: [], limit: 200 } };
});
const LISTED = ["a", "b"].flatMap((name) => [
  seen.websites(name, [2]),
  seen.details(name, 2),
  seen.website(name, 2, blocksOf(200, 200)),
]);
const NO_SHOP_AT_B = seen.websites("b", []);
const UNEQUAL = "warning websites_unequal: The members of ams differ in shop (missing at b)";
const NOT_USABLE = { backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: false }]) };
const MANY = Array.from({ length: 60 }, (_, nth) => nth + 3);

test.each<Case & { readonly members: Parameters<typeof fleetOf>[0] }>([
  {
    name: "a website that is down at a third member, which would not take over",
    members: [A, B, { ...MEMBER_C, websites: [SHOP] }],
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      seen.vrrp("c", listOf([{ ...BACKUP, priority: 50 }])),
      ...SHOP_IS_UP,
      https("c", 503),
    ],
    problems: [
      "warning website_partially_down: shop is up for visitors, but not at each member: 503 from c. a, MASTER, and b find it up",
    ],
  },
  {
    name: "a website that is down at the backup of one group, while another group has no backup",
    members: [A, B],
    polls: [
      seen.vrrp("a", listOf([MASTER, { ...MASTER, name: "carp1", vhid: 3, vip: "192.0.2.101" }])),
      B_IS_BACKUP,
      https("a", 200),
      https("b", 503),
    ],
    problems: [
      "critical redundancy_lost: a is MASTER of 192.0.2.101 without a backup: no other member is BACKUP",
      "warning website_partially_down: shop is up for visitors, but not at each member: 503 from b. a, MASTER, finds it up",
    ],
  },
  {
    name: "a website whose servers the backup does not reach",
    members: DISCOVERING.slice(0, 2),
    polls: [A_IS_MASTER, B_IS_BACKUP, ...LISTED, seen.details("b", 2, NOT_USABLE)],
    problems: ["warning failover_not_ready: If a fails, shop is without a usable server at b"],
  },
  {
    name: "more losses than are kept, and websites that may be among them",
    members: DISCOVERING.slice(0, 2),
    polls: [
      A_IS_MASTER,
      B_IS_BACKUP,
      seen.websites("a", [2, ...MANY]),
      ...MANY.map((id) => seen.details("a", id, { name: `site-${id}`, host: `${id}.example` })),
      ...MANY.map((id) => seen.website("a", id, blocksOf(200, 200))),
      ...LISTED.slice(1, 5),
      seen.website("b", 2, blocksOf(200, 503)),
    ],
    problems: [
      "warning failover_not_ready: If a fails, shop https is lost: 503 and site-3 and site-4 are missing at b, and 58 more",
    ],
  },
  {
    name: "members without a group, whose websites differ",
    members: DISCOVERING.slice(0, 2),
    polls: [seen.vrrp("a", listOf([])), seen.vrrp("b", listOf([])), ...LISTED, NO_SHOP_AT_B],
    problems: [UNEQUAL],
  },
  {
    name: "a disabled member, and websites that differ at the others",
    members: DISCOVERING.map((each) => ({ ...each, enabled: each.name !== "c" })),
    polls: [A_IS_MASTER, B_IS_BACKUP, ...LISTED, NO_SHOP_AT_B],
    problems: [UNEQUAL],
  },
])("$name", ({ members, polls, problems }) => {
  expect(problemLines(documentOf(polledTwice(members, polls), {}, 1000))).toEqual(problems);
});

test("a protocol that was seen before and is missing at the master is unknown", () => {
  const fleet = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  const httpOnly = seen.website("a", 2, [{ protocol: "http", status: 200 }]);
  for (const atMs of [2000, 3000]) fleet.record(httpOnly, atMs);
  expect(problemLines(documentOf(fleet, {}, 3000))).toEqual([
    "warning website_partially_unknown: shop is up, and not known to be up by https: no status from a, MASTER; https 200 from b",
  ]);
});

test("an appliance that times out and refuses by turns is down, until it has only refused for two minutes", () => {
  const [fleet, judge] = [fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]), createJudge()];
  const stateAt = (atMs: number) => {
    const [cluster] = documentOf(fleet, {}, atMs, judge).clusters;
    return cluster?.appliances.find(({ name }) => name === "b")?.state;
  };
  const toldAt = (atMs: number, reason?: "auth" | "timeout") => {
    if (reason !== undefined) fleet.record(failed.vrrp("b", reason, { expiresAtMs: 1e12 }), atMs);
    return documentOf(fleet, {}, atMs, judge)
      .problems.filter(({ appliance }) => appliance === "b")
      .map(({ kind, since, summary }) => `${kind} since ${since?.slice(11, 19)}: ${summary}`);
  };
  const silent = "it does not answer in time (timeout)";
  const refused = "b refuses the exporter's password (auth). Nobody watches it, its cluster has a MASTER";
  const lately =
    "appliance_down since 22:13:25: b is not polled: it refuses the credentials (auth); it was down a moment ago";
  expect(toldAt(0)).toEqual([]);
  expect(toldAt(1000, "auth")).toEqual([`appliance_refused since 22:13:21: ${refused}`]);
  expect(toldAt(5000, "timeout")).toEqual([`appliance_down since 22:13:25: b is down: ${silent}`]);
  expect(toldAt(7000, "auth")).toEqual([lately]);
  expect(toldAt(9000, "timeout")).toEqual([`appliance_down since 22:13:25: b is down: ${silent}`]);
  expect(toldAt(10_000, "auth")).toEqual([lately]);
  expect(toldAt(129_999)).toEqual([lately]);
  expect(stateAt(129_999)).toBe("down");
  // The list of a has expired meanwhile.
  const alone = refused.replace(", its cluster has a MASTER", "");
  expect(toldAt(130_000)).toEqual([`appliance_refused since 22:15:30: ${alone}`]);
  expect(stateAt(130_000)).toBe("refused");
});

test("interfaces flap from their fifth change within five minutes on, until five minutes after the first", () => {
  const [fleet, judge] = [fleetOf([A, B], [A_IS_MASTER, B_IS_BACKUP]), createJudge()];
  const flappingAt = (atMs: number) =>
    documentOf(fleet, {}, atMs, judge)
      .problems.filter(({ kind }) => kind === "flapping")
      .map(({ since, summary, keys }) => [since?.slice(11, 19), summary, keys]);
  const lasting = { expiresAtMs: 1e12 };
  const told = [1, 2, 3, 4, 5].map((nth) => {
    const isB = nth % 2 === 1;
    fleet.record(seen.vrrp("a", listOf([isB ? BACKUP : MASTER]), lasting), nth * 60_000);
    fleet.record(seen.vrrp("b", listOf([isB ? MASTER : BACKUP]), lasting), nth * 60_000);
    return flappingAt(nth * 60_000);
  });
  const summary = `${VIP} flaps: the state at a and b changed 5 times or more in 5 minutes`;
  expect(told.slice(0, 4)).toEqual([[], [], [], []]);
  expect(told[4]).toEqual([["22:18:20", summary, ["group 2 192.0.2.100"]]]);
  expect([359_999, 360_000].map((atMs) => flappingAt(atMs).length)).toEqual([1, 0]);
});

test("many groups with the same problem are one problem that names the first VIP and counts the others", () => {
  const interfaces = [1, 2, 3].map((vhid) =>
    interfaceOf({ name: `carp${vhid}`, vhid, vip: `192.0.2.${99 + vhid}`, state: "BACKUP" }),
  );
  const lists = ["a", "b"].map((name) => seen.vrrp(name, listOf(interfaces)));
  expect(problemLines(documentOf(polledTwice([MEMBER_A, MEMBER_B], lists), {}, 1000))).toEqual([
    "critical no_master: Nobody is MASTER of 192.0.2.100 and 2 more VIPs",
  ]);
});

test("a failover that is half seen is neither well nor wrong", () => {
  const fleet = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  fleet.record(seen.vrrp("b", listOf([{ ...BACKUP, state: "MASTER" }])), 5000);
  const document = documentOf(fleet, {}, 5000);
  expect(document.verdict).toBe("unknown");
  expect(problemLines(document)).toEqual([`unknown master_changing: The MASTER of ${VIP} is changing`]);
});

test("one of a split brain that falls silent may still be MASTER", () => {
  const split = [A_IS_MASTER, seen.vrrp("b", listOf([{ ...BACKUP, state: "MASTER" }]))];
  const fleet = polledTwice([MEMBER_A, MEMBER_B], split);
  fleet.record(failed.vrrp("b", "timeout"), 5000);
  expect(problemLines(documentOf(fleet, {}, 5000))[0]).toBe(
    `critical master_unknown: a is MASTER of ${VIP}, and another member may still be: b does not answer in time (timeout)`,
  );
});

test("a latest MASTER that was a BACKUP when it fell silent is not said to be MASTER until then", () => {
  const [fleet, judge] = [fleetOf([MEMBER_A, MEMBER_B], [A_IS_MASTER, B_IS_BACKUP]), createJudge()];
  documentOf(fleet, {}, 0, judge);
  const summaryAfter = (atMs: number, observation: Observation) => {
    fleet.record(observation, atMs);
    return documentOf(fleet, {}, atMs, judge).problems[0]?.summary;
  };
  summaryAfter(1000, seen.vrrp("a", listOf([{ ...MASTER, state: "BACKUP" }])));
  expect(summaryAfter(2000, failed.vrrp("a", "timeout"))).toBe(
    `Who is MASTER of ${VIP} is not known: a does not answer in time (timeout)`,
  );
});

test("a website that fails at the master by one protocol, and everywhere by the other, is not brought back by a failover", () => {
  const polls = [A_IS_MASTER, B_IS_BACKUP, seen.website("a", 2, blocksOf(503, 503))];
  const fleet = polledTwice([A, B], [...polls, seen.website("b", 2, blocksOf(503, 200))]);
  expect(documentOf(fleet, {}, 1000).problems[0]).toMatchObject({
    kind: "website_down",
    summary: "shop is down: http 503 from a, MASTER, and b",
    advice: expect.stringMatching(/^Look behind/),
  });
});

const REFUSED_BY_ALL = ["a", "b"].map(
  (name) => `warning appliance_refused: ${name} refuses the exporter's password (auth). Nobody watches it`,
);
const UNREAD =
  "critical master_unknown: No VRRP list of ams was ever read: a and b refuse the credentials (auth)";

test.each([
  { name: "once", polls: "a refuses 0, b refuses 0", problems: REFUSED_BY_ALL },
  {
    name: "once by one member, and often by the other",
    polls: "a refuses 0, b refuses 0, a refuses 5, a refuses 10",
    problems: REFUSED_BY_ALL,
  },
  {
    name: "twice by one member, while the other was not polled yet",
    polls: "a refuses 0, a refuses 5",
    problems: [...REFUSED_BY_ALL.slice(0, 1), "unknown not_polled_yet: Not everything of b was polled yet"],
  },
  {
    name: "twice",
    polls: "a refuses 0, b refuses 0, a refuses 5, b refuses 5",
    problems: [UNREAD, ...REFUSED_BY_ALL],
  },
  {
    name: "twice, by a member that is down in the end",
    polls: "a refuses 0, b refuses 0, a refuses 5, b silent 5",
    problems: [
      `${UNREAD.replace("a and b refuse", "a refuses")}; b does not answer in time (timeout)`,
      ...REFUSED_BY_ALL.slice(0, 1),
      "warning appliance_down: b is down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "twice, and not by a member that answers",
    polls: "a refuses 0, b refuses 0, a refuses 5, b refuses 5, a nothing 6, a refuses 7, a refuses 8",
    problems: REFUSED_BY_ALL,
  },
  {
    name: "twice by both that are enabled, beside one that may be the master",
    members: [MEMBER_A, MEMBER_B, { ...MEMBER_C, enabled: false }],
    polls: "a refuses 0, b refuses 0, a refuses 5, b refuses 5",
    problems: REFUSED_BY_ALL,
  },
  {
    name: "twice by an appliance that stands alone",
    members: [MEMBER_A],
    polls: "a refuses 0, a refuses 5",
    problems: REFUSED_BY_ALL.slice(0, 1),
  },
])("the lists of a cluster of which none was read are refused $name", ({ members, polls, problems }) => {
  const [fleet, judge] = [fleetOf(members ?? [MEMBER_A, MEMBER_B]), createJudge()];
  let document = documentOf(fleet, {}, 0, judge);
  for (const { observation, atMs } of pollsOf(polls)) {
    fleet.record(observation, atMs);
    document = documentOf(fleet, {}, atMs, judge);
  }
  expect(problemLines(document)).toEqual(problems);
});

test("what was not polled yet is one problem, and nothing follows from it", () => {
  expect(problemLines(documentOf(fleetOf([A, B], [A_IS_MASTER])))).toEqual([
    "unknown not_polled_yet: Not everything of 2 appliances was polled yet",
  ]);
});

test("all is not well before the websites of an appliance were listed and described", () => {
  const lone = applianceOf({ name: "a", discovery: { exclude: [], limit: 200 } });
  const steps = [
    seen.vrrp("a", listOf([BACKUP])),
    seen.websites("a", [1]),
    seen.details("a", 1, { isEnabled: false }),
  ];
  const verdicts = steps.map((_, nth) => documentOf(fleetOf([lone], steps.slice(0, nth + 1))).verdict);
  expect(verdicts).toEqual(["unknown", "unknown", "well"]);
});

const IN_15_DAYS = WALL_MS / 1000 + 15 * 86_400;

test.each([
  ["its end", { notAfterSeconds: IN_15_DAYS }, "The certificate of a"],
  [
    "the end of one that signed it",
    {
      notAfterSeconds: 1e11,
      endingSigner: { role: "intermediate", subject: "CN=ours", notAfterSeconds: IN_15_DAYS },
    },
    "The intermediate CN=ours of a",
  ],
] as const)(
  "a certificate is a problem in the two weeks before %s, which begin and end with time alone",
  (_, ends, words) => {
    const certificate = { subject: "", issuer: "", sha256: "", ...ends };
    const polled = seen.vrrp("a", listOf([]), { certificate, expiresAtMs: 1e12 });
    const [fleet, judge] = [fleetOf([applianceOf({ name: "a" })], [polled]), createJudge()];
    const problemsAfter = (days: number) => problemLines(documentOf(fleet, {}, days * 86_400_000, judge));
    const expires = `warning certificate_expires: ${words} ends on 2023-11-29: polls fail then, unless it is pinned`;
    expect([0.9, 1, 14.9, 15].map(problemsAfter)).toEqual([[], [expires], [expires], []]);
  },
);

test("an appliance that stands alone and is neither MASTER nor BACKUP serves nothing", () => {
  const fleet = fleetOf(
    [applianceOf({ name: "lone" })],
    [seen.vrrp("lone", listOf([{ ...MASTER, state: "INIT" }]))],
  );
  expect(problemLines(documentOf(fleet))).toEqual([
    `critical not_serving: lone reports INIT for ${VIP} on carp0: it serves nothing there`,
  ]);
});

test.each([
  ["appliance_refused", "tls", "wrong_purpose"],
  ["appliance_down", "connect", "refused"],
  ["polling_stuck", "dns", "unknown_host"],
] as const)("the advice about %s is that on its failure, %s %s", (kind, reason, code) => {
  const failure: Failure = { reason, code, message: "" };
  const polled = { ...failed.vrrp("a", reason), outcome: { ok: false, failure } } as const;
  const members = ["a", "b"].map((name) => applianceOf({ name, cluster: "ab" }));
  const { problems } = documentOf(fleetOf(members, [seen.vrrp("b", listOf([MASTER])), polled, polled]));
  expect(problems.find((each) => each.kind === kind)?.advice).toBe(adviceOn(failure));
});

test.each(PROBLEM_KINDS)("the advice about %s is one sentence in the words of people", (kind) => {
  const names = { members: "a and b", appliance: "a", vips: "192.0.2.100" };
  for (const isUpElsewhere of [false, true]) {
    const advice = PROBLEMS[kind].advice({ ...names, isUpElsewhere });
    expect(advice).toMatch(/^[A-Z][^_]*[^.]$/);
    expect(advice).not.toMatch(/\. |\bpower\b|undefined/);
    expect(advice.length).toBeLessThanOrEqual(120);
  }
});

/** Tests of websites from number 2 on, by both members. */
const testsOf = (statuses: readonly (number | "fails")[]) =>
  statuses.flatMap((status, nth) =>
    ["a", "b"].map((name) =>
      status === "fails"
        ? failed.website(name, nth + 2, "timeout")
        : seen.website(name, nth + 2, [{ protocol: "https", status }]),
    ),
  );

test("most websites that are down are one problem, from three on, and so are those of which nothing is known", () => {
  const names = ["api", "blog", "portal", "shop"];
  const websites = names.map((name, nth) => websiteOf({ id: nth + 2, name }));
  const members = [A, B].map((member) => ({ ...member, websites }));
  const told = (...statuses: readonly (number | "fails")[]) =>
    problemLines(
      documentOf(polledTwice(members, [A_IS_MASTER, B_IS_BACKUP, ...testsOf(statuses)]), {}, 1000),
    ).filter((line) => / website/.test(line));
  expect(told(503, 503, 200, 200)).toHaveLength(2);
  expect(told(503, 503, 503, 200)).toEqual([
    "critical websites_down: 3 of 4 websites are down, 503 from a, MASTER, and b: api, blog and portal",
  ]);
  expect(told(503, "fails", 503, 503)).toEqual([
    "critical websites_down: 4 of 4 websites are down, or not known to be up: api, blog, portal and 1 more",
  ]);
  expect(told("fails", "fails", "fails", "fails")).toEqual([
    "critical websites_unknown: 4 of 4 websites are not known to be up, no answer in time from a, MASTER, and b: api, blog, portal and 1 more",
  ]);
});

const adviceIn = (fleet: Fleet) => documentOf(fleet, {}, 1000).problems.map(({ advice }) => advice);

test("the advice about a website that another member finds up is the failover, and names come from the cluster", () => {
  const up = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 200)]);
  expect(adviceIn(up)).toContain("A failover would bring it back");
  const down = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 503)]);
  expect(adviceIn(down)[0]).toMatch(/^Look behind the appliances/);
  const nobody = polledTwice([A, B], [seen.vrrp("a", listOf([BACKUP])), B_IS_BACKUP, ...SHOP_IS_UP]);
  expect(adviceIn(nobody)).toContain("Visitors reach nothing there: look at the interfaces of a and b");
});

const NO_SPACE = { detail: "ENOSPC: no space left on device, write", sinceMs: WALL_MS };

test("a journal that cannot be written is a problem", () => {
  const fleet = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  expect(documentOf(fleet, { storageFailure: NO_SPACE }, 1000).problems).toEqual([
    {
      kind: "storage_failing",
      severity: "warning",
      summary: "The exporter cannot write its journal: no space left on device",
      advice:
        "Polls and alerts go on, and what happens now is not remembered: look at the disk and the folder",
      since: "2023-11-14T22:13:20.000Z",
    },
  ]);
});

test("a configuration that could not be reloaded is a problem", () => {
  const fleet = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, ...SHOP_IS_UP]);
  expect(documentOf(fleet, { reloadFailedAtMs: WALL_MS }, 1000).problems).toEqual([
    {
      kind: "reload_failed",
      severity: "warning",
      summary: "The exporter runs on the configuration of 2023-11-14 22:13 UTC: the new one has an error",
      advice: "Run `check` on the configuration: its errors name the places",
      since: "2023-11-14T22:13:20.000Z",
    },
  ]);
});

test("a problem that was seen to begin has its beginning, one that was there at the first sight has none", () => {
  const fleet = polledTwice([A, B], [A_IS_MASTER, B_IS_BACKUP, https("a", 503), https("b", 503)]);
  const judge = createJudge();
  documentOf(fleet, {}, 1000, judge);
  fleet.record(failed.vrrp("b", "timeout"), 5000);
  const { problems } = documentOf(fleet, {}, 5000, judge);
  expect(problems.map(({ kind, since }) => [kind, since])).toEqual([
    ["website_down", undefined],
    ["redundancy_lost", "2023-11-14T22:13:25.000Z"],
    ["appliance_down", "2023-11-14T22:13:25.000Z"],
  ]);
});

test("a state of a website that follows from the first poll of a list may be older, and has no beginning", () => {
  const fleet = fleetOf([A, B], [https("a", 200), https("b", 503)]);
  const judge = createJudge();
  documentOf(fleet, {}, 1000, judge);
  fleet.record(B_IS_BACKUP, 5000);
  const { clusters } = documentOf(fleet, {}, 5000, judge);
  expect(clusters[0]?.websites.map(({ states }) => states)).toEqual([
    [{ protocol: "https", key: "website https #2", state: "unknown", level: "unknown", since: undefined }],
  ]);
});
