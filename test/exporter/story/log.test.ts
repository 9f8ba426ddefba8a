import { expect, test } from "vitest";
import type { FleetChange } from "../../../src/exporter/fleet/changes.ts";
import { logIncidents, logObservation, logReloaded } from "../../../src/exporter/story/log.ts";
import { createPast } from "../../../src/exporter/story/past.ts";
import type { KnownIncident } from "../../../src/exporter/document/schema.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import {
  applianceOf,
  configOf,
  failureOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, pollsOf } from "../fleet/support.ts";
import { createJudge, replay } from "../judge/support.ts";

function stateChange(nth: number): FleetChange {
  return { kind: "vrrp_state", interface: `carp${nth}`, vhid: 1, vip: "v", from: "MASTER", to: "BACKUP" };
}

/** The lines about these changes. */
function logged(changes: readonly FleetChange[]): readonly unknown[] {
  const log = createMemoryLog();
  logObservation(log.logger, "ams", seen.vrrp("a", listOf([])), changes);
  return log.lines.filter(({ level }) => level !== "debug");
}

test("20 changed states are 20 lines, and any more of one poll are one line with their number", () => {
  const states = Array.from({ length: 23 }, (_, nth) => stateChange(nth));
  expect(logged(states.slice(0, 20))).toHaveLength(20);
  const lines = logged(states);
  expect(lines).toHaveLength(21);
  expect(lines.at(-2)).toMatchObject({ interface: "carp19", msg: "vrrp state changed" });
  expect(lines.at(-1)).toMatchObject({
    level: "info",
    cluster: "ams",
    appliance: "a",
    count: 3,
    msg: "more vrrp states changed",
  });
});

test("other changes are logged beside any number of states", () => {
  const states = Array.from({ length: 1024 }, (_, nth) => stateChange(nth));
  const recovered: FleetChange = {
    kind: "recovered",
    operation: { kind: "website_list" },
    from: failureOf("timeout"),
  };
  const lines = logged([...states, recovered]);
  expect(lines).toHaveLength(22);
  expect(lines).toContainEqual(expect.objectContaining({ msg: "polling recovered" }));
});

test("a failure of the VRRP list is logged with what to do about it", () => {
  const failure = { ...failureOf("connect"), code: "refused" } as const;
  const lines = logged([{ kind: "failing", operation: { kind: "vrrp" }, failure }]);
  expect(lines.at(-1)).toMatchObject({
    msg: "polling fails",
    reason: "connect",
    advice: "Nothing listens there: check the port in base_url, and the management service of the appliance",
  });
});

const SWITCH = { from: "a", to: "b", evidence: [], addresses: 1, isPartial: false };
const FAILOVER: KnownIncident = {
  id: "x",
  kind: "failover",
  severity: "warning",
  cluster: "ams",
  begin: "2026-11-21T12:00:00.000Z",
  end: undefined,
  summary: "b took over v from a; why is not known",
  subjects: ["v"],
  failover: { ...SWITCH, cause: "unknown" },
};

test("an incident is a line when it begins, when its sentence changes and when it is over", () => {
  const log = createMemoryLog();
  const summary = "b took over v from a, which stepped down";
  const evidence = [{ appliance: "a", said: "reported BACKUP", at: "2026-11-21T12:00:01.000Z" }];
  const known: KnownIncident = {
    ...FAILOVER,
    summary,
    failover: { ...SWITCH, cause: "stepped_down", evidence },
  };
  const over = { ...known, end: "2026-11-21T12:01:00.000Z" };
  const trouble: KnownIncident = { ...FAILOVER, kind: "no_master", failover: undefined };
  logIncidents(log.logger, [
    { before: undefined, now: FAILOVER },
    { before: trouble, now: { ...trouble, subjects: ["v", "w"] } },
    { before: FAILOVER, now: known },
    { before: known, now: over },
    { before: over, now: { ...over, end: "2026-11-21T12:02:00.000Z" } },
  ]);
  const line = { cluster: "ams", incident: "x", kind: "failover", from: "a", to: "b" };
  expect(log.lines).toMatchObject([
    { ...line, level: "warn", msg: "incident", cause: "unknown", evidence: [] },
    { ...line, level: "warn", msg: "incident changed", cause: "stepped_down", evidence },
    { ...line, level: "info", msg: "incident over", end: over.end },
    { ...line, level: "warn", msg: "incident changed", end: "2026-11-21T12:02:00.000Z" },
  ]);
});

