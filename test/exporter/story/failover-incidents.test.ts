import { expect, test } from "vitest";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import { configOf, interfaceOf, listOf, seen } from "../../support/observations.ts";
import { createJudge, incidentLines, replay } from "../judge/support.ts";

const START = { wallMs: 0, monotonicMs: 0 };

const both = (second: number, a: string, b: string): string => `a ${a} ${second}, b ${b} ${second}`;
const PAIR = both(0, "MASTER", "BACKUP");
const TWO = both(0, "MASTER+MASTER", "BACKUP+BACKUP");
const away = (second: number): string => both(second, "BACKUP", "MASTER");
const back = (second: number): string => both(second, "MASTER", "BACKUP");

const VIP = "192.0.2.100 (vhid 2)";
const OTHER = "192.0.2.101 (vhid 2)";
const SILENT = "which stopped answering (timeout)";
const DOWN = "it does not answer in time (timeout)";
const REFUSED = "appliance_refused: a could not be polled: it refuses the credentials (auth)";
const atMost = (time: string): string => `No known master for at most ${time}`;
const stepped = (to: string, from: string, what = VIP): string =>
  `failover: ${to} took over ${what} from ${from}, which stepped down`;
const returned = (to: string, from: string, time: string, since: string, what = VIP): string =>
  `failover: ${what} is back on ${to} (${from} stepped down, no known master for at most ${time}). The failover of ${since} UTC is over`;
const eachOther = (what: string): string => `from each other ${what}`;

interface Case {
  readonly name: string;
  readonly polls: string;
  readonly incidents: readonly string[];
  /** How many failovers were counted of which cause. */
  readonly counts?: object;
}

