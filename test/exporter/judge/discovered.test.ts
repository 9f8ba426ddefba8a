import { expect, test } from "vitest";
import { gathered, type WebsiteDetails } from "../../../src/exporter/api/website-details.ts";
import { operationKey } from "../../../src/exporter/api/operation.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { lastingProblems } from "../../../src/exporter/judge/problems.ts";
import type { ClusterVerdict, WebsiteVerdict } from "../../../src/exporter/judge/verdict.ts";
import { websiteTargets } from "../../../src/exporter/web/website-targets.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import {
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  PUBLIC_TARGETS,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { createJudge } from "./support.ts";

const discovery = { exclude: [], limit: 200 };
const MEMBERS = [MEMBER_A, MEMBER_B].map((member) => ({ ...member, discovery }));
const HTTPS_IS_UP = [{ protocol: "https", status: 200 }] as const;
const CARP1 = { name: "carp1", vhid: 3, vip: "192.0.2.101" };

/** What is judged of a cluster after these observations. */
function judged(
  observations: readonly Observation[],
  members: Parameters<typeof fleetOf>[0] = MEMBERS,
): ClusterVerdict {
  const [facts] = clustersOf(fleetOf(members, observations));
  if (facts === undefined) throw new Error("a cluster is configured");
  return createJudge().judge(facts, { wallMs: WALL_MS, monotonicMs: 0 }).now;
}

/** A pair in which `a` is MASTER of 192.0.2.100 and `b` of 192.0.2.101, with a website of these details at both. */
function verdictOf(atA: Partial<WebsiteDetails>, atB: Partial<WebsiteDetails> = atA): ClusterVerdict {
  return judged([
    seen.vrrp("a", listOf([interfaceOf(), interfaceOf({ ...CARP1, state: "BACKUP" })])),
    seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" }), interfaceOf(CARP1)])),
    seen.websites("a", [1]),
    seen.websites("b", [5]),
    seen.details("a", 1, atA),
    seen.details("b", 5, atB),
    seen.website("a", 1, blocksOf(200, 200)),
    seen.website("b", 5, blocksOf(200, 503)),
  ]);
}

/** A pair with a website at the backup `b`, after these observations. */
function verdictAfter(
  more: readonly Observation[],
  members: Parameters<typeof fleetOf>[0] = MEMBERS,
): ClusterVerdict {
  const pair = [
    seen.vrrp("a", listOf([interfaceOf()])),
    seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" })])),
    seen.websites("b", [5]),
    seen.details("b", 5),
    seen.website("b", 5, blocksOf(200, 200)),
  ];
  return judged([...pair, ...more], members);
}

function websitesIn({ websites }: ClusterVerdict): readonly WebsiteVerdict[] {
  return [...websites.values()];
}

function statesIn(verdict: ClusterVerdict): readonly unknown[] {
  return websitesIn(verdict).flatMap(({ states }) => states.map(({ state }) => state));
}

function described(verdict: ClusterVerdict): readonly WebsiteVerdict[] {
  return websitesIn(verdict).filter(({ found }) => found.length > 0);
}

/** What is judged of the servers behind websites. */
function serversIn(verdict: ClusterVerdict): readonly unknown[] {
  return described(verdict).map(({ backends }) => backends);
}

function summariesOf(verdict: ClusterVerdict): readonly string[] {
  return lastingProblems(verdict).map(({ summary }) => summary);
}

const problemsAfter = (...more: readonly Observation[]) => summariesOf(verdictAfter(more));

test.each([
  [["192.0.2.100"], "partially_down"],
  [["192.0.2.101"], "down_at_master"],
  [["*"], "down_at_master"],
  [["*", "192.0.2.100"], "down_at_master"],
  [["203.0.113.1"], "down_at_master"],
])("the masters of the VIPs on which a website listens decide about it: %j", (bind, https) => {
  expect(statesIn(verdictOf({ bind }))).toEqual(["up", https]);
});

