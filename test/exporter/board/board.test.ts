import { expect, test } from "vitest";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import { createSelfMetrics } from "../../../src/exporter/metrics/self.ts";
import { createStatusBoard, type StatusBoardDeps } from "../../../src/exporter/board/board.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import { windowOf } from "../maintenance/support.ts";
import { BUILD } from "../../support/build-facts.ts";
import { createMemoryLog } from "../../support/exporter.ts";
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
import { NO_PAST } from "../judge/support.ts";

function boardOf(appliances: Parameters<typeof fleetOf>[0], given: Partial<StatusBoardDeps> = {}) {
  const log = createMemoryLog();
  const fleet = fleetOf(appliances);
  let nowMs = 0;
  const board = createStatusBoard({
    version: "1.2.3",
    shard: WHOLE_FLEET,
    fleet,
    self: createSelfMetrics({ version: "1.2.3", build: BUILD, shard: WHOLE_FLEET }, () => 0),
    logger: log.logger,
    clock: { wallMs: () => WALL_MS + nowMs, monotonicMs: () => nowMs },
    runner: { confirm: () => undefined, replan: () => undefined, nextPollMs: () => undefined },
    ...NO_PAST,
    ...given,
  });
  const at = (ms: number) => {
    nowMs = ms;
    return board;
  };
  const messages = () => log.lines.filter(({ level }) => level !== "debug");
  return { at, fleet, messages, incidents: () => log.lines.filter(({ msg }) => msg.startsWith("incident")) };
}

test("the configuration counts as old since the first of the reloads that failed", async () => {
  const board = boardOf([]).at(60_000);
  const problems = async () => {
    const document = await board.document();
    return document.problems.map(({ kind, since }) => [kind, since]);
  };
  board.reloaded(false, WALL_MS);
  board.reloaded(false, WALL_MS + 30_000);
  expect(await problems()).toContainEqual(["reload_failed", "2023-11-14T22:13:20.000Z"]);
  board.reloaded(true, WALL_MS + 40_000);
  board.reloaded(false, WALL_MS + 50_000);
  expect(await problems()).toContainEqual(["reload_failed", "2023-11-14T22:14:10.000Z"]);
});

test("a stall began when the poll expired, whenever that is read or another poll ends", async () => {
  const polls = [
    seen.vrrp("a", listOf([interfaceOf()])),
    seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" })])),
  ];
  const since = new Date(WALL_MS + EXPIRES_AT_MS).toISOString();
  const [read, polled] = [boardOf([MEMBER_A, MEMBER_B]), boardOf([MEMBER_A, MEMBER_B])];
  for (const { at } of [read, polled]) for (const each of polls) at(0).observed(each);
  polled.at(40_000).observed(failed.vrrp("a", "timeout", { expiresAtMs: 60_000 }));
  const documents = [await read.at(50_000).document(), await polled.at(50_000).document()];
  for (const { clusters, incidents } of documents) {
    expect(clusters[0]?.appliances[1]).toMatchObject({ state: "unknown", since });
    expect(incidents.filter(({ kind }) => kind === "polling_stuck")).toMatchObject([{ begin: since }]);
  }
  expect(documents[0]?.clusters[0]?.groups).toMatchObject([{ state: "unknown", since }]);
});

test("a split brain of which one member falls silent changes after two minutes, whenever that is read", async () => {
  const { at } = boardOf([MEMBER_A, MEMBER_B]);
  for (const sentAtMs of [0, 5000]) {
    const given = { sentAtMs, expiresAtMs: 300_000 };
    for (const name of ["a", "b"]) at(sentAtMs).observed(seen.vrrp(name, listOf([interfaceOf()]), given));
  }
  at(10_000).observed(failed.vrrp("b", "timeout", { expiresAtMs: 300_000 }));
  const groups = async (ms: number) => (await at(ms).document()).clusters[0]?.groups;
  expect(await groups(129_000)).toMatchObject([{ state: "unknown" }]);
  const since = new Date(WALL_MS + 130_000).toISOString();
  expect(await groups(140_000)).toMatchObject([{ state: "backup_lost", since }]);
});