test.each<Case>([
  {
    name: "groups that join a failover within ten seconds are part of it",
    polls: `${TWO}, b MASTER+BACKUP 5, a BACKUP+MASTER 6, b MASTER+MASTER 15, a BACKUP+BACKUP 15.999`,
    incidents: [`5-15.999 ${stepped("b", "a", `${VIP} and 1 more VIP`)}. ${atMost("9 s")}`],
    counts: { stepped_down: 1 },
  },
  {
    name: "groups that are known together are one from the first on, with the longest time",
    polls: `${TWO}, b MASTER+BACKUP 5, b MASTER+MASTER 7, a BACKUP+BACKUP 8`,
    incidents: [`5-8 ${stepped("b", "a", `${VIP} and 1 more VIP`)}. ${atMost("7 s")}`],
    counts: { stepped_down: 1 },
  },
  {
    name: "each cause is named with its groups, also of those that join, and the first one that was found is counted",
    polls: `${TWO}, b MASTER+BACKUP 5, a BACKUP+MASTER 6, b MASTER+MASTER 8, a BACKUP+FAULT 9, a BACKUP+BACKUP 10`,
    incidents: [
      `9-10 odd_state: a reported FAULT on carp1, ${OTHER}`,
      `9-10 redundancy_lost: No appliance was BACKUP beside b of ${OTHER}`,
      `5-10 ${stepped("b", "a")}; and ${OTHER}, as a reported FAULT. ${atMost("5 s")}`,
    ],
    counts: { stepped_down: 1 },
  },
  {
    name: "of groups that move at once, the first cause of the table is that of the failover",
    polls: `a MASTER/200+MASTER 0, b BACKUP+BACKUP 0, a MASTER+MASTER 3, b BACKUP+BACKUP 3, b MASTER+MASTER 5, a BACKUP+FAULT 6, a BACKUP+BACKUP 7`,
    incidents: [
      `5-7 failover: b took over ${OTHER} from a, which reported FAULT; and ${VIP}, as a stepped down. ${atMost("2 s")}`,
      `6-7 odd_state: a reported FAULT on carp1, ${OTHER}`,
      `6-7 redundancy_lost: No appliance was BACKUP beside b of ${OTHER}`,
    ],
    counts: { fault: 1 },
  },
  {
    name: "groups with one clause are named together, and more than two of them are counted",
    polls: `a MASTER+MASTER+MASTER+MASTER 0, b BACKUP+BACKUP+BACKUP+BACKUP 0, b MASTER+MASTER+MASTER+MASTER 5, a BACKUP+FAULT+BACKUP+BACKUP 6, a BACKUP+BACKUP+BACKUP+BACKUP 7`,
    incidents: [
      `5-7 failover: b took over ${OTHER} from a, which reported FAULT; and ${VIP} and 2 more VIPs, as a stepped down. ${atMost("5 s")}`,
      `6-7 odd_state: a reported FAULT on carp1, ${OTHER}`,
      `6-7 redundancy_lost: No appliance was BACKUP beside b of ${OTHER}`,
    ],
    counts: { fault: 1 },
  },
  {
    name: "a cause that is not known is searched beside one that is, for 15 s",
    polls: `${TWO}, a MASTER/60+MASTER 3, b BACKUP+BACKUP 3, a refuses 4, b MASTER+MASTER 5, a BACKUP/60+BACKUP 19.999`,
    incidents: [
      `5-19.999 failover: b took over ${VIP} from a, as the priority of a changed from 100 to 60; and ${OTHER}, as a reported BACKUP when it could be polled again. ${atMost("2 s")}`,
      `4-19.999 ${REFUSED}`,
    ],
    counts: { priority: 1 },
  },
  {
    name: "it stays unknown then",
    polls: `${TWO}, a MASTER/60+MASTER 3, b BACKUP+BACKUP 3, a refuses 4, b MASTER+MASTER 5, b MASTER/90+MASTER 20, a BACKUP/60+BACKUP 21`,
    incidents: [
      `5-21 failover: b took over ${VIP} from a, as the priority of a changed from 100 to 60; and ${OTHER}; why is not known, as a cannot be polled (auth). ${atMost("2 s")}`,
      `4-21 ${REFUSED}`,
    ],
    counts: { priority: 1 },
  },
  {
    name: "a known cause of a group that joins is that of a failover whose cause was not known",
    polls: `${TWO}, a refuses 3, b MASTER+BACKUP 5, a refuses 7, b MASTER+MASTER 10, a silent 9 13`,
    incidents: [
      `13- appliance_down: a went down: ${DOWN}`,
      `5- failover: b took over ${OTHER} from a, ${SILENT}; and ${VIP}; why is not known, as a cannot be polled (auth). ${atMost("10 s")}`,
      `3-13 ${REFUSED}`,
    ],
    counts: { silent: 1 },
  },
  {
    name: "those that follow later are another one",
    polls: `${TWO}, b MASTER+BACKUP 5, a BACKUP+MASTER 6, b MASTER+MASTER 15, a BACKUP+BACKUP 16`,
    incidents: [
      `15-16 ${stepped("b", "a", OTHER)}. ${atMost("9 s")}`,
      `5-6 ${stepped("b", "a")}. ${atMost("5 s")}`,
    ],
    counts: { stepped_down: 2 },
  },
  {
    name: "groups that two members take over are two failovers",
    polls: `a MASTER+MASTER 0, b BACKUP+BACKUP 0, c BACKUP+BACKUP 0, a silent 3, b MASTER+BACKUP 5, c BACKUP+MASTER 5`,
    incidents: [
      `5-5 failover: c took over ${OTHER} from a, ${SILENT}. ${atMost("5 s")}`,
      `5-5 failover: b took over ${VIP} from a, ${SILENT}. ${atMost("5 s")}`,
      `3- appliance_down: a went down: ${DOWN}`,
    ],
    counts: { silent: 2 },
  },
  {
    name: "a split brain that ends is no failover",
    polls: `${PAIR}, b MASTER 5, b MASTER 6, a MASTER 6, a BACKUP 7`,
    incidents: [`6-7 split_brain: Split brain: a and b were MASTER at once of ${VIP}`],
  },
  {
    name: "a failover is over when its group has a backup again",
    polls: `${PAIR}, a silent 3, b MASTER 5, a BACKUP 20`,
    incidents: [
      `5-20 failover: b took over ${VIP} from a, ${SILENT}. ${atMost("5 s")}`,
      `3-20 appliance_down: a went down: ${DOWN}`,
    ],
    counts: { silent: 1 },
  },
  {
    name: "a successor may fail over too",
    polls: `${PAIR}, c BACKUP 0, a silent 3, b MASTER 5, c BACKUP 5, b silent 8, c MASTER 10`,
    incidents: [
      `10- failover: c took over ${VIP} from b, ${SILENT}. ${atMost("5 s")}`,
      `5-5 failover: b took over ${VIP} from a, ${SILENT}. ${atMost("5 s")}`,
      `3- appliance_down: a and b went down: they do not answer in time (timeout)`,
    ],
    counts: { silent: 2 },
  },
  {
    name: "a failover there and one back are two",
    polls: `${PAIR}, ${away(10)}, ${back(20)}`,
    incidents: [
      `20-20 ${returned("a", "b", "10 s", "22:13:30")}`,
      `10-10 ${stepped("b", "a")}. ${atMost("10 s")}`,
    ],
    counts: { stepped_down: 2 },
  },
  {
    name: "the third within five minutes of the first makes them one",
    polls: `${PAIR}, ${away(10)}, ${back(20)}, ${away(309.999)}`,
    incidents: [
      `10-309.999 failover: b and a took over ${VIP} ${eachOther("3 times, about every 150 s: a lets go most often")}`,
    ],
    counts: { stepped_down: 3 },
  },
  {
    name: "a third that comes later does not",
    polls: `${PAIR}, ${away(10)}, ${back(20)}, ${away(310)}`,
    incidents: [
      `310-310 ${stepped("b", "a")}. ${atMost("5 min")}`,
      `20-20 ${returned("a", "b", "10 s", "22:13:30")}`,
      `10-10 ${stepped("b", "a")}. ${atMost("10 s")}`,
    ],
    counts: { stepped_down: 3 },
  },
  {
    name: "the fourth joins them; where both let go as often, none is named",
    polls: `${PAIR}, ${away(10)}, ${back(20)}, ${away(30)}, ${back(46)}`,
    incidents: [`10-46 failover: a and b took over ${VIP} ${eachOther("4 times, about every 12 s")}`],
    counts: { stepped_down: 4 },
  },
  {
    name: "so do others within five minutes of the latest, whenever the first was",
    polls: `${PAIR}, ${away(10)}, ${back(20)}, ${away(300)}, ${back(599.999)}`,
    incidents: [`10-599.999 failover: a and b took over ${VIP} ${eachOther("4 times, about every 197 s")}`],
    counts: { stepped_down: 4 },
  },
  {
    name: "they are not over while the former master is away",
    polls: `${PAIR}, ${away(10)}, ${back(20)}, a silent 30, b MASTER 30`,
    incidents: [
      `30- appliance_down: a went down: ${DOWN}`,
      `10- failover: b and a took over ${VIP} ${eachOther("3 times, about every 10 s: a lets go most often")}`,
    ],
    counts: { stepped_down: 2, silent: 1 },
  },
  {
    name: "another group that fails over meanwhile is none of them",
    polls: `${TWO}, ${both(10, "BACKUP+MASTER", "MASTER+BACKUP")}, ${both(21, "MASTER+BACKUP", "BACKUP+MASTER")}`,
    incidents: [
      `21-21 ${stepped("b", "a", OTHER)}. ${atMost("11 s")}`,
      `21-21 ${returned("a", "b", "11 s", "22:13:30")}`,
      `10-10 ${stepped("b", "a")}. ${atMost("10 s")}`,
    ],
    counts: { stepped_down: 3 },
  },
  {
    name: "neither are failovers of another group there and back",
    polls: `${TWO}, ${both(10, "BACKUP+MASTER", "MASTER+BACKUP")}, ${both(21, "BACKUP+BACKUP", "MASTER+MASTER")}, ${both(32, "BACKUP+MASTER", "MASTER+BACKUP")}`,
    incidents: [
      `32-32 ${returned("a", "b", "11 s", "22:13:41", OTHER)}`,
      `21-21 ${stepped("b", "a", OTHER)}. ${atMost("11 s")}`,
      `10-10 ${stepped("b", "a")}. ${atMost("10 s")}`,
    ],
    counts: { stepped_down: 3 },
  },
  {
    name: "a failover through a third member is none there and back",
    polls: `b MASTER 0, a BACKUP 0, c BACKUP 0, a MASTER 10, b BACKUP 10, b MASTER 20, a BACKUP 20, c MASTER 30, b BACKUP 30, a MASTER 40, c BACKUP 40, b MASTER 50, a BACKUP 50`,
    incidents: [
      `50-50 ${stepped("b", "a")}. ${atMost("10 s")}`,
      `40-40 ${stepped("a", "c")}. ${atMost("10 s")}`,
      `30-30 ${stepped("c", "b")}. ${atMost("10 s")}`,
      `20-20 ${returned("b", "a", "10 s", "22:13:30")}`,
      `10-10 ${stepped("a", "b")}. ${atMost("10 s")}`,
    ],
    counts: { stepped_down: 5 },
  },
  {
    name: "a cause that is not known is not counted for 15 s",
    polls: `${PAIR}, a refuses 3, b MASTER 5, b MASTER/90 19.999`,
    incidents: [
      `5- failover: b took over ${VIP} from a; why is not known, as it cannot be polled (auth). ${atMost("5 s")}`,
      `3- ${REFUSED}`,
    ],
  },
  {
    name: "it is counted then",
    polls: `${PAIR}, a refuses 3, b MASTER 5, b MASTER/90 20, a BACKUP 21`,
    incidents: [
      `5-21 failover: b took over ${VIP} from a; why is not known, as it cannot be polled (auth). ${atMost("5 s")}`,
      `3-21 ${REFUSED}`,
    ],
    counts: { unknown: 1 },
  },
  {
    name: "evidence until then changes it",
    polls: `${PAIR}, a refuses 3, b MASTER 5, a BACKUP 20, b MASTER 40`,
    incidents: [
      `5-20 failover: b took over ${VIP} from a, which reported BACKUP when it could be polled again. ${atMost("5 s")}`,
      `3-20 ${REFUSED}`,
    ],
    counts: { stepped_down: 1 },
  },
  {
    name: "evidence is of all groups that joined meanwhile",
    polls: `${TWO}, a refuses 3, b MASTER+BACKUP 5, b MASTER+MASTER 8, a BACKUP+BACKUP 12`,
    incidents: [
      `5-12 failover: b took over ${VIP} and 1 more VIP from a, which reported BACKUP when it could be polled again. ${atMost("8 s")}`,
      `3-12 ${REFUSED}`,
    ],
    counts: { stepped_down: 1 },
  },
])("$name", ({ polls, incidents, counts = {} }) => {
  const members = [MEMBER_A, MEMBER_B, ...(polls.includes(", c ") ? [MEMBER_C] : [])];
  const { past, verdict } = replay(pollsOf(polls), { members });
  expect(incidentLines(past)).toEqual(incidents);
  const none = { fault: 0, silent: 0, priority: 0, preempted: 0, stepped_down: 0, unknown: 0 };
  expect(verdict.incidents.failovers).toEqual({ ...none, ...counts });
});

