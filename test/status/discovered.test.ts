import { expect, test } from "vitest";
import { gathered, type WebsiteDetails } from "../../src/api/website-details.ts";
import type { Observation } from "../../src/polling/observation.ts";
import { lastingProblems } from "../../src/status/problems.ts";
import type { ClusterVerdict, WebsiteVerdict } from "../../src/status/verdict.ts";
import { websiteTargets } from "../../src/status/website-targets.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import {
  blocksOf,
  detailsFailed,
  detailsSeen,
  interfaceOf,
  listOf,
  PUBLIC_TARGETS,
  vrrpSeen,
  websiteSeen,
  vrrpFailed,
  websitesFailed,
  websiteOf,
  websitesSeen,
  failureOf,
  WALL_MS,
} from "../support/observations.ts";
import { createJudge } from "./support.ts";

const discovery = { exclude: [], limit: 200 };
const MEMBERS = [MEMBER_A, MEMBER_B].map((member) => ({ ...member, discovery }));
const CARP1 = { name: "carp1", vhid: 3, vip: "192.0.2.101" };

/** A pair in which `a` is MASTER of 192.0.2.100 and `b` of 192.0.2.101, with a website of these details at both. */
function verdictsOf(atA: Partial<WebsiteDetails>, atB: Partial<WebsiteDetails> = atA) {
  const fleet = fleetOf(MEMBERS, [
    vrrpSeen("a", listOf([interfaceOf(), interfaceOf({ ...CARP1, state: "BACKUP" })])),
    vrrpSeen("b", listOf([interfaceOf({ state: "BACKUP" }), interfaceOf(CARP1)])),
    websitesSeen("a", [1]),
    websitesSeen("b", [5]),
    detailsSeen("a", 1, atA),
    detailsSeen("b", 5, atB),
    websiteSeen("a", 1, blocksOf(200, 200)),
    websiteSeen("b", 5, blocksOf(200, 503)),
  ]);
  const at = { wallMs: WALL_MS, monotonicMs: 0 };
  return clustersOf(fleet).map((facts) => createJudge().judge(facts, at).now);
}

const stateOf = (details: Partial<WebsiteDetails>) => verdictsOf(details).flatMap(statesIn);

test("the masters of the VIPs on which a website listens decide about it", () => {
  expect(stateOf({ bind: ["192.0.2.100"] })).toEqual(["up", "partially_down"]);
  expect(stateOf({ bind: ["192.0.2.101"] })).toEqual(["up", "down_at_master"]);
  expect(stateOf({ bind: ["*"] })).toEqual(["up", "down_at_master"]);
  expect(stateOf({ bind: ["*", "192.0.2.100"] })).toEqual(["up", "down_at_master"]);
  expect(verdictsOf({ bind: ["192.0.2.100"] }, { bind: [] }).flatMap(statesIn)).toEqual([
    "up",
    "down_at_master",
  ]);
  expect(stateOf({ bind: ["203.0.113.1"] })).toEqual(["up", "down_at_master"]);
});

/** Of a pair with a website at the backup, after these observations. */
function verdictAfter(
  more: readonly Observation[],
  members: Parameters<typeof fleetOf>[0] = MEMBERS,
): ClusterVerdict | undefined {
  const fleet = fleetOf(members, [
    vrrpSeen("a", listOf([interfaceOf()])),
    vrrpSeen("b", listOf([interfaceOf({ state: "BACKUP" })])),
    websitesSeen("b", [5]),
    detailsSeen("b", 5),
    websiteSeen("b", 5, blocksOf(200, 200)),
    ...more,
  ]);
  const [facts] = clustersOf(fleet);
  return facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
}

function websitesIn(verdict: ClusterVerdict | undefined): readonly WebsiteVerdict[] {
  return [...(verdict?.websites.values() ?? [])];
}

function statesIn(verdict: ClusterVerdict | undefined): readonly unknown[] {
  return websitesIn(verdict).flatMap(({ states }) => states.map(({ state }) => state));
}

/** What is judged of the servers behind websites. */
function serversIn(verdict: ClusterVerdict | undefined): readonly unknown[] {
  return described(verdict).map(({ backends }) => backends);
}

function described(verdict: ClusterVerdict | undefined): readonly WebsiteVerdict[] {
  return websitesIn(verdict).filter(({ found }) => found.length > 0);
}