test("an incident is logged when it begins and when it is over, with its cluster, its cause and its sentence", () => {
  const { at, incidents } = boardOf([MEMBER_A, MEMBER_B]);
  const states = [
    ["a", "MASTER"],
    ["b", "BACKUP"],
    ["b", "MASTER"],
    ["a", "FAULT"],
    ["a", "BACKUP"],
  ] as const;
  states.forEach(([name, state], second) => {
    const given = { sentAtMs: second * 1000 - 100 };
    at(second * 1000).observed(seen.vrrp(name, listOf([interfaceOf({ state })]), given));
  });
  const summary =
    "b took over 192.0.2.100 (vhid 2) from a, which reported FAULT. No known master for at most 3 s";
  const failover = { cluster: "ams", kind: "failover", from: "a", to: "b", cause: "fault", summary };
  expect(incidents().filter(({ kind }) => kind === "failover")).toMatchObject([
    { ...failover, level: "warn", msg: "incident", withoutMasterAtMostSeconds: 2.1 },
    { ...failover, level: "info", msg: "incident over", end: new Date(WALL_MS + 4000).toISOString() },
  ]);
});

test("incidents of a cluster that a reload removes are forgotten", async () => {
  const { at, fleet } = boardOf([MEMBER_A, MEMBER_B]);
  at(0).observed(seen.vrrp("a", listOf([interfaceOf()])));
  at(0).observed(failed.vrrp("a", "timeout"));
  const kinds = async (ms: number) => (await at(ms).document()).incidents.map(({ kind }) => kind);
  expect(await kinds(1)).toEqual(["appliance_down"]);
  fleet.configure(configOf(applianceOf({ name: "other" })), 2);
  expect(await kinds(3)).toEqual([]);
});

/** The appliance `waf`, whose website `shop` answers with the status 302. */
const shopOf = (from: number, to: number) =>
  applianceOf({ name: "waf", websites: [websiteOf({ id: 1, name: "shop", expectStatus: [{ from, to }] })] });
const LATER = { expiresAtMs: 300_000 };
const instant = (ms: number): string => new Date(WALL_MS + ms).toISOString();

test("what another expect_status changes begins at the reload, is logged, and is no outage of which the length is known", async () => {
  const { at, fleet, messages } = boardOf([shopOf(200, 399)]);
  at(0).observed(seen.vrrp("waf", listOf([interfaceOf()]), LATER));
  const test302 = (sentAtMs: number) =>
    at(sentAtMs).observed(
      seen.website("waf", 1, [{ protocol: "http", status: 302 }], { ...LATER, sentAtMs, sinceMs: 0 }),
    );
  test302(1000);
  const reload = async (ms: number, appliance: ReturnType<typeof shopOf>) => {
    fleet.configure(configOf(appliance), ms);
    at(ms).reloaded(true, WALL_MS + ms);
    const { clusters, incidents } = await at(ms + 5000).document();
    const { state, since } = clusters[0]?.websites[0]?.states[0] ?? {};
    const isUp = clusters[0]?.appliances[0]?.websites[0]?.statuses?.[0]?.isUp;
    return { state, since, isUp, incidents };
  };
  const down = await reload(20_000, shopOf(200, 299));
  expect(down).toMatchObject({ state: "down", isUp: false, since: instant(20_000) });
  expect(down.incidents).toMatchObject([{ kind: "website_down", begin: instant(20_000) }]);
  test302(31_000);
  const up = await reload(50_000, shopOf(302, 302));
  expect(up).toMatchObject({ state: "up", isUp: true, since: instant(50_000) });
  expect(up.incidents).toHaveLength(1);
  expect(up.incidents[0]).toMatchObject({ begin: instant(20_000), end: instant(50_000) });
  expect(up.incidents[0]?.outageAtMostSeconds).toBeUndefined();
  const change = { level: "info", cluster: "waf", website: "shop", protocol: "http" };
  const msg = "website state changed with the configuration";
  expect(messages().filter((line) => line.msg === msg)).toMatchObject([
    { ...change, from: "up", to: "down" },
    { ...change, from: "down", to: "up" },
  ]);
});