const taken = (to: string, from: string, cause: string, seconds: number) => {
  return {
    from,
    to,
    cause,
    withoutMasterAboutSeconds: seconds / 2,
    withoutMasterAtMostSeconds: seconds,
    addresses: 2,
  };
};
/** Each of the failovers there and back. */
const EACH = [
  {
    at: "2023-11-14T22:13:30.500Z",
    summary: `b took over ${VIP} and 1 more VIP from a, which stepped down. ${atMost("11 s")}`,
    ...taken("b", "a", "stepped_down", 10.5),
    isPartial: true,
  },
  {
    at: "2023-11-14T22:13:40.000Z",
    summary: `a took over ${VIP} and 1 more VIP from b, which stepped down. ${atMost("10 s")}`,
    ...taken("a", "b", "stepped_down", 9.5),
    isPartial: false,
  },
  {
    at: "2023-11-14T22:13:50.000Z",
    summary: `b took over ${OTHER} from a, which reported FAULT; and ${VIP}, as a stepped down. ${atMost("10 s")}`,
    ...taken("b", "a", "fault", 10),
    isPartial: true,
  },
];

test("of members that take over from each other, the JSON has the latest switch, the period and what stays behind", () => {
  const moved = "BACKUP+BACKUP+MASTER 10.5, b MASTER+MASTER+BACKUP 10.5";
  const polls = `${both(0, "MASTER+MASTER+MASTER", "BACKUP+BACKUP+BACKUP")}, a ${moved}`;
  const again = `${both(20, "MASTER+MASTER+MASTER", "BACKUP+BACKUP+BACKUP")}, ${both(30, "BACKUP+FAULT+MASTER", "MASTER+MASTER+BACKUP")}`;
  const [first] = replay(pollsOf(polls)).past.list();
  const { past } = replay(pollsOf(`${polls}, ${again}`));
  const earlier = replay(pollsOf(`${polls}, ${again.split(", a BACKUP")[0]}`)).past.list();
  expect(past.list().find(({ kind }) => kind === "failover")).toEqual({
    id: first?.id,
    kind: "failover",
    severity: "warning",
    cluster: "ams",
    begin: "2023-11-14T22:13:30.500Z",
    summary: `b and a took over ${VIP} and 1 more VIP ${eachOther("3 times, about every 10 s: a lets go most often")}`,
    subjects: [VIP, OTHER],
    keys: ["group 2 192.0.2.100", "group 2 192.0.2.101"],
    failover: {
      from: "a",
      to: "b",
      cause: "fault",
      evidence: ["reported FAULT", "reported BACKUP"].map((said) => {
        return { appliance: "a", said, at: "2023-11-14T22:13:50.000Z" };
      }),
      withoutMasterAboutSeconds: 5,
      withoutMasterAtMostSeconds: 10,
      addresses: 2,
      isPartial: true,
      repeated: {
        count: 3,
        planned: 0,
        periodSeconds: 9.75,
        letsGo: "a",
        includes: earlier[0]?.id,
        each: EACH,
      },
    },
    meanwhile: past
      .list()
      .filter(({ kind }) => kind !== "failover")
      .map(({ id, kind, begin, summary }) => ({ id, kind, begin, summary })),
  });
});

