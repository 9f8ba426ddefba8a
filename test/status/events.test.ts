import { expect, test } from "vitest";
import type { Observation } from "../../src/polling/observation.ts";
import { createEvents } from "../../src/status/events.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C } from "../fleet/support.ts";
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
} from "../support/observations.ts";
import { createJudge, judgedFleet } from "./support.ts";

const SHOP = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
const A = { ...MEMBER_A, websites: [SHOP] };
const B = { ...MEMBER_B, websites: [SHOP] };
const LONE = applianceOf({ name: "lone" });
const VIPS = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
const ALL = "192.0.2.1 (vhid 2), 192.0.2.2 (vhid 2) and 192.0.2.3 (vhid 2)";

/** An answer in which all groups are in that state. */
function says(appliance: string, state: string, vips = VIPS): Observation {
  return seen.vrrp(appliance, listOf(vips.map((vip) => interfaceOf({ name: `carp-${vip}`, vip, state }))));
}
function https(appliance: string, status: number): Observation {
  return seen.website(appliance, 2, [{ protocol: "https", status }]);
}

/** The events after these observations, one a second, latest first. `wallOf`: the wall clock at a monotonic instant. */
function eventsAfter(
  observations: readonly Observation[],
  { members = [A, B, LONE], maxEvents = 200, everySeconds = 1, wallOf = (nowMs: number) => nowMs } = {},
): readonly string[] {
  const take = judgedFleet(members);
  const events = createEvents(maxEvents);
  observations.forEach((observation, nth) => {
    const nowMs = nth * everySeconds * 1000;
    const { changes, judged } = take({ ...observation, expiresAtMs: nowMs + EXPIRES_AT_MS }, nowMs);
    const at = { wallMs: WALL_MS + wallOf(nowMs), monotonicMs: nowMs };
    events.add(judged, at, { appliance: observation.appliance, changes });
  });
  return events.list().map(({ at, kind, summary }) => `${at.slice(17, 19)} ${kind}: ${summary}`);
}

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly events: readonly string[];
}

const BOTH = [says("a", "MASTER"), says("b", "BACKUP")];
const NOT_SENT = failed.website("a", 2, "appliance_down");
/** The master does not answer, so its website is unknown, until the next test of that. */
const UNSEEN = [failed.vrrp("a", "timeout"), NOT_SENT, NOT_SENT, says("a", "MASTER")];