const statesAfter = (...more: readonly Observation[]) => statesIn(verdictAfter(more));

test("a website of the backup alone is not unknown before the websites of the master were all polled", () => {
  expect(statesAfter()).toEqual([undefined, undefined]);
  expect(statesAfter(websitesSeen("a", [1]))).toEqual([undefined, undefined]);
  expect(statesAfter(websitesSeen("a", []))).toEqual(["unknown", "unknown"]);
});

test.each([
  { why: "is disabled", atMaster: [websitesSeen("a", [1]), detailsSeen("a", 1, { isEnabled: false })] },
  { why: "cannot be read", atMaster: [websitesSeen("a", [1]), detailsFailed("a", 1, "decode")] },
  { why: "has no known port", atMaster: [websitesSeen("a", [1]), detailsSeen("a", 1, { port: undefined })] },
  { why: "is in no list of old firmware", atMaster: [websitesFailed("a", "unsupported")] },
])("a website that the master does not test because it $why there is no trouble", ({ atMaster }) => {
  expect(statesAfter(...atMaster)).not.toContain("unknown");
});

test("a website that the master has disabled is not down, whatever the others find, and its servers are not missed", () => {
  const verdict = verdictAfter([
    websitesSeen("a", [1]),
    detailsSeen("a", 1, { isEnabled: false }),
    detailsSeen("b", 5, { backends: gathered([{ address: "192.0.2.81:80", role: "active", isOk: false }]) }),
    websiteSeen("b", 5, blocksOf(503, 503)),
    websiteSeen("b", 5, blocksOf(503, 503)),
  ]);
  expect(statesIn(verdict)).toEqual([undefined, undefined]);
  expect(serversIn(verdict)).toEqual(["some_down"]);
});

test("a website that the backup has tested and the master not yet has no state", () => {
  expect(statesAfter(websitesSeen("a", [1]), detailsSeen("a", 1))).toEqual([undefined, undefined]);
});

test("a website of the backup alone is not unknown where the master's websites are not discovered", () => {
  const members = MEMBERS.map((each) => (each.name === "a" ? { ...each, discovery: undefined } : each));
  expect(statesIn(verdictAfter([], members))).toEqual([undefined, undefined]);
});

function problemsAfter(...more: readonly Observation[]): readonly string[] {
  const verdict = verdictAfter(more);
  return verdict === undefined ? [] : lastingProblems(verdict).map(({ summary }) => summary);
}

test("the problem of a website at the backup alone says that the master lacks it", () => {
  expect(problemsAfter(websitesSeen("a", []))).toContain(
    "Website shop is not known to be up: missing at a, http 200 from b, https 200 from b",
  );
});

test("a website that a member finds down and the master does not test is down as seen from that member alone", () => {
  const members = MEMBERS.map((each) => (each.name === "a" ? { ...each, discovery: undefined } : each));
  const isDown = [websiteSeen("b", 5, blocksOf(503, 503)), websiteSeen("b", 5, blocksOf(503, 503))];
  expect(statesIn(verdictAfter(isDown, members))).toEqual(["partially_down", "partially_down"]);
  expect(statesAfter(...isDown, websitesFailed("a", "unsupported"))).toEqual([
    "partially_down",
    "partially_down",
  ]);
});

test("no member lacks a website while the details of another of its websites fail", () => {
  const verdict = verdictAfter([
    websitesSeen("a", [1, 2]),
    detailsSeen("a", 1, { host: "other.example" }),
    detailsSeen("a", 2, { host: "third.example" }),
    detailsFailed("a", 2, "decode"),
  ]);
  expect(statesIn(verdict)).not.toContain("unknown");
  expect(differencesIn(verdict)).toEqual(["missing: missing at b"]);
});

const serversAfter = (...more: readonly Observation[]) =>
  serversIn(verdictAfter([websitesSeen("a", [1]), detailsSeen("a", 1), ...more]));

test("the servers of a website are not known while the details of its master fail", () => {
  expect(serversAfter()).toEqual(["ok"]);
  expect(serversAfter(detailsFailed("a", 1, "decode"))).toEqual([undefined]);
});

/** Details that are not found. */
const gone = (id: number) => ({
  ...detailsFailed("a", id, "http_status"),
  outcome: { ok: false, failure: failureOf("http_status", { isGone: true }) } as const,
});