test.each([
  [309.999, 1],
  [310, 0],
])("at second %s, %s failover of second 10 is recent", (second, count) => {
  // The last poll finds nothing new: only time changes what is recent.
  const polls = [PAIR, ...[10, 20, 30].map(away), `b MASTER ${second}`].join(", ");
  const { incidents } = replay(pollsOf(polls)).verdict;
  expect(incidents.recent).toHaveLength(count);
  expect(incidents.all).toHaveLength(count);
  expect(incidents.lastFailoverAt?.monotonicMs).toBe(10_000);
});

test("incidents have the labels of the present configuration, and an appliance that stands alone counts no failovers", () => {
  const labels = { site: "ams" };
  const members = [MEMBER_A, MEMBER_B].map((each) => ({ ...each, labels }));
  const polls = pollsOf(`${PAIR}, a MASTER 1`);
  expect(replay(polls, { reload: { atMs: 1000, members } }).verdict.incidents.labels).toEqual(labels);
  const fleet = fleetOf([{ ...MEMBER_A, enabled: false }]);
  const judging = createJudge();
  const labelsOf = () => clustersOf(fleet).map((facts) => judging.judge(facts, START).now.incidents.labels);
  expect(labelsOf()).toEqual([{}]);
  fleet.configure(configOf({ ...MEMBER_A, enabled: false, labels }), 0);
  expect(labelsOf()).toEqual([labels]);
  const pair = [MEMBER_A, { ...MEMBER_B, enabled: false }];
  const counted = [pair, [MEMBER_A]].map((each) => replay(pollsOf("a MASTER 0"), { members: each }).verdict);
  expect(counted.map(({ incidents }) => incidents.failovers !== undefined)).toEqual([true, false]);
});

