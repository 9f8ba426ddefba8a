import { expect, test } from "vitest";
import type { Observation } from "../../src/polling/observation.ts";
import { createPast } from "../../src/status/past.ts";
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
import { createJudge } from "./support.ts";

const SHOP = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
const A = { ...MEMBER_A, websites: [SHOP] };
const B = { ...MEMBER_B, websites: [SHOP] };
const LONE = applianceOf({ name: "lone" });
const VIPS = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
const TAKEN = "b took over 3 addresses of ams from a";
const ALL = "192.0.2.1 (vhid 2), 192.0.2.2 (vhid 2) and 192.0.2.3 (vhid 2)";

/** An answer in which all groups are in that state. */
function says(appliance: string, state: string, vips = VIPS): Observation {
  return seen.vrrp(appliance, listOf(vips.map((vip) => interfaceOf({ name: `carp-${vip}`, vip, state }))));
}
function https(appliance: string, status: number): Observation {
  return seen.website(appliance, 2, [{ protocol: "https", status }]);
}

/**
 * The incidents after these observations, one a second, latest first: when each began, and when it was over. `wallOf`: the wall clock at
 * a monotonic instant.
 */
function incidentsAfter(
  observations: readonly Observation[],
  { members = [A, B, LONE], maxIncidents = 200, everySeconds = 1, wallOf = (nowMs: number) => nowMs } = {},
): readonly string[] {
  const [fleet, judging, past] = [fleetOf(members), createJudge(), createPast(maxIncidents)];
  observations.forEach((observation, nth) => {
    const nowMs = nth * everySeconds * 1000;
    const given = { ...observation, sentAtMs: nowMs - 500, expiresAtMs: nowMs + EXPIRES_AT_MS };
    const { changes, cluster } = fleet.record(given, nowMs);
    if (cluster === undefined) throw new Error("the appliance is configured");
    const at = { wallMs: WALL_MS + wallOf(nowMs), monotonicMs: nowMs };
    const { before, now } = judging.judge(cluster, at, { appliance: observation.appliance, changes });
    if (now.incidents !== before?.incidents) past.add(now.incidents.news);
  });
  return past.list().map(({ begin, end, kind, summary }) => {
    return `${begin.slice(17, 19)}-${end?.slice(17, 19) ?? ""} ${kind}: ${summary}`;
  });
}

interface Case {
  readonly name: string;
  readonly polls: readonly Observation[];
  readonly incidents: readonly string[];
}

const BOTH = [says("a", "MASTER"), says("b", "BACKUP")];
const NOT_SENT = failed.website("a", 2, "appliance_down");
/** The master does not answer, so its website is unknown, until the next test of that. */
const UNSEEN = [failed.vrrp("a", "timeout"), NOT_SENT, NOT_SENT, says("a", "MASTER")];