const DOWN = [seen.website("b", 5, blocksOf(503, 503)), seen.website("b", 5, blocksOf(503, 503))];
const LISTED = seen.websites("a", [1]);
const ONLY_B_DISCOVERS = MEMBERS.map((each) =>
  each.name === "a" ? { ...each, discovery: undefined } : each,
);
const A_IS_DISABLED = MEMBERS.map((each) => ({ ...each, enabled: each.name === "b" }));
const NINE = websiteOf({ id: 9 });
const FAILED_SERVER = gathered([{ address: "192.0.2.81:80", role: "active", isOk: false }]);

const OTHER_FAILS = [
  seen.websites("a", [1, 2]),
  seen.details("a", 1, { host: "other.example" }),
  seen.details("a", 2, { host: "third.example" }),
  failed.details("a", 2, "decode"),
];

test.each([
  { master: "was not polled", more: [], states: [undefined, undefined] },
  { master: "has listed its websites only", more: [LISTED], states: [undefined, undefined] },
  { master: "has none", more: [seen.websites("a", [])], states: ["unknown", "unknown"] },
  { master: "has not tested it", more: [LISTED, seen.details("a", 1)], states: [undefined, undefined] },
  {
    master: "offers another protocol only",
    more: [LISTED, seen.details("a", 1, { protocol: "https" }), seen.website("a", 1, HTTPS_IS_UP)],
    states: [undefined, "up"],
  },
  {
    master: "has old firmware, and which is down",
    more: [...DOWN, failed.websites("a", "unsupported")],
    states: ["partially_down", "partially_down"],
  },
  {
    master: "has another whose details fail",
    more: OTHER_FAILS,
    states: [undefined, undefined, undefined, undefined],
  },
  { master: "discovers none", more: [], members: ONLY_B_DISCOVERS, states: [undefined, undefined] },
  {
    master: "discovers none, and which is down",
    more: DOWN,
    members: ONLY_B_DISCOVERS,
    states: ["partially_down", "partially_down"],
  },
  {
    master: "discovers none, with an id and no address",
    more: [seen.websites("b", []), seen.website("b", 9, blocksOf(200, 200))],
    members: ONLY_B_DISCOVERS.map((each) => (each.name === "a" ? each : { ...each, websites: [NINE] })),
    states: ["unknown", "unknown"],
  },
  { master: "may be disabled", more: [], members: A_IS_DISABLED, states: [undefined, undefined] },
  { master: "is no member", more: [], members: MEMBERS.slice(1), states: ["up", "up"] },
])("a website of the backup whose master $master", ({ more, members, states }) => {
  expect(statesIn(verdictAfter(more, members))).toEqual(states);
});

test.each([
  { why: "is disabled", atMaster: [LISTED, seen.details("a", 1, { isEnabled: false })] },
  { why: "cannot be read", atMaster: [LISTED, failed.details("a", 1, "decode")] },
  { why: "has no known port", atMaster: [LISTED, seen.details("a", 1, { port: undefined })] },
  { why: "is in no list of old firmware", atMaster: [failed.websites("a", "unsupported")] },
])("a website that the master does not test because it $why is no problem", ({ atMaster }) => {
  expect(statesIn(verdictAfter(atMaster))).not.toContain("unknown");
});

test("a website that the master has disabled is not down, whatever the others find, and its servers are not missed", () => {
  const verdict = verdictAfter([
    LISTED,
    seen.details("a", 1, { isEnabled: false }),
    seen.details("b", 5, { backends: FAILED_SERVER }),
    ...DOWN,
  ]);
  expect(statesIn(verdict)).toEqual([undefined, undefined]);
  expect(serversIn(verdict)).toEqual(["some_down"]);
});

test("the servers of a website are not known while the details of its master fail", () => {
  expect(serversIn(verdictAfter([LISTED, seen.details("a", 1)]))).toEqual(["ok"]);
  const failure = failed.details("a", 1, "decode");
  expect(serversIn(verdictAfter([LISTED, seen.details("a", 1), failure]))).toEqual([undefined]);
});