test("of the switches of a cluster, evidence of the latest four is waited for", () => {
  const switches = [3, 7, 11].flatMap((at) => [
    `a refuses ${at}, b MASTER ${at + 1}`,
    `b refuses ${at + 2}, a MASTER ${at + 3}`,
  ]);
  const polls = [PAIR, ...switches].join(", ");
  expect(replay(pollsOf(polls)).verdict.incidents).toMatchObject({
    undecided: Array.from({ length: 4 }, () => ({})),
    failovers: { unknown: 2 },
  });
});

test("failovers that are over take the place of no trouble: the oldest of 64 is forgotten", () => {
  const names = ["a", "b", "c"];
  const around = Array.from({ length: 90 }, (_, nth) => {
    return names
      .map((name, place) => `${name} ${place === nth % 3 ? "MASTER" : "BACKUP"} ${nth * 2}`)
      .join(", ");
  });
  const split = [180, 182, 184, 186].map(
    (second) => `a MASTER ${second}, b MASTER ${second}, c BACKUP ${second}`,
  );
  const polls = pollsOf([...around, ...split].join(", "));
  const { past, verdict } = replay(polls, { members: [MEMBER_A, MEMBER_B, MEMBER_C] });
  expect(verdict.incidents.recent).toHaveLength(64);
  expect(verdict.incidents.failovers).toMatchObject({ stepped_down: 89 });
  expect(past.list()[0]).toMatchObject({ kind: "split_brain" });
});