const unknownDetails = (reason: string) =>
  expect.stringContaining(`Details of websites of a are not known: ${reason}`);

test("websites that lack details do not hide others whose details fail, and are a problem while they are listed", () => {
  const listed = websitesSeen("a", [1, 2, 3]);
  const known = detailsSeen("a", 3, { host: "third.example" });
  expect(problemsAfter(listed, gone(1), detailsFailed("a", 2, "decode"))).toContainEqual(
    unknownDetails("its answer"),
  );
  expect(problemsAfter(listed, known, gone(1))).not.toContainEqual(unknownDetails(""));
  const later = { ...listed, completedAtMs: WALL_MS + 1000 };
  expect(problemsAfter(listed, known, gone(1), later)).toContainEqual(
    unknownDetails("it answers with an error"),
  );
});

const notFound = (id: number): Observation => detailsFailed("a", id, "http_status", { isGone: true });

test("a website whose details are no longer found is gone, until a list still has it", () => {
  const known = [
    websitesSeen("a", [1, 2]),
    detailsSeen("a", 1),
    detailsSeen("a", 2, { host: "two.example" }),
  ];
  const tested = (...more: readonly Observation[]) =>
    clustersOf(fleetOf(MEMBERS, [...known, ...more]))[0]?.appliances[0]?.websites.map(
      ({ website }) => website,
    );
  expect(tested(notFound(2))).toEqual(["shop"]);
  expect(tested(notFound(2), notFound(1))).toEqual([]);
  expect(tested(notFound(2), detailsSeen("a", 2, { host: "two.example" }))).toHaveLength(2);
  const later = { completedAtMs: WALL_MS + 1000 };
  expect(tested(notFound(2), notFound(1), websitesSeen("a", [1, 2], later))).toHaveLength(2);
  expect(tested(notFound(2), websitesSeen("a", [1], later))).toEqual(["shop"]);
});

test("an appliance without any details is no trouble, and its websites are tested by their ids", () => {
  const fleet = fleetOf(MEMBERS, [websitesSeen("a", [1, 2]), gone(1), gone(2)]);
  expect(fleet.plan("a").tests).toEqual([1, 2]);
  expect(problemsAfter(websitesSeen("a", [1, 2]), gone(1), gone(2)).join()).not.toContain("Details");
});

test("lost servers of a website that no master tests are critical while it is not up", () => {
  const backends = gathered([{ address: "192.0.2.81:80", role: "active", isOk: false }]);
  const down = websiteSeen("b", 5, blocksOf(503, 503));
  const verdict = verdictAfter([
    websitesFailed("a", "decode"),
    detailsSeen("b", 5, { backends }),
    down,
    down,
  ]);
  expect(statesIn(verdict)).toEqual(["partially_down", "partially_down"]);
  expect(serversIn(verdict)).toEqual(["none_usable"]);
});

test("websites of which there are no details are not joined by their ids: another member may give them to others", () => {
  const fleet = fleetOf(MEMBERS, [
    vrrpSeen("a", listOf([interfaceOf({ state: "BACKUP" })])),
    vrrpSeen("b", listOf([interfaceOf()])),
    websitesSeen("a", [1]),
    detailsSeen("a", 1),
    websitesSeen("b", [1]),
    { ...gone(1), appliance: "b" },
    websiteSeen("a", 1, [{ protocol: "http", status: 200 }]),
    websiteSeen("b", 1, [{ protocol: "http", status: 503 }]),
  ]);
  const [facts] = clustersOf(fleet);
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  expect(websitesIn(verdict).map(({ key, states: [first] }) => `${key} ${first?.state}`)).toEqual([
    "shop.example:443 undefined",
    "#1 at b down",
  ]);
  const problems = verdict === undefined ? [] : lastingProblems(verdict).map(({ summary }) => summary);
  expect(problems).toContain("Website 1 is down: http 503 from b");
});

test("details that cannot be read are a problem, and a list only of an appliance that can be polled", () => {
  expect(problemsAfter(websitesSeen("a", [1]), detailsFailed("a", 1, "decode"))).toContain(
    "Details of websites of a are not known: its answer cannot be decoded (decode)",
  );
  expect(problemsAfter(websitesFailed("a", "decode"))).toContain(
    "The websites of a cannot be listed: its answer cannot be decoded (decode)",
  );
  const whileDown = problemsAfter(websitesFailed("a", "connect"), vrrpFailed("a", "connect"));
  expect(whileDown.filter((summary) => summary.includes("listed"))).toEqual([]);
});