test.each<Case>([
  { name: "the first sight of groups is no incident", polls: BOTH, incidents: [] },
  {
    name: "the first test by the master after that by the backup is no incident",
    polls: [...BOTH, https("b", 200), https("a", 200)],
    incidents: [],
  },
  {
    name: "the first test that finds a website up is no incident, whatever was unknown before",
    polls: [
      ...BOTH,
      failed.website("a", 2, "timeout"),
      says("b", "MASTER"),
      says("a", "BACKUP"),
      https("b", 200),
    ],
    incidents: [`23-24 failover: ${TAKEN}, which stepped down. No known master for at most 4 s`],
  },
  {
    name: "a clean failover is one incident with both appliances, its cause and all addresses",
    polls: [...BOTH, says("b", "MASTER"), says("a", "BACKUP")],
    incidents: [`22-23 failover: ${TAKEN}, which stepped down. No known master for at most 3 s`],
  },
  {
    name: "the websites of a cluster whose master is not known for a moment are no incident",
    polls: [
      ...BOTH,
      https("a", 200),
      https("b", 200),
      says("a", "BACKUP"),
      says("b", "MASTER"),
      failed.vrrp("b", "timeout"),
      says("b", "MASTER"),
    ],
    incidents: [
      "26-27 appliance_down: b was down: it does not answer in time (timeout)",
      `25-25 failover: ${TAKEN}, which stepped down. No known master for at most 6 s`,
    ],
  },
  {
    name: "groups that fail over one after the other are one incident too",
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
    incidents: [
      `23- failover: ${TAKEN}, which stopped answering (timeout). No known master for at most 5 s`,
      "22- appliance_down: a was down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a split brain begins and ends",
    polls: [...BOTH, says("b", "MASTER"), says("a", "MASTER"), says("b", "MASTER"), says("b", "BACKUP")],
    incidents: [`24-25 split_brain: Split brain: a and b were MASTER at once of ${ALL}`],
  },
  {
    name: "groups lose their master, and get one",
    polls: [...BOTH, says("a", "BACKUP"), says("b", "BACKUP"), says("a", "BACKUP"), says("b", "MASTER")],
    incidents: [
      `25-25 failover: ${TAKEN}, which stepped down. No known master for at most 6 s`,
      `24-25 no_master: No appliance was MASTER of ${ALL}`,
    ],
  },
  {
    name: "a backup goes out of service and comes back",
    polls: [...BOTH, says("b", "INIT", ["192.0.2.1"]), says("b", "BACKUP", ["192.0.2.1"])],
    incidents: [
      "22-23 odd_state: b reported INIT on carp-192.0.2.1, 192.0.2.1 (vhid 2)",
      `22- redundancy_lost: No appliance was BACKUP beside a of ${ALL}`,
    ],
  },
  {
    name: "a poll that is missed once is an incident of the appliance and none of its groups",
    polls: [...BOTH, failed.vrrp("a", "connect"), says("a", "MASTER")],
    incidents: ["22-23 appliance_down: a was down: it cannot be reached (connect)"],
  },
  {
    name: "a website that is found down twice is down, and up again at once",
    polls: [...BOTH, https("a", 200), https("a", 503), https("a", 503), https("a", 200)],
    incidents: ["24-25 website_down: Down: website shop (https)"],
  },
  {
    name: "a website that is unknown while its master is, and until its next test, is not up again",
    polls: [...BOTH, https("a", 200), https("b", 200), ...UNSEEN, https("a", 200)],
    incidents: ["24-27 appliance_down: a was down: it does not answer in time (timeout)"],
  },
  {
    name: "a website that was down before its master was unknown is up again",
    polls: [...BOTH, ...[200, 503, 503].map((status) => https("a", status)), ...UNSEEN, https("a", 200)],
    incidents: [
      "25-28 appliance_down: a was down: it does not answer in time (timeout)",
      "24-29 website_down: Down: website shop (https)",
    ],
  },
  {
    name: "a website whose tests fail every second time is unstable",
    polls: [...BOTH, ...[200, 503, 200, 503, 200, 503, 200, 503, 200].map((status) => https("a", status))],
    incidents: ["28- website_unstable: Some tests failed: website shop (https)"],
  },
  {
    name: "an appliance that stands alone changes its state",
    polls: [says("lone", "MASTER", ["192.0.2.9"]), says("lone", "BACKUP", ["192.0.2.9"])],
    incidents: ["21-21 vrrp_state: lone became BACKUP after MASTER on carp-192.0.2.9, 192.0.2.9 (vhid 2)"],
  },
])("$name", ({ polls, incidents }) => {
  expect(incidentsAfter(polls)).toEqual(incidents);
});

test("the same change more than ten seconds later is another incident", () => {
  const flapping = [
    says("lone", "MASTER", ["v"]),
    says("lone", "BACKUP", ["v"]),
    says("lone", "MASTER", ["v"]),
  ];
  expect(incidentsAfter([...flapping, ...flapping], { everySeconds: 4 })).toHaveLength(4);
});

test("an incident after the wall clock was set back is no part of an older one", () => {
  const lists = [
    ["MASTER", "MASTER"],
    ["BACKUP", "MASTER"],
    ["BACKUP", "BACKUP"],
  ].map((states) =>
    seen.vrrp("lone", listOf(states.map((state, nth) => interfaceOf({ name: `carp${nth}`, state })))),
  );
  const incidents = incidentsAfter(lists, {
    everySeconds: 11,
    wallOf: (nowMs) => (nowMs < 20_000 ? nowMs : 0),
  });
  expect(incidents).toEqual([
    "20-20 vrrp_state: lone became BACKUP after MASTER on carp1, 192.0.2.100 (vhid 2)",
    "31-31 vrrp_state: lone became BACKUP after MASTER on carp0, 192.0.2.100 (vhid 2)",
  ]);
});

test("a group without a master is one incident, also while a member that a reload added was not polled yet", () => {
  const [fleet, judging, past] = [fleetOf([MEMBER_A, MEMBER_B]), createJudge(), createPast()];
  const polls = [
    says("a", "BACKUP", ["v"]),
    says("b", "INIT", ["v"]),
    ...[1, 2].map((priority) => seen.vrrp("a", listOf([interfaceOf({ vip: "v", priority })]))),
  ];
  polls.forEach((observation, nth) => {
    if (nth === 2) fleet.configure(configOf(MEMBER_A, MEMBER_B, MEMBER_C), nth);
    const at = { wallMs: WALL_MS + nth, monotonicMs: nth };
    const { cluster } = fleet.record(observation, nth);
    if (cluster !== undefined) past.add(judging.judge(cluster, at).now.incidents.news);
  });
  expect(past.list().map(({ summary, end }) => [summary, end])).toEqual([
    ["No appliance was MASTER of v (vhid 2)", new Date(WALL_MS + 2).toISOString()],
  ]);
});

test("an incident names 24 subjects, and a sentence has 2,000 characters at most", () => {
  const many = Array.from({ length: 1000 }, (_, nth) => `192.0.2.${nth}`);
  const long = many.map((vip) => `${vip}${"\u{1F310}".repeat(60)}`);
  const [named = "", cut = ""] = [many, long].flatMap((vips) =>
    incidentsAfter([says("lone", "MASTER", vips), says("lone", "BACKUP", vips)]),
  );
  expect(named).toMatch(/192\.0\.2\.23 \(vhid 2\) and 976 more$/);
  expect(cut).toMatch(/^21-21 vrrp_state: lone became .*\u{1F310}…$/u);
  expect(cut).toHaveLength("21-21 vrrp_state: ".length + 2000);
});

test("the oldest incidents are forgotten", () => {
  const busy = Array.from({ length: 12 }, (_, nth) =>
    nth % 2 === 0 ? failed.vrrp("b", "dns") : says("b", "BACKUP"),
  );
  const incidents = incidentsAfter(busy, { maxIncidents: 4, everySeconds: 11 });
  expect(incidents).toEqual(incidentsAfter(busy, { everySeconds: 11 }).slice(0, 4));
});

test("the cluster with the most incidents loses its oldest first", () => {
  const lone = [says("lone", "MASTER", ["v"]), says("lone", "BACKUP", ["v"])];
  const busy = Array.from({ length: 12 }, (_, nth) =>
    nth % 2 === 0 ? failed.vrrp("b", "dns") : says("b", "BACKUP"),
  );
  const incidents = incidentsAfter([...lone, ...busy], { maxIncidents: 4 });
  expect(incidents).toHaveLength(4);
  expect(incidents.at(-1)).toBe("21-21 vrrp_state: lone became BACKUP after MASTER on carp-v, v (vhid 2)");
});