test("lost servers of a website that no master tests are critical while it is not up", () => {
  const verdict = verdictAfter([
    failed.websites("a", "decode"),
    seen.details("b", 5, { backends: FAILED_SERVER }),
    ...DOWN,
  ]);
  expect(statesIn(verdict)).toEqual(["partially_down", "partially_down"]);
  expect(serversIn(verdict)).toEqual(["none_usable"]);
});

test("a website that is down by one of its protocols is not known to be up when its servers are gone", () => {
  const atB = { backends: FAILED_SERVER, bind: ["192.0.2.101"] };
  expect(serversIn(verdictOf(atB))).toEqual(["none_usable"]);
  expect(serversIn(verdictOf({ ...atB, protocol: "http" }))).toEqual(["none_usable_but_up"]);
});

test("a website whose tests fail every second time is up when its servers are gone", () => {
  const details = [LISTED, seen.details("a", 1, { backends: FAILED_SERVER })];
  const tests = [503, 200, 503, 200, 503, 200].map((status) =>
    seen.website("a", 1, blocksOf(status, status)),
  );
  expect(statesIn(verdictAfter([...details, ...tests]))).toEqual(["up", "up"]);
  const unstable = verdictAfter([...details, seen.website("a", 1, blocksOf(200, 200)), ...tests]);
  expect(statesIn(unstable)).toEqual(["unstable", "unstable"]);
  expect(serversIn(unstable)).toEqual(["none_usable_but_up"]);
});

const notFound = (id: number): Observation => failed.details("a", id, "http_status", { isGone: true });
const ONE_AND_TWO = [
  seen.websites("a", [1, 2]),
  seen.details("a", 1),
  seen.details("a", 2, { host: "two.example" }),
];
const LATER = { completedAtMs: WALL_MS + 1000 };

/** The websites of `a` that are tested after these observations. */
function tested(...more: readonly Observation[]): readonly string[] | undefined {
  const [cluster] = clustersOf(fleetOf(MEMBERS, [...ONE_AND_TWO, ...more]));
  return cluster?.appliances[0]?.websites.map(({ website }) => website);
}

test("a website whose details are no longer found is gone, until a list still has it", () => {
  expect(tested(notFound(2))).toEqual(["shop"]);
  expect(tested(notFound(2), notFound(1))).toEqual([]);
  expect(tested(notFound(2), seen.details("a", 2, { host: "two.example" }))).toHaveLength(2);
  expect(tested(notFound(2), notFound(1), seen.websites("a", [1, 2], LATER))).toHaveLength(2);
  expect(tested(notFound(2), seen.websites("a", [1], LATER))).toEqual(["shop"]);
});

const POLLED = "vrrp website_list website_details/1 website_details/2 website_test/1 website_test/2";

test("websites of an appliance that has no list any more are tested on, with their counters", () => {
  const fleet = fleetOf(MEMBERS, [
    ...ONE_AND_TWO,
    seen.website("a", 1, [{ protocol: "http", status: 200 }]),
    seen.website("a", 1, [{ protocol: "http", status: 503 }]),
    failed.websites("a", "unsupported"),
    notFound(1),
    notFound(2),
  ]);
  expect(fleet.operations("a").map(operationKey).join(" ")).toBe(POLLED);
  const [cluster] = clustersOf(fleet);
  expect(cluster?.appliances[0]?.websites[0]?.found?.statuses[0]?.changes).toBe(1);
});

test("websites whose details are not found come back when the list is found to be missing too", () => {
  expect(tested(notFound(1), notFound(2))).toEqual([]);
  expect(tested(notFound(1), notFound(2), failed.websites("a", "unsupported"))).toHaveLength(2);
  expect(tested(notFound(1), notFound(2), failed.websites("a", "decode"))).toEqual([]);
});

test("an appliance without any details is no trouble, and its websites are tested by their ids", () => {
  const none = [seen.websites("a", [1, 2]), notFound(1), notFound(2)];
  expect(fleetOf(MEMBERS, none).operations("a").map(operationKey).join(" ")).toBe(POLLED);
  expect(problemsAfter(...none).join()).not.toContain("Details");
});