test("a host is the same website in every spelling, and so is a server", () => {
  const [verdict] = verdictsOf({ host: "2001:DB8::1" }, { host: "2001:db8:0::1" });
  expect(described(verdict).map(({ key }) => key)).toEqual(["[2001:db8::1]:443"]);
  const [withDot] = verdictsOf({ host: "shop.example." }, { host: "Shop.example" });
  expect(described(withDot).map(({ key }) => key)).toEqual(["shop.example:443"]);
});

test("a protocol that the master does not offer is not trouble", () => {
  const states = statesAfter(
    websitesSeen("a", [1]),
    detailsSeen("a", 1, { protocol: "https" }),
    websiteSeen("a", 1, [{ protocol: "https", status: 200 }]),
  );
  expect(states).toEqual([undefined, "up"]);
});

test("id and name are those at the first member that has the website, tested or not", () => {
  const [verdict] = verdictsOf({ isEnabled: false }, { name: "other" });
  expect(websitesIn(verdict).map(({ websiteId, website }) => `${websiteId} ${website}`)).toEqual(["1 shop"]);
});

function differencesIn(verdict: ClusterVerdict | undefined): readonly string[] {
  const all = websitesIn(verdict).flatMap(({ differences }) => differences);
  return all.map(({ kind, words }) => `${kind}: ${words}`);
}

test("it is not known in what members differ of which a website was never read", () => {
  const fleet = fleetOf(MEMBERS, [
    websitesSeen("a", [1]),
    websitesSeen("b", [5]),
    detailsSeen("a", 1),
    detailsFailed("b", 5, "decode"),
  ]);
  const [facts] = clustersOf(fleet);
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  expect(differencesIn(verdict)).toEqual([]);
  expect(verdict?.differences).toEqual({});
});

test("nothing says that members agree before all details were polled", () => {
  const fleet = fleetOf(MEMBERS, [
    websitesSeen("a", [1]),
    websitesSeen("b", [5, 6]),
    detailsSeen("a", 1),
    detailsSeen("b", 5),
  ]);
  const [facts] = clustersOf(fleet);
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  expect(verdict?.differences).toEqual({});
});

test("no member lacks a website while its list has entries that are no ids", () => {
  const fleet = fleetOf(MEMBERS, [
    websitesSeen("a", [1]),
    websitesSeen("b", [], { invalid: ["$[0]"] }),
    detailsSeen("a", 1),
  ]);
  const [facts] = clustersOf(fleet);
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  expect(differencesIn(verdict)).toEqual([]);
  expect(verdict?.differences).not.toHaveProperty("missing");
});

test("several websites of one host and port at each member are compared in their order", () => {
  const ids = [1, 2];
  const fleet = fleetOf(MEMBERS, [
    ...MEMBERS.map(({ name }) => websitesSeen(name, ids)),
    ...MEMBERS.flatMap(({ name }) => ids.map((id) => detailsSeen(name, id, { isEnabled: id === 1 }))),
  ]);
  const [facts] = clustersOf(fleet);
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  expect(differencesIn(verdict)).toEqual([]);
});

test("a website is the same at both members in whatever case its host is written", () => {
  const [verdict] = verdictsOf({ host: "Shop.Example" }, { host: "shop.example" });
  expect([...(verdict?.websites.keys() ?? [])]).toEqual(["shop.example:443"]);
  expect(differencesIn(verdict)).toEqual([]);
});

test("a website that is down by one of its protocols is not known to be up when its servers are gone", () => {
  const backends = gathered([{ address: "192.0.2.81:80", role: "active", isOk: false }]);
  const stateOfServers = (bind: string) => serversIn(verdictsOf({ backends, bind: [bind] })[0]);
  expect(stateOfServers("192.0.2.101")).toEqual(["none_usable"]);
  const [verdict] = verdictsOf({ backends, protocol: "http", bind: ["192.0.2.101"] });
  expect(serversIn(verdict)).toEqual(["none_usable_but_up"]);
});