test("members that take over from each other keep all groups that moved", () => {
  const polls = [
    TWO,
    both(20, "BACKUP+BACKUP", "MASTER+MASTER"),
    both(40, "MASTER+MASTER", "BACKUP+BACKUP"),
    both(60, "BACKUP+MASTER", "MASTER+BACKUP"),
  ];
  const [incident] = replay(pollsOf(polls.join(", "))).past.list();
  expect(incident).toMatchObject({ subjects: [VIP, OTHER], failover: { repeated: { count: 3 } } });
});

function listAt(atMs: number, name: string, state: string, aliases: readonly string[]) {
  const each = { state, aliases: ["fe80::1", ...aliases] };
  const list = listOf([
    interfaceOf(each),
    interfaceOf({ ...each, name: "carp1", vhid: 3, vip: "192.0.2.101" }),
  ]);
  return { observation: seen.vrrp(name, list, { expiresAtMs: 1e9 }), atMs };
}

test("the addresses of a failover are those that the new master has, and a link-local one is another one in each group", () => {
  const [here, there] = [["192.0.2.150", "192.0.2.151", "192.0.2.152"], ["192.0.2.150"]];
  const { past } = replay([
    listAt(0, "a", "MASTER", here),
    listAt(0, "b", "BACKUP", there),
    listAt(5000, "a", "BACKUP", here),
    listAt(5000, "b", "MASTER", there),
  ]);
  expect(past.list()).toMatchObject([{ kind: "failover", failover: { addresses: 5 } }]);
});