test("websites of which there are no details are not joined by their ids: another member may give them to others", () => {
  const verdict = judged([
    seen.vrrp("a", listOf([interfaceOf({ state: "BACKUP" })])),
    seen.vrrp("b", listOf([interfaceOf()])),
    LISTED,
    seen.details("a", 1),
    seen.websites("b", [1]),
    { ...notFound(1), appliance: "b" },
    seen.website("a", 1, [{ protocol: "http", status: 200 }]),
    seen.website("b", 1, [{ protocol: "http", status: 503 }]),
  ]);
  expect(websitesIn(verdict).map(({ key, states: [first] }) => `${key} ${first?.state}`)).toEqual([
    "shop.example:443 undefined",
    "#1 at b down",
  ]);
  expect(summariesOf(verdict)).toContain("website 1 is down: 503 from b, MASTER");
});

const DETAILS_UNREADABLE = "Details of websites of a are not known: its answer cannot be decoded (decode)";

test.each<readonly [what: string, more: readonly Observation[], problems: readonly unknown[]]>([
  [
    "a website is missing at the master",
    [seen.websites("a", [])],
    ["shop is not known to be up: missing at a, MASTER; http 200 from b; https 200 from b"],
  ],
  ["details cannot be read", [LISTED, failed.details("a", 1, "decode")], [DETAILS_UNREADABLE]],
  [
    "a list cannot be read",
    [failed.websites("a", "decode")],
    ["The websites of a cannot be listed: its answer cannot be decoded (decode)"],
  ],
  ["the appliance is down too", [failed.websites("a", "connect"), failed.vrrp("a", "connect")], []],
  [
    "details are not found and others fail",
    [seen.websites("a", [1, 2]), notFound(1), failed.details("a", 2, "decode")],
    [DETAILS_UNREADABLE],
  ],
  ["details are not found", [...ONE_AND_TWO, notFound(1)], []],
  [
    "details are not found that a later list still has",
    [...ONE_AND_TWO, notFound(1), seen.websites("a", [1, 2], LATER)],
    [expect.stringContaining("Details of websites of a are not known: it answers with an error")],
  ],
  ["firmware has no list", [failed.websites("a", "unsupported")], []],
  [
    "firmware has no list any more",
    [...ONE_AND_TWO, failed.websites("a", "unsupported")],
    ["The websites of a cannot be listed: the appliance lacks this operation (unsupported)"],
  ],
  [
    "firmware has neither list nor details any more",
    [...ONE_AND_TWO, notFound(1), notFound(2), failed.websites("a", "unsupported")],
    ["The websites of a cannot be listed: the appliance lacks this operation (unsupported)"],
  ],
  [
    "firmware has no details any more",
    [...ONE_AND_TWO, notFound(1), notFound(2), seen.websites("a", [1, 2], LATER)],
    ["Details of websites of a are not known: the appliance lacks this operation (unsupported)"],
  ],
  ["firmware has a list and never had details", [LISTED, notFound(1), seen.websites("a", [1], LATER)], []],
  [
    "firmware has no list any more, and it is down",
    [...ONE_AND_TWO, failed.websites("a", "unsupported"), failed.vrrp("a", "connect")],
    [],
  ],
  ["firmware had no list before, and has one now", [failed.websites("a", "unsupported"), ...ONE_AND_TWO], []],
  ...(["dns", "connect", "tls", "proxy", "appliance_down"] as const).map(
    (reason) =>
      [
        `details were not reached (${reason}) at an appliance that answers now`,
        [...ONE_AND_TWO, failed.details("a", 2, reason)],
        [
          `Details of websites of a are not known: it was out of reach at the latest poll (${reason.replace("_", " ")})`,
        ],
      ] as const,
  ),
  [
    "the list was not reached at an appliance that answers now",
    [failed.websites("a", "connect")],
    ["The websites of a cannot be listed: it was out of reach at the latest poll (connect)"],
  ],
])("what is a problem of the websites of an appliance: %s", (_, more, problems) => {
  const ofWebsites = problemsAfter(...more).filter((summary) =>
    /^shop .*missing|^Details|^The websites/.test(summary),
  );
  expect(ofWebsites).toEqual(problems);
});

