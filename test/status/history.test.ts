import { expect, test } from "vitest";
import type { Observation } from "../../src/polling/observation.ts";
import { createHistory } from "../../src/status/history.ts";
import type { Moment } from "../../src/status/moment.ts";
import { documentOf } from "./support.ts";
import { fleetOf, MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import {
  applianceOf,
  EXPIRES_AT_MS,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  WALL_MS,
  websiteFailed,
  websiteOf,
  websiteSeen,
} from "../support/observations.ts";

const SHOP = websiteOf({ id: 2, name: "shop" });
const LONE = applianceOf({ name: "lone" });
const GROUP = "192.0.2.100 (vhid 2)";

function says(appliance: string, state: string): Observation {
  return vrrpSeen(appliance, listOf([interfaceOf({ state })]));
}
function https(appliance: string, status: number): Observation {
  return websiteSeen(appliance, 2, [{ protocol: "https", status }]);
}

/** So many seconds after the start. */
function momentOf(second: number): Moment {
  return { wallMs: WALL_MS + second * 1000, monotonicMs: second * 1000 };
}

/** What is told after these observations, one a second, latest first. */
function told(observations: readonly Observation[], maxEvents?: number): readonly string[] {
  const fleet = fleetOf([{ ...MEMBER_A, websites: [SHOP] }, MEMBER_B, LONE]);
  const history = createHistory(maxEvents);
  observations.forEach((observation, second) => {
    const expiresAtMs = second * 1000 + EXPIRES_AT_MS;
    const { changes, sections } = fleet.record({ ...observation, expiresAtMs }, second * 1000);
    history.record(changes, sections, momentOf(second));
  });
  return history.events().map(({ at, kind, summary }) => `${at.slice(17, 19)} ${kind}: ${summary}`);
}

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly events: readonly string[];
}

const BOTH = [says("a", "MASTER"), says("b", "BACKUP")];