test.each([
  [
    "a group of which it was MASTER before stays",
    `${TWO}, ${both(10, "BACKUP+MASTER", "MASTER+BACKUP")}`,
    [true],
  ],
  ["no group stays", `${TWO}, ${both(10, "BACKUP+BACKUP", "MASTER+MASTER")}`, [false]],
  [
    "two members take over a group from each other",
    `${both(0, "MASTER+BACKUP", "BACKUP+MASTER")}, ${both(10, "BACKUP+MASTER", "MASTER+BACKUP")}`,
    [false, false],
  ],
  [
    "they do, and the answer of one comes later",
    `${both(0, "MASTER+BACKUP", "BACKUP+MASTER")}, a BACKUP+MASTER 10, b silent 11, b MASTER+BACKUP 12`,
    [false, false],
  ],
  [
    "they do, and a third group stays with the one",
    `${both(0, "MASTER+BACKUP+MASTER", "BACKUP+MASTER+BACKUP")}, ${both(10, "BACKUP+MASTER+MASTER", "MASTER+BACKUP+BACKUP")}`,
    [false, true],
  ],
  [
    "the group that stayed joins within ten seconds",
    `${TWO}, ${both(10, "BACKUP+MASTER", "MASTER+BACKUP")}, ${both(15, "BACKUP+BACKUP", "MASTER+MASTER")}`,
    [false],
  ],
  [
    "it became MASTER of another group some time before",
    `${both(0, "MASTER+BACKUP", "BACKUP+MASTER")}, ${both(5, "MASTER+MASTER", "BACKUP+BACKUP")}, ${both(20, "BACKUP+MASTER", "MASTER+BACKUP")}`,
    [true, false],
  ],
])("a failover is partial if the former master stays MASTER elsewhere: %s", (_, polls, partial) => {
  const incidents = replay(pollsOf(polls)).past.list();
  expect(incidents.flatMap(({ failover }) => failover?.isPartial ?? [])).toEqual(partial);
});

test("of several causes, the JSON has the first one and the evidence of all, the oldest first", () => {
  const polls =
    "a MASTER/200+MASTER@3/200 0, b BACKUP/150+BACKUP@3/150 0, a MASTER/200+MASTER@3/100 3, b BACKUP/150+BACKUP@3/150 3, " +
    "b MASTER/150+MASTER@3/150 5, a FAULT/200+BACKUP@3/100 6";
  const { past } = replay(pollsOf(polls));
  expect(past.list().find(({ kind }) => kind === "failover")).toMatchObject({
    summary:
      `b took over ${VIP} from a, which reported FAULT; and 192.0.2.101 (vhid 3), as the priority of a changed from 200 to 100. ` +
      atMost("2 s"),
    failover: {
      cause: "fault",
      evidence: [
        {
          appliance: "a",
          said: "changed its priority from 200 to 100",
          at: "2023-11-14T22:13:23.000Z",
        },
        { appliance: "a", said: "reported FAULT", at: "2023-11-14T22:13:26.000Z" },
      ],
      addresses: 2,
    },
  });
});

test("the sentence has six causes, and counts the addresses of the others", () => {
  const groups = [1, 2, 3, 4, 5, 6, 7, 8];
  const saying = (state: string, priority: (nth: number) => number): string =>
    groups.map((nth) => `${state}/${priority(nth)}`).join("+");
  const well = both(
    0,
    saying("MASTER", () => 200),
    saying("BACKUP", () => 100),
  );
  const lowered = both(
    3,
    saying("MASTER", (nth) => nth),
    saying("BACKUP", () => 100),
  );
  const moved = both(
    5,
    saying("BACKUP", (nth) => nth),
    saying("MASTER", () => 100),
  );
  const [incident] = replay(pollsOf([well, lowered, moved].join(", "))).past.list();
  expect(incident?.summary).toContain("changed from 200 to 6; and 2 addresses for other reasons. ");
  expect(incident?.failover?.evidence).toHaveLength(8);
});