test.each([
  ["IPv6 address", "2001:DB8::1", "2001:db8:0::1", "[2001:db8::1]:443"],
  ["name with a dot", "shop.example.", "Shop.example", "shop.example:443"],
  ["name in capitals", "Shop.Example", "shop.example", "shop.example:443"],
  ["IPv6 address in brackets", "[2001:db8::6]", "2001:DB8::6", "[2001:db8::6]:443"],
  ["IPv4 address with a dot", "192.0.2.6.", "192.0.2.6", "192.0.2.6:443"],
  ["A-label", "m\u00FCnchen.example", "XN--MNCHEN-3YA.example", "xn--mnchen-3ya.example:443"],
  ["ideographic dots", "shop\u3002example\u3002", "shop.example", "shop.example:443"],
])("a website is the same at both members in every spelling of its host: %s", (_, atA, atB, key) => {
  const verdict = verdictOf({ host: atA }, { host: atB });
  expect(described(verdict).map((website) => website.key)).toEqual([key]);
  const urls = described(verdict).flatMap(({ at }) => at.map(({ known }) => known.urls));
  const both = [`http://${key.replace(":443", ":80")}/`, `https://${key}/`];
  expect(urls).toEqual([both, both]);
});

test("id and name are those at the first member that has the website, tested or not", () => {
  const verdict = verdictOf({ isEnabled: false }, { name: "other" });
  expect(websitesIn(verdict).map(({ websiteId, website }) => `${websiteId} ${website}`)).toEqual(["1 shop"]);
});

test("two websites of one id and name at different members are two", () => {
  const verdict = judged([
    LISTED,
    seen.websites("b", [1]),
    seen.details("a", 1, { host: "one.example" }),
    seen.details("b", 1, { host: "two.example" }),
  ]);
  const names = websitesIn(verdict).map(({ websiteId, website }) => `${websiteId} ${website}`);
  expect(names).toEqual(["1 shop", "1 shop (two.example:443)"]);
});

test("a website of an unknown host is not joined, and no member is said to lack one", () => {
  const verdict = verdictOf({}, { host: "", port: undefined });
  expect(described(verdict).map(({ key }) => key)).toEqual(["shop.example:443", "#5 at b"]);
  expect(websitesIn(verdict).flatMap(({ lacking }) => lacking)).toEqual([]);
});

test("an address of bind that is an alias of a VIP is that VIP", async () => {
  const withAlias = { aliases: ["2001:DB8::7"] };
  const verdict = judged([
    seen.vrrp("a", listOf([interfaceOf(withAlias), interfaceOf({ ...CARP1, state: "BACKUP" })])),
    seen.vrrp("b", listOf([interfaceOf({ ...withAlias, state: "BACKUP" }), interfaceOf(CARP1)])),
    ...MEMBERS.flatMap(({ name }) => [
      seen.websites(name, [1]),
      seen.details(name, 1, { protocol: "https", bind: ["2001:db8::7"] }),
    ]),
    seen.website("a", 1, HTTPS_IS_UP),
    seen.website("b", 1, [{ protocol: "https", status: 503 }]),
  ]);
  expect(statesIn(verdict)).toEqual(["partially_down"]);
  expect(await urlsOf(verdict)).toEqual(["https://shop.example/", "https://[2001:db8::7]/"]);
});

