import { expect, test } from "vitest";
import type { Observation } from "../../src/polling/observation.ts";
import { createPast } from "../../src/status/past.ts";
import { MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import {
  applianceOf,
  EXPIRES_AT_MS,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../support/observations.ts";
import { incidentLines, replay } from "./support.ts";

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

/** The incidents after these observations, one a second. */
function incidentsAfter(
  observations: readonly Observation[],
  { maxIncidents = 200, everySeconds = 1, wallOf = (nowMs: number) => nowMs } = {},
): readonly string[] {
  const polls = observations.map((observation, nth) => {
    const atMs = nth * everySeconds * 1000;
    const given = { sentAtMs: atMs - 500, expiresAtMs: atMs + EXPIRES_AT_MS };
    return { observation: { ...observation, ...given }, atMs };
  });
  return incidentLines(replay(polls, { members: [A, B, LONE], past: createPast(maxIncidents), wallOf }).past);
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
    incidents: [`3-4 failover: ${TAKEN}, which stepped down. No known master for at most 4 s`],
  },
  {
    name: "a clean failover is one incident with both appliances, its cause and all addresses",
    polls: [...BOTH, says("b", "MASTER"), says("a", "BACKUP")],
    incidents: [`2-3 failover: ${TAKEN}, which stepped down. No known master for at most 3 s`],
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
      "6-7 appliance_down: b went down: it does not answer in time (timeout)",
      `5-5 failover: ${TAKEN}, which stepped down. No known master for at most 6 s`,
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
      `3- failover: ${TAKEN}, which stopped answering (timeout). No known master for at most 5 s`,
      "2- appliance_down: a went down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a split brain begins and ends",
    polls: [...BOTH, says("b", "MASTER"), says("a", "MASTER"), says("b", "MASTER"), says("b", "BACKUP")],
    incidents: [`4-5 split_brain: Split brain: a and b were MASTER at once of ${ALL}`],
  },
  {
    name: "groups lose their master, and get one",
    polls: [...BOTH, says("a", "BACKUP"), says("b", "BACKUP"), says("a", "BACKUP"), says("b", "MASTER")],
    incidents: [
      `5-5 failover: ${TAKEN}, which stepped down. No known master for at most 6 s`,
      `4-5 no_master: No appliance was MASTER of ${ALL}`,
    ],
  },
  {
    name: "a backup goes out of service and comes back",
    polls: [...BOTH, says("b", "INIT", ["192.0.2.1"]), says("b", "BACKUP", ["192.0.2.1"])],
    incidents: [
      "2-3 odd_state: b reported INIT on carp-192.0.2.1, 192.0.2.1 (vhid 2)",
      `2- redundancy_lost: No appliance was BACKUP beside a of ${ALL}`,
    ],
  },
  {
    name: "a poll that is missed once is an incident of the appliance and none of its groups",
    polls: [...BOTH, failed.vrrp("a", "connect"), says("a", "MASTER")],
    incidents: ["2-3 appliance_down: a went down: it cannot be reached (connect)"],
  },
  {
    name: "a website that is found down twice is down, and up again at once",
    polls: [...BOTH, https("a", 200), https("a", 503), https("a", 503), https("a", 200)],
    incidents: ["4-5 website_down: Down: website shop (https)"],
  },
  {
    name: "a website that is unknown while its master is, and until its next test, is not up again",
    polls: [...BOTH, https("a", 200), https("b", 200), ...UNSEEN, https("a", 200)],
    incidents: ["4-7 appliance_down: a went down: it does not answer in time (timeout)"],
  },
  {
    name: "a website that was down before its master was unknown is up again",
    polls: [...BOTH, ...[200, 503, 503].map((status) => https("a", status)), ...UNSEEN, https("a", 200)],
    incidents: [
      "5-8 appliance_down: a went down: it does not answer in time (timeout)",
      "4-9 website_down: Down: website shop (https)",
    ],
  },
  {
    name: "a website whose tests fail every second time is unstable",
    polls: [...BOTH, ...[200, 503, 200, 503, 200, 503, 200, 503, 200].map((status) => https("a", status))],
    incidents: ["8- website_unstable: Some tests failed: website shop (https)"],
  },
  {
    name: "an appliance that stands alone changes its state",
    polls: [says("lone", "MASTER", ["192.0.2.9"]), says("lone", "BACKUP", ["192.0.2.9"])],
    incidents: ["1-1 vrrp_state: lone became BACKUP after MASTER on carp-192.0.2.9, 192.0.2.9 (vhid 2)"],
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
    "0-0 vrrp_state: lone became BACKUP after MASTER on carp1, 192.0.2.100 (vhid 2)",
    "11-11 vrrp_state: lone became BACKUP after MASTER on carp0, 192.0.2.100 (vhid 2)",
  ]);
});

test("a group without a master is one incident, also while a member that a reload added was not polled yet", () => {
  const reload = { atMs: 2000, members: [MEMBER_A, MEMBER_B, MEMBER_C] };
  const polls = pollsOf("a BACKUP 0, b INIT 1, a MASTER/1 2, a MASTER/2 3");
  expect(incidentLines(replay(polls, { reload }).past)).toEqual([
    "1-2 no_master: No appliance was MASTER of 192.0.2.100 (vhid 2)",
  ]);
});

test("an incident names 24 subjects, and a sentence has 2,000 characters at most", () => {
  const many = Array.from({ length: 1000 }, (_, nth) => `192.0.2.${nth}`);
  const long = many.map((vip) => `${vip}${"\u{1F310}".repeat(60)}`);
  const [named = "", cut = ""] = [many, long].flatMap((vips) =>
    incidentsAfter([says("lone", "MASTER", vips), says("lone", "BACKUP", vips)]),
  );
  expect(named).toMatch(/192\.0\.2\.23 \(vhid 2\) and 976 more$/);
  expect(cut).toMatch(/^1-1 vrrp_state: lone became .*\u{1F310}…$/u);
  expect(cut).toHaveLength("1-1 vrrp_state: ".length + 2000);
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
  expect(incidents.at(-1)).toBe("1-1 vrrp_state: lone became BACKUP after MASTER on carp-v, v (vhid 2)");
});