test("a website whose tests fail every second time is up when its servers are gone", () => {
  const backends = gathered([{ address: "192.0.2.81:80", role: "active", isOk: false }]);
  const tests = [503, 200, 503, 200, 503, 200].map((status) => websiteSeen("a", 1, blocksOf(status, status)));
  const verdict = verdictAfter([websitesSeen("a", [1]), detailsSeen("a", 1, { backends }), ...tests]);
  expect(statesIn(verdict)).toEqual(["up", "up"]);
  const unstable = verdictAfter([
    websitesSeen("a", [1]),
    detailsSeen("a", 1, { backends }),
    websiteSeen("a", 1, blocksOf(200, 200)),
    ...tests,
  ]);
  expect(statesIn(unstable)).toEqual(["unstable", "unstable"]);
  expect(serversIn(unstable)).toEqual(["none_usable_but_up"]);
});

test("members that differ in everything are named with what they say", () => {
  const other = { isEnabled: false, mode: "pass", protocol: "https", backends: gathered([]) } as const;
  const [verdict] = verdictsOf({}, other);
  expect(differencesIn(verdict)).toEqual([
    "enabled: enabled at a, disabled at b",
    "mode: protect at a, pass at b",
    "protocol: both at a, https at b",
    "backends: servers 192.0.2.81:8080 at a, servers none at b",
  ]);
});

test("what is not known differs from nothing", () => {
  const unknown = { isEnabled: undefined, mode: undefined, protocol: undefined, backends: undefined };
  expect(differencesIn(verdictsOf({}, unknown)[0])).toEqual([]);
});

test("a website of an unknown host is not joined, and no member is said to lack one", () => {
  const [verdict] = verdictsOf({}, { host: "", port: undefined });
  expect(described(verdict).map(({ key }) => key)).toEqual(["shop.example:443", "#5 at b"]);
  expect(differencesIn(verdict)).toEqual([]);
});

test("two websites of one id and name at different members are two", () => {
  const fleet = fleetOf(MEMBERS, [
    websitesSeen("a", [1]),
    websitesSeen("b", [1]),
    detailsSeen("a", 1, { host: "one.example" }),
    detailsSeen("b", 1, { host: "two.example" }),
  ]);
  const [facts] = clustersOf(fleet);
  if (facts === undefined) throw new Error("a cluster is configured");
  const { websites } = createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  const names = [...websites.values()].map(({ websiteId, website }) => `${websiteId} ${website}`);
  expect(names).toEqual(["1 shop", "1 shop (two.example:443)"]);
});

test("an address of bind that is an alias of a VIP is that VIP", async () => {
  const withAlias = { aliases: ["2001:DB8::7"] };
  const fleet = (state: string) =>
    fleetOf(MEMBERS, [
      vrrpSeen("a", listOf([interfaceOf(withAlias), interfaceOf({ ...CARP1, state: "BACKUP" })])),
      vrrpSeen("b", listOf([interfaceOf({ ...withAlias, state }), interfaceOf(CARP1)])),
      websitesSeen("a", [1]),
      websitesSeen("b", [1]),
      detailsSeen("a", 1, { protocol: "https", bind: ["2001:db8::7"] }),
      detailsSeen("b", 1, { protocol: "https", bind: ["2001:db8::7"] }),
      websiteSeen("a", 1, [{ protocol: "https", status: 200 }]),
      websiteSeen("b", 1, [{ protocol: "https", status: 503 }]),
    ]);
  const [facts] = clustersOf(fleet("BACKUP"));
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
  expect(statesIn(verdict)).toEqual(["partially_down"]);
  const targets = await targetsOf(verdict === undefined ? [] : [verdict]);
  expect(targets.map(({ targets: [target] }) => target)).toEqual([
    "https://shop.example/",
    "https://[2001:db8::7]/",
  ]);
});

/** What an appliance says of three websites of one host and port, of which one is found down. */
function threeAlike(name: string, down: number): readonly Observation[] {
  return [
    websitesSeen(name, [1, 2, 3]),
    detailsSeen(name, 1, { protocol: "https", isEnabled: name !== "a" }),
    detailsSeen(name, 2, { protocol: "https", name: "second" }),
    detailsSeen(name, 3, { protocol: "https", name: "third", isEnabled: name === "a" }),
    ...[1, 2, 3].map((id) => websiteSeen(name, id, [{ protocol: "https", status: id === down ? 503 : 200 }])),
  ];
}