test("a bug in the receiver of verdicts loses no incident", async () => {
  let isBroken = false;
  const listener = {
    ...NO_PAST.listener,
    judged: () => {
      if (isBroken) throw new Error("a bug");
    },
  };
  const { at } = boardOf([MEMBER_A, MEMBER_B], { listener });
  for (const [name, state] of [
    ["a", "MASTER"],
    ["b", "BACKUP"],
  ] as const)
    at(0).observed(seen.vrrp(name, listOf([interfaceOf({ state })])));
  isBroken = true;
  at(5000).observed(seen.vrrp("b", listOf([])));
  isBroken = false;
  at(6000).observed(seen.vrrp("b", listOf([])));
  const { incidents } = await at(7000).document();
  expect(incidents.map(({ kind }) => kind)).toContain("redundancy_lost");
});

test("the incidents of a cluster stay the same object while nothing happens, whatever is polled", async () => {
  const shop = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
  const members = [MEMBER_A, MEMBER_B].map((each) => ({ ...each, websites: [shop] }));
  const { at } = boardOf(members);
  const poll = (ms: number, status: number): void => {
    const given = { sentAtMs: ms };
    at(ms).observed(seen.vrrp("a", listOf([interfaceOf()]), given));
    at(ms).observed(seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" })]), given));
    at(ms).observed(seen.website("a", 2, [{ protocol: "https", status }], given));
  };
  for (const ms of [0, 1000]) poll(ms, 200);
  const before = (await at(1000).current()).incidents.get("ams");
  // One test that fails is not confirmed yet.
  poll(2000, 503);
  expect(before).toBeDefined();
  expect((await at(2000).current()).incidents.get("ams")).toBe(before);
});

/** A window of an appliance, between these seconds. */
function windowBetween(appliance: string, from: number, to: number) {
  return windowOf(
    { appliances: [appliance] },
    { beginMs: WALL_MS + from * 1000, endMs: WALL_MS + to * 1000 },
  );
}

test("a window mutes failovers of its members that happened in it, for five minutes", () => {
  const { at } = boardOf([MEMBER_A, MEMBER_B, MEMBER_C]);
  const polls = "a MASTER 1, b BACKUP 1, c BACKUP 1, a BACKUP 9, b MASTER 9, c BACKUP 9";
  for (const { observation, atMs } of pollsOf(polls)) at(atMs).observed(observation);
  const board = at(20_000);
  expect(board.isMuting(windowBetween("a", 5, 15))).toBe(true);
  expect(board.isMuting(windowBetween("b", 5, 8))).toBe(true);
  expect(board.isMuting(windowBetween("c", 5, 15))).toBe(false);
  expect(board.isMuting(windowBetween("a", 12, 15))).toBe(false);
  const polled = "a BACKUP 320, b MASTER 320, c BACKUP 320";
  for (const { observation, atMs } of pollsOf(polled)) at(atMs).observed(observation);
  expect(board.isMuting(windowBetween("a", 5, 15))).toBe(false);
});

test("an outage that a failover ended waits for a test of the new master, and is over without a time after five minutes", async () => {
  const shop = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
  const board = boardOf([MEMBER_A, MEMBER_B].map((each) => ({ ...each, websites: [shop] })));
  const polls =
    "a MASTER 0, b BACKUP 0, a 200 0, b 200 0, a MASTER 1, a 503 2, a 503 3, b MASTER 4, a BACKUP 4";
  for (const { observation, atMs } of pollsOf(polls)) board.at(atMs).observed(observation);
  const outage = async (ms: number) => {
    const { incidents } = await board.at(ms).document();
    const { end, outages } = incidents.find(({ kind }) => kind === "website_down") ?? {};
    return [end, outages?.map(({ atMostSeconds }) => atMostSeconds)];
  };
  expect(await outage(10_000)).toEqual([undefined, undefined]);
  expect(await outage(200_000)).toEqual([undefined, undefined]);
  expect(await outage(400_000)).toEqual(["2023-11-14T22:13:24.000Z", [undefined]]);
});