/** What the log says of the incidents after these polls of two members with so many websites, all of which were up. */
function storyOf(polls: string, websites: number): readonly string[] {
  const [log, past] = [createMemoryLog(), createPast()];
  const ids = Array.from({ length: websites }, (_, nth) => nth + 1);
  const own = ids.map((id) => websiteOf({ id, name: `w${id}`, protocols: ["https"] }));
  const members = [MEMBER_A, MEMBER_B].map((each) => ({ ...each, websites: own }));
  const up = ["a MASTER 0", "b BACKUP 0", ...ids.flatMap((id) => [`a 200#${id} 0`, `b 200#${id} 0`])];
  const add: typeof past.add = (incidents) => {
    const news = past.add(incidents);
    logIncidents(log.logger, news);
    return news;
  };
  replay(pollsOf([...up, polls].join(", ")), { members, past: { ...past, add } });
  return log.lines.map(({ level, msg, summary }) => `${level} ${msg}: ${summary}`);
}

test("each website that joins an incident is a line, and so are words that get worse", () => {
  const down =
    "a 503#1 1, a 503#1 2, a 503#2 3, a 503#2 4, b 503#1 5, b 503#1 6, a 200#1 7, b 200#1 7, a 200#2 8, a MASTER 9";
  expect(storyOf(down, 2)).toEqual([
    "warn incident: Down at the master: website w1 (https)",
    "warn incident changed: Down at the master: websites w1 (https) and w2 (https)",
    "warn incident changed: Down: websites w1 (https) and w2 (https)",
    "info incident over: Down: websites w1 (https) and w2 (https)",
  ]);
});

test("a website that goes down again and again joins an incident once, and is one of its own from then on", () => {
  const flaps = Array.from({ length: 6 }, (_, nth) => {
    return [3, 4]
      .map((second) => `a 503#2 ${nth * 5 + second}`)
      .join(", ")
      .concat(`, a 200#2 ${nth * 5 + 5}`);
  });
  const lines = storyOf(`a 503#1 1, a 503#1 2, ${flaps.join(", ")}`, 2);
  expect(lines.filter((line) => line.startsWith("warn incident changed"))).toEqual([
    "warn incident changed: Down at the master: websites w1 (https) and w2 (https)",
  ]);
});

test("of 30 websites that join one after the other those are lines that the sentence names, and one for the rest", () => {
  const down = Array.from({ length: 30 }, (_, nth) =>
    [nth + 1, nth + 1.5].map((at) => `a 503#${nth + 1} ${at}`),
  );
  const lines = storyOf(down.flat().join(", "), 30);
  expect(lines).toHaveLength(25);
  expect(lines.at(-2)).toMatch(/ w23 \(https\) and w24 \(https\)$/);
  expect(lines.at(-1)).toMatch(/ w24 \(https\) and 1 more$/);
});

test("a planned incident is no warning, until it is not planned any more", () => {
  const log = createMemoryLog();
  const down: KnownIncident = { ...FAILOVER, kind: "appliance_down", failover: undefined };
  const planned = { ...down, isPlanned: true };
  logIncidents(log.logger, [
    { before: undefined, now: planned },
    { before: planned, now: down },
  ]);
  expect(log.lines).toMatchObject([
    { level: "info", msg: "incident", isPlanned: true },
    { level: "warn", msg: "incident changed" },
  ]);
});

test("20 incidents of a poll are 20 lines, and any more are one line with their number", () => {
  const log = createMemoryLog();
  const news = Array.from({ length: 23 }, () => ({ before: undefined, now: FAILOVER }));
  logIncidents(log.logger, news);
  expect(log.lines).toHaveLength(21);
  expect(log.lines.at(-1)).toMatchObject({ level: "info", cluster: "ams", count: 3, msg: "more incidents" });
});

test("20 websites whose state a new configuration changes are 20 lines, and one line counts the rest", () => {
  const websites = Array.from({ length: 23 }, (_, nth) => websiteOf({ id: nth + 1 }));
  const observations = websites.map(({ id }) => seen.website("waf", id, [{ protocol: "http", status: 302 }]));
  const fleet = fleetOf([applianceOf({ name: "waf", websites })], observations);
  const judging = createJudge();
  const judged = () => {
    const [facts] = clustersOf(fleet);
    if (facts === undefined) throw new Error("a cluster is configured");
    return judging.judge(facts, { wallMs: WALL_MS, monotonicMs: 0 });
  };
  const linesOf = (change: ReturnType<typeof judged>) => {
    const log = createMemoryLog();
    logReloaded(log.logger, change);
    return log.lines;
  };
  expect(linesOf(judged())).toEqual([]);
  const strict = websites.map((website) => ({ ...website, expectStatus: [{ from: 200, to: 299 }] }));
  fleet.configure(configOf(applianceOf({ name: "waf", websites: strict })), 0);
  const lines = linesOf(judged());
  expect(lines).toHaveLength(21);
  const msg = "website state changed with the configuration";
  expect(lines.at(-2)).toMatchObject({ website: "20", protocol: "http", from: "up", to: "down", msg });
  expect(lines.at(-1)).toMatchObject({
    cluster: "waf",
    count: 3,
    msg: "more website states changed with the configuration",
  });
});