test.each<Case>([
  { name: "the first sight of groups is no event", polls: BOTH, events: [] },
  {
    name: "the first test by the master after that by the backup is no event",
    polls: [...BOTH, https("b", 200), https("a", 200)],
    events: [],
  },
  {
    name: "the first test that finds a website up is no event, whatever was unknown before",
    polls: [
      ...BOTH,
      failed.website("a", 2, "timeout"),
      says("b", "MASTER"),
      says("a", "BACKUP"),
      https("b", 200),
    ],
    events: [`24 failover: b took over ${ALL} from a`],
  },
  {
    name: "a clean failover is one event with both appliances and all addresses",
    polls: [...BOTH, says("b", "MASTER"), says("a", "BACKUP")],
    events: [`23 failover: b took over ${ALL} from a`],
  },
  {
    name: "the websites of a cluster whose master is not known for a moment are no event",
    polls: [
      ...BOTH,
      https("a", 200),
      https("b", 200),
      says("a", "BACKUP"),
      says("b", "MASTER"),
      failed.vrrp("b", "timeout"),
      says("b", "MASTER"),
    ],
    events: [
      "27 recovery: Polling of b works again",
      "26 outage: Polling of b fails: it does not answer in time (timeout)",
      `25 failover: b took over ${ALL} from a`,
    ],
  },
  {
    name: "groups that fail over one after the other are one event too",
    polls: [
      ...BOTH,
      failed.vrrp("a", "timeout"),
      seen.vrrp(
        "b",
        listOf([
          interfaceOf({ name: "carp-192.0.2.1", vip: "192.0.2.1" }),
          ...VIPS.slice(1).map((vip) => interfaceOf({ name: `carp-${vip}`, vip, state: "BACKUP" })),
        ]),
      ),
      says("b", "MASTER"),
    ],
    events: [
      `23 failover: b took over ${ALL} from a`,
      "22 outage: Polling of a fails: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a split brain begins and ends",
    polls: [...BOTH, says("b", "MASTER"), says("a", "MASTER"), says("b", "MASTER"), says("b", "BACKUP")],
    events: [
      `25 recovery: Split brain ended: a is MASTER of ${ALL}`,
      `24 outage: Split brain: a and b are MASTER of ${ALL}`,
    ],
  },
  {
    name: "groups lose their master, and get one",
    polls: [...BOTH, says("a", "BACKUP"), says("b", "BACKUP"), says("a", "BACKUP"), says("b", "MASTER")],
    events: [`25 failover: b took over ${ALL} from a`, `24 outage: No appliance is MASTER of ${ALL}`],
  },
  {
    name: "a backup goes out of service and comes back",
    polls: [...BOTH, says("b", "INIT", ["192.0.2.1"]), says("b", "BACKUP", ["192.0.2.1"])],
    events: [
      "23 recovery: b: INIT → BACKUP on carp-192.0.2.1, 192.0.2.1 (vhid 2)",
      "23 recovery: There is a BACKUP again of 192.0.2.1 (vhid 2)",
      "22 outage: b: BACKUP → INIT on carp-192.0.2.1, 192.0.2.1 (vhid 2)",
      `22 outage: a is MASTER of ${ALL}, and no appliance is BACKUP`,
    ],
  },
  {
    name: "a poll that is missed once is an outage of the appliance and no event of its groups",
    polls: [...BOTH, failed.vrrp("a", "connect"), says("a", "MASTER")],
    events: [
      "23 recovery: Polling of a works again",
      "22 outage: Polling of a fails: it cannot be reached (connect)",
    ],
  },
  {
    name: "a website that is found down twice is down, and up again at once",
    polls: [...BOTH, https("a", 200), https("a", 503), https("a", 503), https("a", 200)],
    events: ["25 recovery: Up again: website shop (https)", "24 outage: Down: website shop (https)"],
  },
  {
    name: "a website that is unknown while its master is, and until its next test, is not up again",
    polls: [...BOTH, https("a", 200), https("b", 200), ...UNSEEN, https("a", 200)],
    events: [
      "27 recovery: Polling of a works again",
      "24 outage: Polling of a fails: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a website that was down before its master was unknown is up again",
    polls: [...BOTH, ...[200, 503, 503].map((status) => https("a", status)), ...UNSEEN, https("a", 200)],
    events: [
      "29 recovery: Up again: website shop (https)",
      "28 recovery: Polling of a works again",
      "25 outage: Polling of a fails: it does not answer in time (timeout)",
      "24 outage: Down: website shop (https)",
    ],
  },
  {
    name: "a website whose tests fail every second time is unstable",
    polls: [...BOTH, ...[200, 503, 200, 503, 200, 503, 200, 503, 200].map((status) => https("a", status))],
    events: ["28 outage: Up, but some tests fail: website shop (https)"],
  },
  {
    name: "an appliance that stands alone changes its state",
    polls: [says("lone", "MASTER", ["192.0.2.9"]), says("lone", "BACKUP", ["192.0.2.9"])],
    events: ["21 failover: lone: MASTER → BACKUP on carp-192.0.2.9, 192.0.2.9 (vhid 2)"],
  },
])("$name", ({ polls, events }) => {
  expect(eventsAfter(polls)).toEqual(events);
});

test("the same event more than ten seconds later is another event", () => {
  const flapping = [
    says("lone", "MASTER", ["v"]),
    says("lone", "BACKUP", ["v"]),
    says("lone", "MASTER", ["v"]),
  ];
  expect(eventsAfter([...flapping, ...flapping], { everySeconds: 4 })).toHaveLength(4);
});

test("an event after the wall clock was set back is no part of an older one", () => {
  const lists = [
    ["MASTER", "MASTER"],
    ["BACKUP", "MASTER"],
    ["BACKUP", "BACKUP"],
  ].map((states) =>
    seen.vrrp("lone", listOf(states.map((state, nth) => interfaceOf({ name: `carp${nth}`, state })))),
  );
  const events = eventsAfter(lists, { everySeconds: 11, wallOf: (nowMs) => (nowMs < 20_000 ? nowMs : 0) });
  expect(events).toEqual([
    "20 failover: lone: MASTER → BACKUP on carp1, 192.0.2.100 (vhid 2)",
    "31 failover: lone: MASTER → BACKUP on carp0, 192.0.2.100 (vhid 2)",
  ]);
});

test("a master that is known again is told once, also while a member that a reload added was not polled yet", () => {
  const [fleet, judging, events] = [fleetOf([MEMBER_A, MEMBER_B]), createJudge(), createEvents()];
  const polls = [
    says("a", "BACKUP", ["v"]),
    says("b", "INIT", ["v"]),
    ...[1, 2].map((priority) => seen.vrrp("a", listOf([interfaceOf({ vip: "v", priority })]))),
  ];
  polls.forEach((observation, nth) => {
    if (nth === 2) fleet.configure(configOf(MEMBER_A, MEMBER_B, MEMBER_C), nth);
    const at = { wallMs: WALL_MS + nth, monotonicMs: nth };
    const { cluster } = fleet.record(observation, nth);
    if (cluster !== undefined) events.add(judging.judge(cluster, at), at);
  });
  expect(events.list().map(({ summary }) => summary)).toEqual([
    "a is MASTER of v (vhid 2)",
    "No appliance is MASTER of v (vhid 2)",
  ]);
});

test("an event names 24 subjects, and a sentence has 2,000 characters at most", () => {
  const many = Array.from({ length: 1000 }, (_, nth) => `192.0.2.${nth}`);
  const long = many.map((vip) => `${vip}${"\u{1F310}".repeat(60)}`);
  const [named = "", cut = ""] = [many, long].flatMap((vips) =>
    eventsAfter([says("lone", "MASTER", vips), says("lone", "BACKUP", vips)]),
  );
  expect(named).toMatch(/192\.0\.2\.23 \(vhid 2\) and 976 more$/);
  expect(cut).toMatch(/^21 failover: lone: .*\u{1F310}…$/u);
  expect(cut).toHaveLength("21 failover: ".length + 2000);
});

test("the oldest events are forgotten", () => {
  const busy = Array.from({ length: 12 }, (_, nth) =>
    nth % 2 === 0 ? failed.vrrp("b", "dns") : says("b", "BACKUP"),
  );
  const events = eventsAfter(busy, { maxEvents: 4, everySeconds: 11 });
  expect(events).toEqual(eventsAfter(busy, { everySeconds: 11 }).slice(0, 4));
});

test("the cluster with the most events loses its oldest first", () => {
  const lone = [says("lone", "MASTER", ["v"]), says("lone", "BACKUP", ["v"])];
  const busy = Array.from({ length: 12 }, (_, nth) =>
    nth % 2 === 0 ? failed.vrrp("b", "dns") : says("b", "BACKUP"),
  );
  const events = eventsAfter([...lone, ...busy], { maxEvents: 4 });
  expect(events).toHaveLength(4);
  expect(events.at(-1)).toBe("21 failover: lone: MASTER → BACKUP on carp-v, v (vhid 2)");
});