test("websites of one host and port at one appliance have verdicts of their own, a disabled one counted last", () => {
  const verdict = judged([
    seen.vrrp("a", listOf([interfaceOf()])),
    seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" })])),
    ...MEMBERS.flatMap(({ name }) => [
      seen.websites(name, [1, 2, 3]),
      seen.details(name, 1, { protocol: "https", isEnabled: name !== "a" }),
      seen.details(name, 2, { protocol: "https", name: "second" }),
      seen.details(name, 3, { protocol: "https", name: "third", isEnabled: name === "a" }),
      ...[1, 2, 3].map((id) => seen.website(name, id, [{ protocol: "https", status: id === 2 ? 503 : 200 }])),
    ]),
  ]);
  expect(websitesIn(verdict).map(({ key, states: [first] }) => `${key} ${first?.state}`)).toEqual([
    "shop.example:443 down",
    "shop.example:443 (2) up",
    "shop.example:443 (3) undefined",
  ]);
});

interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

async function targetsOf(verdict: ClusterVerdict): Promise<readonly TargetGroup[]> {
  const rendering = await websiteTargets([verdict], PUBLIC_TARGETS);
  return JSON.parse(rendering?.text.join("") ?? "[]");
}

async function urlsOf(verdict: ClusterVerdict): Promise<readonly string[]> {
  return (await targetsOf(verdict)).flatMap(({ targets }) => targets);
}

test("only the protocols that a configured website names are targets", async () => {
  const websites = [websiteOf({ id: 1, protocols: ["https"] })];
  const verdict = judged(
    [
      failed.vrrp("a", "timeout"),
      failed.vrrp("b", "timeout"),
      LISTED,
      seen.details("a", 1),
      seen.websites("b", []),
    ],
    MEMBERS.map((member) => ({ ...member, websites })),
  );
  expect(await urlsOf(verdict)).toEqual(["https://shop.example/"]);
});

test("each URL is a target, and so is each VIP on which the website listens", async () => {
  const verdict = verdictOf({ bind: ["192.0.2.100"] });
  expect(await urlsOf(verdict)).toEqual([
    "http://shop.example/",
    "https://shop.example/",
    "http://192.0.2.100/",
    "https://192.0.2.100/",
  ]);
  expect((await targetsOf(verdict))[3]?.labels).toEqual({
    __meta_appliance_exporter_ha_cluster: "ams",
    __meta_appliance_exporter_website: "shop",
    __meta_appliance_exporter_website_id: "1",
    __meta_appliance_exporter_host: "shop.example",
    __meta_appliance_exporter_protocol: "https",
    __meta_appliance_exporter_vip: "192.0.2.100",
  });
});

test("a website is reached by the VIPs on which it listens at any of the members", async () => {
  const verdict = verdictOf({ protocol: "https", bind: ["192.0.2.100"] }, { bind: ["192.0.2.101"] });
  expect(await urlsOf(verdict)).toEqual([
    "https://shop.example/",
    "https://192.0.2.100/",
    "https://192.0.2.101/",
  ]);
});

test.each<Partial<WebsiteDetails>>([
  { host: "*.example" },
  { host: "shop.example/path?x=" },
  { host: "user@shop.example" },
  { port: undefined, protocol: "https" },
])("a website without a usable host name or port has no target: %j", async (details) => {
  expect(await urlsOf(verdictOf(details))).toEqual([]);
});

test("of all servers of an appliance 2,000 are exported, and the others are a problem", () => {
  const servers = Array.from({ length: 40 }, (_, nth) => {
    return { address: `192.0.2.81:${nth}`, role: "active", isOk: true } as const;
  });
  const ids = Array.from({ length: 70 }, (_, nth) => nth + 1);
  const verdict = verdictAfter([
    seen.websites("a", ids),
    ...ids.map((id) => seen.details("a", id, { host: `${id}.example`, backends: gathered(servers) })),
  ]);
  const shown = described(verdict).flatMap(({ found }) =>
    found
      .filter(({ identity }) => identity.appliance === "a")
      .map(({ details }) => details.backends?.shown.length),
  );
  // 62 x 32 + 16: the rest shows none.
  expect(shown).toEqual([...Array<number>(62).fill(32), 16, ...Array<number>(7).fill(0)]);
  expect(lastingProblems(verdict).map(({ kind, summary }) => `${kind}: ${summary}`)).toContain(
    "backends_left_out: 800 servers behind websites of a beyond 32 of a website or 2,000 in all: only counted",
  );
});