test("websites of one host and port at one appliance have verdicts of their own, a disabled one counted last", () => {
  const fleet = fleetOf(MEMBERS, [
    vrrpSeen("a", listOf([interfaceOf()])),
    vrrpSeen("b", listOf([interfaceOf({ state: "BACKUP" })])),
    ...threeAlike("a", 2),
    ...threeAlike("b", 2),
  ]);
  const [facts] = clustersOf(fleet);
  const verdict = facts && createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now;
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

async function targetsOf(verdicts: readonly ClusterVerdict[]): Promise<readonly TargetGroup[]> {
  const rendering = await websiteTargets(verdicts, PUBLIC_TARGETS);
  return JSON.parse(rendering?.text.join("") ?? "[]");
}

test("only the protocols that a configured website names are targets", async () => {
  const configured = MEMBERS.map((member) => ({
    ...member,
    websites: [websiteOf({ id: 1, protocols: ["https"] })],
  }));
  const fleet = fleetOf(configured, [
    vrrpFailed("a", "timeout"),
    vrrpFailed("b", "timeout"),
    websitesSeen("a", [1]),
    detailsSeen("a", 1),
    websitesSeen("b", []),
  ]);
  const verdicts = clustersOf(fleet).map(
    (facts) => createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now,
  );
  expect((await targetsOf(verdicts)).flatMap(({ targets }) => targets)).toEqual(["https://shop.example/"]);
});

test("targets are not known before everything was polled", async () => {
  const before = clustersOf(fleetOf(MEMBERS, [websitesSeen("a", [1])])).map(
    (facts) => createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now,
  );
  expect(await websiteTargets(before, PUBLIC_TARGETS)).toBeUndefined();
});

test("each URL is a target, and so is each VIP on which the website listens", async () => {
  const targets = await targetsOf(verdictsOf({ bind: ["192.0.2.100"] }));
  expect(targets.map(({ targets: [target] }) => target)).toEqual([
    "http://shop.example/",
    "https://shop.example/",
    "http://192.0.2.100/",
    "https://192.0.2.100/",
  ]);
  expect(targets[3]?.labels).toEqual({
    __meta_appliance_exporter_ha_cluster: "ams",
    __meta_appliance_exporter_website: "shop",
    __meta_appliance_exporter_website_id: "1",
    __meta_appliance_exporter_host: "shop.example",
    __meta_appliance_exporter_protocol: "https",
    __meta_appliance_exporter_vip: "192.0.2.100",
  });
});

test("a website is reached by the VIPs on which it listens at any of the members", async () => {
  const targets = await targetsOf(
    verdictsOf({ protocol: "https", bind: ["192.0.2.100"] }, { bind: ["192.0.2.101"] }),
  );
  expect(targets.map(({ labels }) => labels["__meta_appliance_exporter_vip"])).toEqual([
    "",
    "192.0.2.100",
    "192.0.2.101",
  ]);
});

test("a website without a usable host name or port has no target", async () => {
  expect(await targetsOf(verdictsOf({ host: "*.example" }))).toEqual([]);
  expect(await targetsOf(verdictsOf({ host: "shop.example/path?x=" }))).toEqual([]);
  expect(await targetsOf(verdictsOf({ host: "user@shop.example" }))).toEqual([]);
  expect(await targetsOf(verdictsOf({ port: undefined, protocol: "https" }))).toEqual([]);
});

test("of all servers of an appliance 2,000 are exported, and the others are a problem", () => {
  const servers = Array.from({ length: 40 }, (_, nth) => {
    return { address: `192.0.2.81:${nth}`, role: "active", isOk: true } as const;
  });
  const ids = Array.from({ length: 70 }, (_, nth) => nth + 1);
  const verdict = verdictAfter([
    websitesSeen("a", ids),
    ...ids.map((id) => detailsSeen("a", id, { host: `${id}.example`, backends: gathered(servers) })),
  ]);
  const shown = described(verdict).flatMap(({ found }) =>
    found
      .filter(({ identity }) => identity.appliance === "a")
      .map(({ details }) => details.backends?.shown.length),
  );
  // 62 x 32 + 16: the rest shows none.
  expect(shown).toEqual([...Array<number>(62).fill(32), 16, ...Array<number>(7).fill(0)]);
  expect(verdict && lastingProblems(verdict).map(({ kind, summary }) => `${kind}: ${summary}`)).toContain(
    "backends_left_out: 800 servers behind websites of a beyond 32 of a website or 2,000 in all: only counted",
  );
});