test.each<Case>([
  { name: "the first sight of a group tells nothing", polls: BOTH, events: [] },
  {
    name: "a clean failover is one event, however the answers fall",
    polls: [...BOTH, says("b", "MASTER"), says("a", "BACKUP")],
    events: [`23 failover: b took over ${GROUP} from a`],
  },
  {
    name: "a crash is an outage of the appliance and a failover",
    polls: [...BOTH, says("b", "MASTER"), vrrpFailed("a", "timeout")],
    events: [
      `23 failover: b took over ${GROUP} from a`,
      "23 outage: Polling of a fails: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a split brain begins and ends",
    polls: [...BOTH, says("b", "MASTER"), says("a", "MASTER"), says("b", "BACKUP"), says("a", "MASTER")],
    events: [
      `24 recovery: Split brain ended: a is MASTER of ${GROUP}`,
      `23 outage: Split brain: a and b are MASTER of ${GROUP}`,
    ],
  },
  {
    name: "a group without a master, and with one again",
    polls: [...BOTH, says("a", "BACKUP"), says("b", "BACKUP"), says("a", "MASTER")],
    events: [`24 recovery: a is MASTER of ${GROUP}`, `23 outage: Nobody is MASTER of ${GROUP}`],
  },
  {
    name: "a master that cannot be asked any more",
    polls: [
      ...BOTH,
      vrrpFailed("a", "connect"),
      ...Array.from({ length: 14 }, () => says("b", "BACKUP")),
      says("a", "MASTER"),
    ],
    events: [
      `37 recovery: a is MASTER of ${GROUP}`,
      "37 recovery: Polling of a works again",
      `22 outage: Nobody is known to be MASTER of ${GROUP}`,
      "22 outage: Polling of a fails: it cannot be reached (connect)",
    ],
  },
  {
    name: "a master whose answers count for 14 s and that is known again within them has only missed a poll",
    polls: [
      ...BOTH,
      vrrpFailed("a", "timeout"),
      ...Array.from({ length: 12 }, () => says("b", "BACKUP")),
      says("a", "MASTER"),
    ],
    events: [
      "35 recovery: Polling of a works again",
      "22 outage: Polling of a fails: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a master that comes back before anybody can tell",
    polls: [
      ...BOTH,
      vrrpFailed("a", "timeout"),
      says("b", "MASTER"),
      says("b", "BACKUP"),
      says("a", "MASTER"),
    ],
    events: [
      `25 failover: a took over ${GROUP} from b`,
      "25 recovery: Polling of a works again",
      `23 failover: b took over ${GROUP} from a`,
      "22 outage: Polling of a fails: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a split brain of which one master cannot be seen for a while",
    polls: [
      ...BOTH,
      says("b", "MASTER"),
      says("a", "MASTER"),
      vrrpFailed("b", "timeout"),
      says("b", "MASTER"),
    ],
    events: [
      "25 recovery: Polling of b works again",
      "24 outage: Polling of b fails: it does not answer in time (timeout)",
      `23 outage: Split brain: a and b are MASTER of ${GROUP}`,
    ],
  },
  {
    name: "a backup that leaves the group, and is back",
    polls: [...BOTH, answersNothing("b"), says("b", "BACKUP")],
    events: [`23 recovery: ${GROUP} has a BACKUP again`, `22 outage: Nobody is BACKUP of ${GROUP} any more`],
  },
  {
    name: "an interface of an appliance that stands alone",
    polls: [says("lone", "BACKUP"), says("lone", "MASTER")],
    events: [`21 failover: lone, carp0 of ${GROUP}: BACKUP → MASTER`],
  },
  {
    name: "an interface in a state that is neither MASTER nor BACKUP is no failover",
    polls: [says("lone", "BACKUP"), says("lone", "FAULT"), says("lone", "INIT"), says("lone", "BACKUP")],
    events: [
      `23 recovery: lone, carp0 of ${GROUP}: INIT → BACKUP`,
      `22 change: lone, carp0 of ${GROUP}: FAULT → INIT`,
      `21 outage: lone, carp0 of ${GROUP}: BACKUP → FAULT`,
    ],
  },
  {
    name: "a state that is neither MASTER nor BACKUP is told of an interface of a group too",
    polls: [...BOTH, says("b", "FAULT")],
    events: [`22 outage: b, carp0 of ${GROUP}: BACKUP → FAULT`],
  },
  {
    name: "a website that goes down, changes and comes back",
    polls: [https("a", 200), https("a", 503), https("a", 0), https("a", 301), https("a", 200)],
    events: [
      "24 change: Website shop changed as seen from a: https 301 → 200",
      "23 recovery: Website shop is up as seen from a: https no HTTP response → 301",
      "22 change: Website shop changed as seen from a: https 503 → no HTTP response",
      "21 outage: Website shop is down as seen from a: https 200 → 503",
    ],
  },
  {
    name: "a website test that fails is told by the website's name, unless it was not even sent",
    polls: [
      https("a", 200),
      websiteFailed("a", 2, "timeout"),
      https("a", 200),
      websiteFailed("a", 2, "appliance_down"),
      https("a", 200),
    ],
    events: [
      "22 recovery: The test of website shop from a works again",
      "21 outage: The test of website shop from a fails: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a test that fails, then is not even sent, works again",
    polls: [
      https("a", 200),
      websiteFailed("a", 2, "timeout"),
      websiteFailed("a", 2, "appliance_down"),
      https("a", 200),
    ],
    events: [
      "23 recovery: The test of website shop from a works again",
      "21 outage: The test of website shop from a fails: it does not answer in time (timeout)",
    ],
  },
])("$name", ({ polls, events }) => {
  expect(told(polls)).toEqual(events);
});

test("the history is bounded, the oldest events go first", () => {
  const polls = Array.from({ length: 50 }, (_, nth) => says("lone", nth % 2 === 0 ? "BACKUP" : "MASTER"));
  expect(told(polls, 3).map((line) => line.slice(0, 11))).toEqual([
    "09 failover",
    "08 failover",
    "07 failover",
  ]);
});

test("a cluster that flaps pushes out its own events, and none of the others'", () => {
  const polls = Array.from({ length: 50 }, (_, nth) => says("lone", nth % 2 === 0 ? "BACKUP" : "MASTER"));
  const events = told([...BOTH, says("b", "MASTER"), says("a", "BACKUP"), ...polls], 3);
  expect(events.at(-1)).toBe(`23 failover: b took over ${GROUP} from a`);
});

/** A history after these observations, one a second, and the first group at their end. */
function remember(polls: readonly Observation[]) {
  const fleet = fleetOf([MEMBER_A, MEMBER_B, LONE]);
  const history = createHistory();
  polls.forEach((observation, second) => {
    const { changes, sections } = fleet.record(observation, second * 1000);
    history.record(changes, sections, momentOf(second));
  });
  const [group] = fleet.snapshot(polls.length * 1000).clusters[0]?.groups ?? [];
  return { history, memory: group && history.memoryOf("ams", group), group, fleet };
}

test("a group tells when its masters last changed, and is forgotten with its cluster", () => {
  const { history, memory, group } = remember([...BOTH, says("b", "MASTER"), says("a", "BACKUP")]);
  expect(memory).toMatchObject({ changedAtMs: WALL_MS + 3000, now: { sinceMs: WALL_MS + 3000 } });
  history.keep(fleetOf([LONE]).snapshot(0));
  expect(group && history.memoryOf("ams", group)).toBeUndefined();
});

test.each([
  ["the first sight, backup first", [says("b", "BACKUP"), says("a", "MASTER")]],
  [
    "a member that could not be asked for a while",
    [...BOTH, vrrpFailed("a", "timeout"), says("a", "MASTER")],
  ],
])("no change of masters is told of %s, and the state may be older", (_, polls) => {
  const { memory, history } = remember(polls);
  expect(memory).toMatchObject({
    changedAtMs: undefined,
    now: { state: "one_master", isSinceAtLeast: true },
  });
  expect(history.events().filter(({ kind }) => kind === "failover")).toEqual([]);
});

test("the first sight of a master is no recovery", () => {
  expect(told([says("b", "BACKUP"), says("a", "MASTER")])).toEqual([]);
});

function answersNothing(appliance: string): Observation {
  return vrrpSeen(appliance, listOf([]));
}

test.each([
  ["a cluster", "ams", [...BOTH, answersNothing("a"), answersNothing("b")]],
  ["an appliance that stands alone", "lone", [says("lone", "MASTER"), answersNothing("lone")]],
])(
  "a group that %s does not report any more is told of for an hour, or until it is back",
  (_, cluster, polls) => {
    const { history } = remember(polls);
    const goneAt = momentOf(polls.length - 1);
    const atMs = goneAt.monotonicMs;
    const gone = { cluster, vhid: 2, vip: "192.0.2.100", goneAt };
    expect(history.events()[0]?.summary).toBe(`${GROUP} is not reported any more by any appliance`);
    expect(history.recall(atMs).vanished).toEqual([gone]);
    expect(history.recall(atMs + 3_600_000).vanished).toEqual([]);
    expect(remember([...polls, ...polls.slice(0, 1)]).history.recall(atMs).vanished).toEqual([]);
    history.keep(fleetOf([MEMBER_A, MEMBER_B, LONE]).snapshot(0));
    expect(history.recall(atMs).vanished).toEqual([]);
  },
);

test("a group that one member has left is not gone", () => {
  expect(remember([...BOTH, answersNothing("b")]).history.recall(2000).vanished).toEqual([]);
});

test("four changes of an appliance's state within five minutes are flapping, and are forgotten after it", () => {
  const states = ["MASTER", "BACKUP", "MASTER", "BACKUP", "MASTER"];
  const { history } = remember(states.map((state) => says("lone", state)));
  const first = { cluster: "lone", appliance: "lone", vhid: 2, vip: "192.0.2.100", at: momentOf(1) };
  expect(history.recall(5000).flapping).toEqual([first]);
  expect(history.recall(301_000).flapping).toEqual([]);
});

test("an appliance that is not there any more does not flap", () => {
  const { history } = remember(
    ["MASTER", "BACKUP", "MASTER", "BACKUP", "MASTER"].map((state) => says("a", state)),
  );
  history.keep(fleetOf([MEMBER_A, LONE]).snapshot(0));
  expect(history.recall(5000).flapping).toHaveLength(1);
  history.keep(fleetOf([MEMBER_B, LONE]).snapshot(0));
  expect(history.recall(5000).flapping).toEqual([]);
});

test("a clock that is set back keeps nothing alive", () => {
  const fleet = fleetOf([LONE]);
  const history = createHistory();
  const states = ["MASTER", "BACKUP", "MASTER", "BACKUP", "MASTER"];
  [...states.map((state) => says("lone", state)), answersNothing("lone")].forEach((observation, second) => {
    const { changes, sections } = fleet.record(observation, second * 1000);
    history.record(changes, sections, { wallMs: WALL_MS - second * 3_600_000, monotonicMs: second * 1000 });
  });
  expect(history.recall(10_000)).toMatchObject({ vanished: [{ vhid: 2 }], flapping: [{ vhid: 2 }] });
  expect(history.recall(5000 + 3_600_000)).toEqual({ vanished: [], flapping: [] });
});

/** An answer with 150 groups, which are others each second. */
function reportsOthers(second: number): Observation {
  const vips = Array.from({ length: 150 }, (_, nth) => `10.0.${second}.${nth}`);
  return vrrpSeen("lone", listOf(vips.map((vip) => interfaceOf({ vip }))));
}

test("of an appliance that reports other groups each time, the hundred that went last are remembered", () => {
  const polls = Array.from({ length: 10 }, (_, second) => reportsOthers(second));
  const { vanished } = remember(polls).history.recall(10_000);
  expect(vanished).toHaveLength(100);
  expect(new Set(vanished.map(({ vip }) => vip.split(".")[2]))).toEqual(new Set(["8"]));
});

/** What is wrong after these observations, one a second: when it began, and what it is. */
function problemsAfter(polls: readonly Observation[]): readonly string[] {
  const { fleet, history } = remember(polls);
  const { problems } = documentOf(fleet, { memoryOf: history.memoryOf }, polls.length * 1000);
  return problems.flatMap(({ kind, since = "", summary, group }) =>
    group === undefined ? [] : [`${since.slice(17, 19)} ${kind}: ${summary}`],
  );
}

test("redundancy is lost since the backup left, not since its master became master", () => {
  const events = [...BOTH, says("a", "MASTER"), answersNothing("b"), says("a", "MASTER")];
  expect(problemsAfter(events)).toEqual([
    `23 redundancy_lost: No redundancy: a is MASTER of ${GROUP}, and nobody is BACKUP`,
  ]);
});

test("a split brain may go on while one of its masters cannot be seen", () => {
  const split = [...BOTH, says("b", "MASTER"), says("a", "MASTER"), vrrpFailed("b", "timeout")];
  const summary = `Split brain of ${GROUP} may go on: a is MASTER, and nothing is known of b`;
  expect(problemsAfter(split)).toEqual([`24 master_unknown: ${summary}`]);
  expect(problemsAfter([...split, says("b", "BACKUP"), says("a", "MASTER")])).toEqual([]);
});

test("what happens to many websites at once is told once, and to one of them again and again each time", () => {
  const ids = [1, 2, 3];
  const websites = ids.map((id) => websiteOf({ id, name: `site ${id}` }));
  const fleet = fleetOf([{ ...LONE, websites }]);
  const history = createHistory();
  const all = (status: number) => ids.map((id) => websiteSeen("lone", id, [{ protocol: "http", status }]));
  const polls = [
    ...all(200),
    ...all(503),
    ...ids.map((id) => websiteFailed("lone", id, "auth")),
    ...all(503),
    ...[200, 503, 200].map((status) => websiteSeen("lone", 1, [{ protocol: "http", status }])),
  ];
  polls.forEach((observation, tenth) => {
    const { changes, sections } = fleet.record(observation, tenth * 100);
    history.record(changes, sections, momentOf(tenth / 10));
  });
  expect(history.events().map(({ kind, summary }) => `${kind}: ${summary}`)).toEqual([
    "recovery: Website site 1 is up as seen from lone: http 503 → 200",
    "outage: Website site 1 is down as seen from lone: http 200 → 503",
    "recovery: Website site 1 is up as seen from lone: http 503 → 200",
    "recovery: The tests of 3 websites from lone work again",
    "outage: The tests of 3 websites from lone fail: it refuses the credentials (auth)",
    "outage: 3 websites are down as seen from lone: http 200 → 503",
  ]);
});
