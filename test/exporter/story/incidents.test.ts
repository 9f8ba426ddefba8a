import { expect, test } from "vitest";
import { gathered, type WebsiteDetails } from "../../../src/exporter/api/website-details.ts";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { lastingProblems } from "../../../src/exporter/judge/problems.ts";
import { createPast } from "../../../src/exporter/story/past.ts";
import { MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import {
  applianceOf,
  blocksOf,
  EXPIRES_AT_MS,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { incidentLines, replay } from "../judge/support.ts";

const SHOP = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
const A = { ...MEMBER_A, websites: [SHOP] };
const B = { ...MEMBER_B, websites: [SHOP] };
const LONE = applianceOf({ name: "lone" });
const VIPS = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
const TAKEN = "b took over 192.0.2.1 (vhid 2) and 2 more VIPs from a";
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
    polls: [...BOTH, https("a", 200), https("a", 503), https("a", 503), https("a", 200), ...BOTH],
    incidents: ["4-5 website_down: Down: website shop (https)"],
  },
  {
    name: "a website that is unknown while its master is, and until its next test, is not up again",
    polls: [...BOTH, https("a", 200), https("b", 200), ...UNSEEN, https("a", 200)],
    incidents: ["4-7 appliance_down: a went down: it does not answer in time (timeout)"],
  },
  {
    name: "a website that was down before its master was unknown is up again",
    polls: [
      ...BOTH,
      ...[200, 503, 503].map((status) => https("a", status)),
      ...UNSEEN,
      https("a", 200),
      ...BOTH,
    ],
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

test("an incident lasts as long as it does when the clock is set back meanwhile", () => {
  const polls = [...BOTH, failed.vrrp("b", "timeout"), says("b", "BACKUP")];
  const incidents = incidentsAfter(polls, {
    wallOf: (nowMs) => (nowMs < 3000 ? nowMs : nowMs - 3_600_000),
  });
  expect(incidents).toEqual(["2-3 appliance_down: b went down: it does not answer in time (timeout)"]);
});

const PAIR = "a MASTER 0, b BACKUP 0";
const VIP = "192.0.2.100 (vhid 2)";
const INIT = `odd_state: b reported INIT on carp0, ${VIP}`;
const DOWN = "went down: it does not answer in time (timeout)";
const NO_BACKUP = `redundancy_lost: No appliance was BACKUP beside a of ${VIP}`;
const STOPPED = "which stopped answering (timeout). No known master for at most 5 s";
const SITE = "website shop (https)";

/** `left`: all members after a reload at second 5. */
test.each<[name: string, polls: string, incidents: readonly string[], left?: readonly ApplianceConfig[]]>([
  [
    "a cluster is dark while none of its appliances answers",
    `${PAIR}, a silent 3, b silent 4, a MASTER 5, b BACKUP 6`,
    [
      "4-5 cluster_dark: No appliance of ams could be reached: neither a nor b",
      `3-6 appliance_down: a and b went down: they do not answer in time (timeout)`,
    ],
  ],
  [
    "an appliance that stands alone is a cluster, which is dark",
    "lone MASTER 0, lone silent 3, lone MASTER 5",
    ["3-5 cluster_dark: lone could not be reached"],
  ],
  [
    "a cluster whose appliances time out and refuse the exporter by turns is dark all the time",
    `${PAIR}, a silent 3, b silent 4, a refuses 5, a silent 6, b refuses 7, a refuses 8, b silent 9, a MASTER 10, b BACKUP 11`,
    [
      "4-10 cluster_dark: No appliance of ams could be reached: neither a nor b",
      `3-11 appliance_down: a and b went down: they do not answer in time (timeout)`,
    ],
  ],
  [
    "and refuses it once the latest time-out is two minutes ago",
    `${PAIR}, b silent 3, b refuses 5, a MASTER 100, b refuses 124, a MASTER 125, b BACKUP 126`,
    [
      "125-126 appliance_refused: b could not be polled: it refuses the credentials (auth)",
      "3-125 appliance_down: b went down: it does not answer in time (timeout)",
    ],
  ],
  [
    "one that refuses the exporter could not be polled",
    "lone MASTER 0, lone refuses 3, lone MASTER 5",
    ["3-5 appliance_refused: lone could not be polled: it refuses the credentials (auth)"],
  ],
  [
    "one that stands alone serves nobody in an odd state, and its return is the end of that",
    "lone MASTER 0, lone INIT 3, lone BACKUP 5",
    [`3-5 not_serving: lone reported INIT on carp0, ${VIP}`],
  ],
  ["a VIP that its master lists first is no incident", `${PAIR}, a MASTER+MASTER 5, b BACKUP+BACKUP 6`, []],
  [
    "an odd state is over when it is not listed",
    `${PAIR}, b INIT 3, b nothing 4`,
    [`3-4 ${INIT}`, `3- ${NO_BACKUP}`],
  ],
  [
    "an odd state lasts while its appliance is silent",
    `${PAIR}, b INIT 3, b silent 4, b INIT 5, b BACKUP 6`,
    [`4-5 appliance_down: b ${DOWN}`, `3-6 ${INIT}`, `3-6 ${NO_BACKUP}`],
  ],
  [
    "another odd state is the same incident",
    `${PAIR}, b INIT 3, b FAULT 4, b BACKUP 6`,
    [`3-6 ${INIT}`, `3-6 ${NO_BACKUP}`],
  ],
  [
    "a group that nobody lists is in no trouble",
    `${PAIR}, a BACKUP 1, b BACKUP 2, a BACKUP 3, a nothing 4, b nothing 5`,
    [`3-5 no_master: No appliance was MASTER of ${VIP}`],
  ],
  [
    "a failover of such a group is over",
    `${PAIR}, a silent 3, b MASTER 5, b nothing 6, a nothing 7`,
    [`5-7 failover: b took over ${VIP} from a, ${STOPPED}`, `3-7 appliance_down: a ${DOWN}`],
  ],
  [
    "a group without a master is one incident, also while a member that a reload added was not polled yet",
    `${PAIR}, a BACKUP 1, b BACKUP 2, a BACKUP 3, a MASTER/1 5, a MASTER/2 6`,
    [`3-5 no_master: No appliance was MASTER of ${VIP}`],
    [MEMBER_A, MEMBER_B, MEMBER_C],
  ],
  [
    "an appliance that a reload removes is not down",
    `${PAIR}, c BACKUP 0, b silent 3, a MASTER 5, c BACKUP 5`,
    [`3-5 appliance_down: b ${DOWN}`],
    [A, MEMBER_C],
  ],
  [
    "neither is a website",
    `${PAIR}, a 200 1, a 503 2, a 503 3, a MASTER 5, b BACKUP 5`,
    [`3-5 website_down: Down: ${SITE}`],
    [MEMBER_A, MEMBER_B],
  ],
  [
    "a group whose only backup a reload removes has none",
    `${PAIR}, c INIT 0, a MASTER 5, c INIT 5`,
    [`5- ${NO_BACKUP}`],
    [A, MEMBER_C],
  ],
  [
    "an appliance that a reload removes, or gives another name, is followed by no failover",
    `${PAIR}, c BACKUP 0, b MASTER 5, c BACKUP 5`,
    [],
    [B, MEMBER_C],
  ],
  [
    "the outage of a website lasts at most from the beginning of the latest test that found it up at the master",
    `${PAIR}, a 200 1 1.5, b 200 1.8, a MASTER 1.9, a 503 2, a 503 3, a 200 5 5.4, a MASTER 6`,
    [`3-5.4 website_down: Down at the master: ${SITE}, about 2.7 s, at most 4.4 s`],
  ],
  [
    "a test that hangs at the former master was to find it up",
    `${PAIR}, b 503 0.5, b 503 0.6, a 200 7, a 200 8, a MASTER 8, b MASTER 12, a silent 9 13, a untested 9 13, b 200 20, b MASTER 21`,
    [
      `12- failover: b took over ${VIP} from a, ${STOPPED.replace("5 s", "4 s")}`,
      `13- appliance_down: a ${DOWN}`,
      `12-20 website_down: Down at the master: ${SITE}, about 7.5 s, at most 12 s`,
    ],
  ],
  [
    "what the successor finds as BACKUP is not what visitors get",
    `${PAIR}, a 200 0.5, a MASTER 0.6, a 200 1.1, b 200 1.5, b BACKUP 1.6, b MASTER 2, a BACKUP 2, b 503 2.2, b 503 3.2, b 200 6, b MASTER 7`,
    [
      `3.2-6 website_down: Down at the master: ${SITE}, about 3.45 s, at most 5.5 s`,
      `2-2 failover: b took over ${VIP} from a, which stepped down. No known master for at most 2 s`,
    ],
  ],
  [
    "it may be down since the former master was found as such last, whatever it still finds",
    `${PAIR}, a 200 1, b 503 1.2, b 503 1.4, b MASTER 2, a BACKUP 2, b 200 6, b MASTER 7`,
    [
      `2-2 failover: b took over ${VIP} from a, which stepped down. No known master for at most 2 s`,
      `2-6 website_down: Down at the master: ${SITE}, about 3 s, at most 6 s`,
    ],
  ],
  [
    "what the new master found long before does not count",
    `b 200 0, ${PAIR}, b 503 1, b 503 2, a 200 20, a 200 20.5, a MASTER 21, b BACKUP 21, a 200 22, b MASTER 22.5, a BACKUP 22.5, b 503 23, b 200 26, b MASTER 27`,
    [
      `22.5-22.5 failover: b took over ${VIP} from a, which stepped down. No known master for at most 2 s`,
      `22.5-26 website_down: Down at the master: ${SITE}, about 2.75 s, at most 5.5 s`,
      `2-20 website_down: Down: ${SITE}`,
    ],
  ],
  [
    "a master that stops answering had it until then",
    `${PAIR}, b 503 0.5, b 503 0.6, a 200 20, a MASTER 21, a untested 21 25, a silent 22 26, a untested 27, b MASTER 27, a BACKUP 40, a 200 40.5, b BACKUP 44, a MASTER 44, a 200 45, a MASTER 46`,
    [
      `44-44 failover: ${VIP} is back on a (b stepped down, no known master for at most 17 s). The failover of 22:13:47 UTC is over`,
      `27-40 failover: b took over ${VIP} from a, ${STOPPED.replace("5 s", "6 s")}`,
      `27-44 website_down: Down: ${SITE}, about 21.5 s, at most 25 s`,
      "26-40 appliance_down: a went down: it does not answer in time (timeout)",
    ],
  ],
  [
    "an outage goes on if the new master, which had the website as BACKUP, has lost it",
    `${PAIR}, a 200 1, b 200 1, a MASTER 1.5, b BACKUP 1.5, a 503 2, a 503 3, b MASTER 4, a BACKUP 4, b 503 5, b 503 6, b 200 9, b MASTER 10`,
    [
      `4-4 failover: b took over ${VIP} from a, which stepped down. No known master for at most 3 s`,
      `3-9 website_down: Down: ${SITE}, about 6 s, at most 8 s`,
    ],
  ],
  [
    "and is over since the failover if the new master still has it",
    `${PAIR}, a 200 1, b 200 1, a MASTER 1.5, b BACKUP 1.5, a 503 2, a 503 3, b MASTER 4, a BACKUP 4, b 200 9, b MASTER 10`,
    [
      `4-4 failover: b took over ${VIP} from a, which stepped down. No known master for at most 3 s`,
      `3-4 website_down: Down at the master: ${SITE}, about 2 s, at most 8 s`,
    ],
  ],
  [
    "a test at a former master, whose hand-over no list has shown yet, does not end it",
    `${PAIR}, a 200 1, a MASTER 1.5, a 503 2, a 503 3, a MASTER 4, b 503 4.2, b 503 4.4, a 200 5, b MASTER 6, a BACKUP 6, b 200 9, b MASTER 10`,
    [
      `6-6 failover: b took over ${VIP} from a, which stepped down. No known master for at most 2 s`,
      `3-9 website_down: Down: ${SITE}, about 5.2 s, at most 8 s`,
    ],
  ],
  [
    "where no master did, nothing is said of the time",
    `${PAIR}, b 200 1, b MASTER 2, a BACKUP 2, b 503 3, b 503 4, b 200 6`,
    [
      `4-6 website_down: Down: ${SITE}`,
      `2-2 failover: b took over ${VIP} from a, which stepped down. No known master for at most 2 s`,
    ],
  ],
  [
    "nor where it is not known to be up again",
    `${PAIR}, a 200 1, a 503 2, a 503 3, a untested 4, a untested 5, a 200 6`,
    [`5-6 website_unknown: Not known to be up: ${SITE}`, `3-5 website_down: Down: ${SITE}`],
  ],
  [
    "without groups, all appliances count",
    "lone nothing 0, lone 200 1, lone 503 2, lone 503 3, lone 200 5",
    [`3-5 website_down: Down: ${SITE}, about 2.5 s, at most 4 s`],
  ],
])("%s", (_, polls, incidents, left) => {
  const reload = left && { atMs: 5000, members: left };
  const members = [A, B, { ...LONE, websites: [SHOP] }, ...(polls.includes(", c ") ? [MEMBER_C] : [])];
  const { past } = replay(pollsOf(polls), { members, ...(reload && { reload }) });
  const outages = past.list().map(({ outageAboutSeconds: about, outageAtMostSeconds: most }) => {
    return most === undefined ? "" : `, about ${about} s, at most ${most} s`;
  });
  expect(incidentLines(past).map((line, nth) => `${line}${outages[nth]}`)).toEqual(incidents);
});

const BLOG = websiteOf({ id: 3, name: "blog", protocols: ["https"] });

const timesOf = (about?: number, most?: number) => most && `about ${about} s, at most ${most} s`;

test.each<[name: string, polls: string, outages: readonly string[], longest: string | undefined]>([
  [
    "its own outage, from its latest test that was up to its next one, although it joined later",
    "a 200 1, a MASTER 1, a 503 2, a 503 3, a 200#3 40, a MASTER 40, a 503#3 41, a 503#3 42, a 200 43, b 200 43, a MASTER 44, a 200#3 45, a MASTER 46",
    ["shop (https) until 43: about 41 s, at most 42 s", "blog (https) until 45: about 3.5 s, at most 5 s"],
    "about 41 s, at most 42 s",
  ],
  [
    "no end before it was known to be down",
    "a 200 1, a MASTER 1, a 503 2, a 503 3, a 200#3 40, a MASTER 40, a 503#3 41, a 503#3 42, a BACKUP 44, b MASTER 44, b 200 45, b 200#3 45, b MASTER 46",
    ["shop (https) until 44: about 22 s, at most 44 s", "blog (https) until 44: about 2.5 s, at most 5 s"],
    "about 22 s, at most 44 s",
  ],
  [
    "none while it is down",
    "a 200 1, a MASTER 1, a 503 2, a 503 3, a 200#3 4, a 503#3 5, a 503#3 6, a 200 8, a MASTER 9",
    ["shop (https) until 8: about 5.5 s, at most 7 s"],
    undefined,
  ],
  [
    "no length if it is not known to be up again",
    "a 200 1, a 503 2, a 503 3, a 200#3 4, a MASTER 4, a 503#3 5, a 503#3 6, a untested 8, a untested 9, a 200#3 10, a MASTER 11",
    ["shop (https) until 9", "blog (https) until 10: about 5 s, at most 6 s"],
    undefined,
  ],
])("each of the websites that go down together has %s", (_, polls, expected, longest) => {
  const members = [A, B].map((each) => ({ ...each, websites: [SHOP, BLOG] }));
  const all = replay(pollsOf(`${BOTH_UP}, ${polls}`), { members }).past.list();
  const down = all.filter(({ kind }) => kind === "website_down");
  const outages = down
    .flatMap((each) => each.outages ?? [])
    .map((each) => {
      const { subject, end, aboutSeconds, atMostSeconds } = each;
      const times = timesOf(aboutSeconds, atMostSeconds);
      return `${subject} until ${(Date.parse(end) - WALL_MS) / 1000}${times === undefined ? "" : `: ${times}`}`;
    });
  expect(outages).toEqual(expected);
  expect(down.map((each) => timesOf(each.outageAboutSeconds, each.outageAtMostSeconds))).toEqual([longest]);
});

/** Both websites are up at both members at second 0. */
const BOTH_UP = `${PAIR}, a 200 0, b 200 0, a 200#3 0, b 200#3 0`;

test.each<[name: string, polls: string, incidents: readonly string[]]>([
  [
    "at the master first",
    "a 503 1, a 503 2, b 503 3, b 503 4",
    ["2- website_down: Down: website shop (https)"],
  ],
  [
    "at the backup first",
    "b 503 1, b 503 2, a 503 3, a 503 4",
    ["4- website_down: Down: website shop (https)"],
  ],
  [
    "at the master only, in the end",
    "a 503 1, a 503 2, b 503 3, b 503 4, b 200 6",
    ["2- website_down: Down: website shop (https)"],
  ],
  [
    "at the master only",
    "a 503 1, a 503 2, b 200 3",
    ["2- website_down: Down at the master: website shop (https)"],
  ],
  [
    "and another one within a minute, at the master only",
    "a 503 1, b 503 1, a 503 2, b 503 2, a 503#3 60, a 503#3 61.9",
    ["2- website_down: Down: websites shop (https) and blog (https)"],
  ],
  [
    "and another one within a minute, of which the first was down at the master only",
    "a 503 1, a 503 2, a 503#3 50, b 503#3 50, a 503#3 51, b 503#3 52",
    ["2- website_down: Down: websites shop (https) and blog (https)"],
  ],
  [
    "and another one after a minute",
    "a 503 1, a 503 2, a 503#3 60, a 503#3 62",
    [
      "62- website_down: Down at the master: website blog (https)",
      "2- website_down: Down at the master: website shop (https)",
    ],
  ],
  [
    "and another one within a minute, when the first is up again",
    "a 503 1, a 503 2, a 200 4, a MASTER 4.5, a 503#3 5, a 503#3 6",
    [
      "6- website_down: Down at the master: website blog (https)",
      "2-4 website_down: Down at the master: website shop (https)",
    ],
  ],
  [
    "with another state of its own",
    "a untested 1, a untested 2, a 503#3 3, a 503#3 4",
    [
      "4- website_down: Down at the master: website blog (https)",
      "2- website_unknown: Not known to be up: website shop (https)",
    ],
  ],
])("a website goes down, %s", (_, polls, incidents) => {
  const members = [A, B].map((each) => ({ ...each, websites: [SHOP, BLOG] }));
  const { past } = replay(pollsOf(`${BOTH_UP}, ${polls}`), { members });
  expect(incidentLines(past)).toEqual(incidents);
});

test("a website that was not known to be up by one protocol, and was by the other, is an incident when it is down", () => {
  const protocols = ["http", "https"] as const;
  const members = [{ ...MEMBER_A, websites: [websiteOf({ id: 2, name: "shop", protocols })] }];
  const tests = [200, 200, undefined, undefined, 503, 503].map((http) =>
    seen.website("a", 2, [
      { protocol: "http", status: http, text: "unreadable" },
      { protocol: "https", status: 200 },
    ]),
  );
  const polls = [says("a", "MASTER"), ...tests].map((observation, second) => {
    const atMs = second * 1000;
    return { observation: { ...observation, sentAtMs: atMs, expiresAtMs: 1e9 }, atMs };
  });
  expect(incidentLines(replay(polls, { members }).past)).toEqual([
    "6- website_down: Down: website shop (http)",
  ]);
  expect(incidentLines(replay(polls.slice(0, 5), { members }).past)).toEqual([]);
});

test("a website that is down by two protocols is one website", () => {
  const protocols = ["http", "https"] as const;
  const members = [{ ...MEMBER_A, websites: [websiteOf({ id: 2, name: "shop", protocols })] }];
  const both = (status: number) =>
    seen.website(
      "a",
      2,
      protocols.map((protocol) => ({ protocol, status })),
    );
  const observations = [says("a", "MASTER"), both(200), both(503), both(503)];
  const polls = observations.map((observation, second) => {
    const atMs = second * 1000;
    return { observation: { ...observation, sentAtMs: atMs, expiresAtMs: 1e9 }, atMs };
  });
  expect(incidentLines(replay(polls, { members }).past)).toEqual([
    "3- website_down: Down: website shop (http) and shop (https)",
  ]);
});

/** The details of `shop` at an appliance that reports errors of so many of its two servers. */
function servers(appliance: string, failing: number, given: Partial<WebsiteDetails> = {}): Observation {
  const backends = gathered(
    [0, 1].map((nth) => ({ address: `192.0.2.8${nth}:80`, role: "active", isOk: nth >= failing })),
  );
  return seen.details(appliance, 2, { host: "shop.example", name: "shop", backends, ...given });
}
const SERVERS_WELL = [servers("a", 0), servers("b", 0)];
const UNDESCRIBED = [failed.details("a", 2, "decode"), failed.details("b", 2, "decode")];

test.each<[name: string, details: readonly Observation[], incidents: readonly string[]]>([
  [
    "that fail are an incident until they work again",
    [...SERVERS_WELL, servers("a", 1), servers("a", 0)],
    ["8-9 website_backend_down: Servers are down: website shop"],
  ],
  ["that had failed when they were first seen are none", [servers("a", 1), servers("b", 0)], []],
  [
    "none of which was usable when they were first seen are none, until all work",
    [servers("a", 2), servers("b", 2), servers("a", 1), servers("b", 0), servers("a", 0)],
    [],
  ],
  [
    "none of which was usable when they were first seen are none, also while the website is up",
    [
      servers("a", 2),
      servers("b", 2),
      ...["a", "b"].map((name) => seen.website(name, 2, blocksOf(200, 200))),
      ...SERVERS_WELL,
    ],
    [],
  ],
  [
    "none of which was usable when they were first seen are none when the website is down",
    [
      servers("a", 2),
      servers("b", 2),
      ...[200, 503, 503, 200].flatMap((status) => {
        return ["a", "b"].map((name) => seen.website(name, 2, blocksOf(status, status)));
      }),
      ...BOTH,
      ...SERVERS_WELL,
    ],
    ["12-14 website_down: Down: website shop (http) and shop (https)"],
  ],
  [
    "of which one had failed when they were first seen are an incident when none is usable, and until all work",
    [servers("a", 1), servers("b", 0), servers("a", 2), servers("a", 1), servers("a", 0)],
    [
      "9-10 website_backend_down: Servers are down: website shop",
      "8-9 website_backends_lost: No server is usable: website shop",
    ],
  ],
  [
    "that fail one after the other are two incidents",
    [...SERVERS_WELL, servers("a", 1), servers("a", 2)],
    [
      "9- website_backends_lost: No server is usable: website shop",
      "8-9 website_backend_down: Servers are down: website shop",
    ],
  ],
  [
    "of which nothing is known for a while are the same incident",
    [...SERVERS_WELL, servers("a", 1), ...UNDESCRIBED, servers("a", 1), servers("b", 0), servers("a", 0)],
    ["8-13 website_backend_down: Servers are down: website shop"],
  ],
  [
    "of a website that is disabled then are missed by nobody",
    [
      ...SERVERS_WELL,
      servers("a", 1),
      servers("b", 0, { isEnabled: false }),
      servers("a", 1, { isEnabled: false }),
    ],
    ["8-10 website_backend_down: Servers are down: website shop"],
  ],
])("servers behind a website %s", (_, details, incidents) => {
  const discovery = { exclude: [], limit: 200 };
  const members = [MEMBER_A, MEMBER_B].map((each) => ({ ...each, discovery }));
  const described = [...BOTH, seen.websites("a", [2]), seen.websites("b", [2])];
  const all = [...described, ...details.slice(0, 2), https("a", 200), https("b", 200), ...details.slice(2)];
  const polls = all.map((observation, second) => {
    const atMs = second * 1000;
    return { observation: { ...observation, sentAtMs: atMs, expiresAtMs: 1e9 }, atMs };
  });
  const { past, verdict } = replay(polls, { members });
  expect(incidentLines(past)).toEqual(incidents);
  const begins = past.list().flatMap(({ begin, end }) => (end === undefined ? begin : []));
  const known = lastingProblems(verdict).filter(({ kind }) => kind.startsWith("website_backend"));
  expect(known.flatMap(({ since }) => since ?? [])).toEqual(begins);
});

const NEW_VIP = "192.0.2.101 (vhid 2)";

/** `added`: the members from second 5 on. */
test.each<[name: string, polls: string, added?: readonly ApplianceConfig[]]>([
  ["an appliance that does not answer", "a MASTER 0, b silent 0, a MASTER 4, b silent 4"],
  [
    "one whose name does not resolve, and that does not answer then",
    "a MASTER 0, b unresolved 0, b silent 4",
  ],
  ["a cluster", "a silent 0, b silent 1, a silent 5, b silent 6"],
  ["an appliance that stands alone", "lone silent 0, lone silent 5"],
  ["an appliance that refuses the exporter", "lone refuses 0, lone refuses 5"],
  ["an interface in an odd state, and in another one", "lone INIT 0, lone FAULT 5"],
  ["a group without a backup", "a MASTER 0, b INIT 0, a MASTER 5, b FAULT 5"],
  ["a group whose backup is down, and that has none then", "a MASTER 0, b silent 0, a MASTER 5, b INIT 5"],
  ["one whose backup refuses the exporter first", "a MASTER 0, b refuses 0, a MASTER 5, b INIT 5"],
  ["an appliance that is down, and refuses the exporter then", "a MASTER 0, b silent 0, b refuses 5"],
  ["one whose name does not resolve, and that refuses it then", "a MASTER 0, b unresolved 0, b refuses 5"],
  ["one that is down, and whose name does not resolve then", "a MASTER 0, b silent 0, b unresolved 5"],
  ["one that refuses it, and whose name does not resolve then", "a MASTER 0, b refuses 0, b unresolved 5"],
  [
    "a website that is down, is not known to be up then, and is down again",
    `${PAIR}, a 503 1, b 503 1, a 503 2, b 503 2, a untested 3, a untested 4, b untested 4, b untested 5, a 503 6, a 503 7`,
  ],
  ["a group without a master", "a BACKUP 0, b BACKUP 0, a BACKUP 5, b BACKUP 5"],
  ["a group of which a member did not answer first", "a silent 0, b BACKUP 0, a BACKUP 4, b BACKUP 5"],
  ["a split brain", "a MASTER 0, b MASTER 0, a MASTER 4, b MASTER 4"],
  ["a website", `${PAIR}, a 503 1, a 503 2, b 200 3, b 503 4, b 503 5`],
  [
    "an appliance that a reload adds",
    `${PAIR}, a MASTER 5, b BACKUP 5, c silent 5, c silent 9`,
    [A, B, MEMBER_C],
  ],
  [
    "an appliance that a reload adds beside one that is dark",
    "lone MASTER 0, a silent 5, b silent 5",
    [A, B],
  ],
  ["a new group", `${PAIR}, a MASTER 5, b BACKUP+BACKUP 5, a MASTER+INIT 6, b BACKUP+BACKUP 7`],
])("what is wrong when it is first seen is a problem and no incident: %s", (_, polls, added) => {
  const reload = added && { atMs: 5000, members: added };
  const members = [A, B, { ...LONE, websites: [SHOP] }];
  const { past, verdict } = replay(pollsOf(polls), { members, ...(reload && { reload }) });
  expect(lastingProblems(verdict)).not.toEqual([]);
  expect(incidentLines(past)).toEqual([]);
});

test.each<[name: string, polls: string, incidents: readonly string[]]>([
  [
    "an appliance that refused the exporter goes down",
    "a MASTER 0, b refuses 0, b silent 6",
    [`6- appliance_down: b ${DOWN}`],
  ],
  [
    "a cluster is dark, and not its group that never had a backup",
    "a MASTER 0, b silent 0, a silent 5, a MASTER 10, b INIT 10",
    [
      `5-10 appliance_down: a ${DOWN}`,
      "5-10 cluster_dark: No appliance of ams could be reached: neither a nor b",
    ],
  ],
  [
    "a group without a backup has no master",
    "a MASTER 0, b silent 0, b INIT 5, a BACKUP 6, b INIT 7, a BACKUP 8",
    [`8- no_master: No appliance was MASTER of ${VIP}`],
  ],
  [
    "a group whose backup was down has two masters",
    "a MASTER 0, b silent 0, b MASTER 5, a MASTER 6, b MASTER 7",
    [`7- split_brain: Split brain: a and b were MASTER at once of ${VIP}`],
  ],
  [
    "a group loses the backup that it came to have, which no longer lists it",
    "a MASTER 0, b silent 0, b BACKUP 5, b silent 6, b nothing 7",
    [`7- redundancy_lost: No appliance was BACKUP beside a of ${VIP}`, `6-7 appliance_down: b ${DOWN}`],
  ],
  [
    "a group loses the backup that it came to have",
    "a MASTER 0, b silent 0, b BACKUP 5, b silent 6, b INIT 7",
    [
      `7- odd_state: b reported INIT on carp0, ${VIP}`,
      `7- redundancy_lost: No appliance was BACKUP beside a of ${VIP}`,
      `6-7 appliance_down: b ${DOWN}`,
    ],
  ],
  [
    "a website that came up is down, and then not known to be up",
    `${PAIR}, a 503 1, a 503 2, a 200 3, a 503 4, a 503 5, a untested 6, a untested 7`,
    [`7- website_unknown: Not known to be up: ${SITE}`, `5-7 website_down: Down: ${SITE}`],
  ],
])("what gets worse than it was when it was first seen is one: %s", (_, polls, incidents) => {
  expect(incidentLines(replay(pollsOf(polls), { members: [A, B] }).past)).toEqual(incidents);
});

test.each<[name: string, polls: string, incidents: readonly string[]]>([
  ["an appliance", "a MASTER 0, b silent 0, b BACKUP 3, b silent 6", [`6- appliance_down: b ${DOWN}`]],
  [
    "a cluster",
    "a silent 0, b silent 0, a MASTER 3, a silent 6",
    [
      `6- appliance_down: a ${DOWN}`,
      "6- cluster_dark: No appliance of ams could be reached: neither a nor b",
    ],
  ],
  [
    "a group",
    "a MASTER 0, b INIT 0, b BACKUP 3, b nothing 6",
    [`6- redundancy_lost: No appliance was BACKUP beside a of ${VIP}`],
  ],
  [
    "another group of the same appliances",
    `${PAIR}, a MASTER+MASTER 3, b BACKUP+BACKUP 4, b BACKUP 6`,
    [`6- redundancy_lost: No appliance was BACKUP beside a of ${NEW_VIP}`],
  ],
])("what is wrong again after it was well is one: %s", (_, polls, incidents) => {
  expect(incidentLines(replay(pollsOf(polls), { members: [A, B] }).past)).toEqual(incidents);
});

test("while 64 troubles are not over, others are only problems, and failovers are told", () => {
  const polls = Array.from({ length: 33 }, (_, nth) => {
    const [odd, well] = ["+INIT".repeat(nth), "+BACKUP".repeat(33 - nth)];
    const second = nth * 11;
    return `a ${"+MASTER".repeat(34).slice(1)} ${second}, b BACKUP${odd}${well} ${second}`;
  });
  const { past, verdict } = replay(
    pollsOf(`${polls.join(", ")}, a silent 370, b MASTER${"+INIT".repeat(33)} 371`),
  );
  const isFailover = past.list().map(({ kind }) => kind === "failover");
  expect(isFailover).toEqual([true, ...Array.from({ length: 64 }, () => false)]);
  expect(verdict.incidents.failovers).toMatchObject({ silent: 1, stepped_down: 0 });
});

test("200 incidents are remembered, of each what else began within a minute, eight at most, the latest first", () => {
  const polls = Array.from(
    { length: 201 },
    (_, nth) => `lone silent ${nth * 10}, lone BACKUP ${nth * 10 + 5}`,
  );
  const all = replay(pollsOf(polls.join(", ")), { members: [LONE] }).past.list();
  expect(all).toHaveLength(200);
  const [middle, last] = [all[100], all[199]];
  expect(middle?.meanwhile).toEqual(
    [94, 95, 96, 97, 98, 99, 101, 102].map((nth) => {
      const { id, kind, begin, summary } = all[nth] ?? {};
      return { id, kind, begin, summary };
    }),
  );
  expect(last?.meanwhile.map(({ id }) => id)).toEqual(all.slice(193, 199).map(({ id }) => id));
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

test("an odd state is over although another appliance, whose name begins this one's, does not answer", () => {
  const members = ["a", "a b"].map((name) => applianceOf({ name, cluster: "ams" }));
  const polls = [
    says("a", "MASTER"),
    says("a b", "BACKUP"),
    says("a b", "FAULT"),
    failed.vrrp("a", "timeout"),
    says("a b", "BACKUP"),
  ];
  const timed = polls.map((observation, nth) => {
    const atMs = 20_000 * nth;
    return { observation: { ...observation, sentAtMs: atMs, expiresAtMs: atMs + 25_000 }, atMs };
  });
  const { past } = replay(timed, { members });
  expect(incidentLines(past).filter((line) => line.includes("odd_state"))).toEqual([
    expect.stringMatching(/^40-80 odd_state: a b reported FAULT on /),
  ]);
});
