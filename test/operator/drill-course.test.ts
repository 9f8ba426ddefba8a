import { expect, test } from "vitest";
import type { WebsiteConfig } from "../../src/exporter/config/config.ts";
import {
  courseAfter,
  incidentsIn,
  nextStage,
  outagesIn,
  planDrill,
  verdictOn,
  type Course,
  type Ending,
} from "../../src/operator/drill-course.ts";
import type { IncidentDocument } from "../../src/exporter/document/schema.ts";
import type { MaintenanceWindow } from "../../src/exporter/maintenance/window.ts";
import { WALL_MS, websiteOf } from "../support/observations.ts";
import { windowOf } from "../exporter/maintenance/support.ts";
import { documentsOf } from "./drill-support.ts";

const both = (second: number, a: string, b: string): string => `a ${a} ${second}, b ${b} ${second}`;
/** Both members serve the website `shop` before the drill, which begins at second 0. */
const READY = `${both(0, "MASTER", "BACKUP")}, a 200 0, b 200 0`;

const SHOPS = [2, 3].map((id) => websiteOf({ id, name: "shop", protocols: ["https"] }));

interface Case {
  readonly name: string;
  /** Polls from second 1 on. */
  readonly polls: string;
  readonly isBothWays?: boolean;
  readonly before?: string;
  readonly websites?: readonly WebsiteConfig[];
  readonly windows?: readonly MaintenanceWindow[];
  /** Default: done. */
  readonly ending?: Ending;
  /** The stages with their seconds, and the verdict with its reasons. */
  readonly expected: readonly string[];
}

/** The course of a drill of `a` through these polls. */
function courseOf({
  polls,
  isBothWays = false,
  before = READY,
  websites,
  windows,
}: Omit<Case, "name" | "expected">): Course {
  const documents = documentsOf(`${before}, ${polls}`, websites, windows);
  const first = documents.findLast(({ atMs }) => atMs <= 0);
  const later = documents.filter(({ atMs }) => atMs > 0);
  const planned = first && planDrill(first.fleet, "a", { isBothWays, acceptsLosses: true });
  if (planned?.ok !== true) throw new Error(planned?.message);
  return later.reduce(
    (course, { fleet, atMs }) => courseAfter(course, fleet, WALL_MS + atMs),
    planned.course,
  );
}

const AWAY = (second: number): string => both(second, "BACKUP", "MASTER");
const BACK = (second: number): string => both(second, "MASTER", "BACKUP");
const VIP = "192.0.2.100 (vhid 2)";

test.each<Case>([
  {
    name: "a member hands over, and is a BACKUP at once",
    polls: `${AWAY(2)}, ${AWAY(6)}, ${AWAY(7)}`,
    expected: ["taken_over 2", "complete 2", "pass"],
  },
  {
    name: "a member dies, and comes back as a BACKUP",
    polls: `a silent 2, b BACKUP 2, a silent 6, b MASTER 6, ${AWAY(90)}, ${AWAY(95)}`,
    expected: ["taken_over 6", "complete 90", "pass"],
  },
  {
    name: "a member that is away for a moment again is not settled",
    polls: `${AWAY(2)}, a silent 4, b MASTER 4, ${AWAY(6)}, ${AWAY(11)}`,
    expected: ["taken_over 2", "complete 6", "pass"],
  },
  {
    name: "both ways, by a member that preempts",
    isBothWays: true,
    polls: `a silent 2, b BACKUP 2, a silent 6, b MASTER 6, ${BACK(90)}, ${BACK(95)}, ${BACK(100)}`,
    expected: ["taken_over 6", "complete 90", "back 95", "pass"],
  },
  {
    name: "both ways, and nobody makes it MASTER again",
    isBothWays: true,
    polls: `${AWAY(2)}, ${AWAY(7)}, ${AWAY(1800)}`,
    ending: "window_over",
    expected: [
      "taken_over 2",
      "complete 2",
      "fail",
      `the window was over first: a is not MASTER again of ${VIP}`,
    ],
  },
  {
    name: "nobody takes over",
    polls: "a silent 6, b BACKUP 6, a silent 1800, b BACKUP 1800",
    ending: "window_over",
    expected: ["fail", `the window was over first: no other appliance is the known MASTER of ${VIP}`],
  },
  {
    name: "the member does not come back",
    polls: "a silent 6, b MASTER 6, a silent 1800, b MASTER 1800",
    ending: "window_over",
    expected: [
      "taken_over 6",
      "fail",
      `the window was over first: not one MASTER and a known BACKUP: ${VIP}`,
    ],
  },
  {
    name: "both are MASTER for a while",
    polls: `b MASTER 2, b MASTER 3, a MASTER 3, ${AWAY(4)}, ${AWAY(9)}`,
    expected: ["taken_over 4", "complete 4", "fail", `Split brain: a and b were MASTER at once of ${VIP}`],
  },
  {
    name: "no member answers for half a second",
    polls: `a silent 2, b silent 2.5, b MASTER 3, ${AWAY(90)}, ${AWAY(95)}`,
    expected: [
      "taken_over 3",
      "complete 90",
      "fail",
      "No appliance of ams could be reached: neither a nor b",
    ],
  },
  {
    name: "nobody is MASTER until a member takes over",
    polls: `a BACKUP 2, b BACKUP 3, a BACKUP 4, b MASTER 5, ${AWAY(6)}, ${AWAY(11)}`,
    expected: ["taken_over 5", "complete 5", "pass"],
  },
  {
    name: "nobody is MASTER for a while after a member has taken over",
    polls: `${AWAY(2)}, b BACKUP 3, a BACKUP 4, b BACKUP 4, a BACKUP 5, b MASTER 6, ${AWAY(7)}, ${AWAY(12)}`,
    expected: ["taken_over 2", "complete 6", "fail", `No appliance was MASTER of ${VIP}`],
  },
  {
    name: "a member comes back without its links, in the window of the drill",
    polls: `a silent 2, b MASTER 6, a INIT 30, b MASTER 30, ${AWAY(90)}, ${AWAY(95)}`,
    windows: [windowOf({ appliances: ["a"] }, { origin: "drill", beginMs: WALL_MS + 1000 })],
    expected: ["taken_over 6", "complete 90", "pass"],
  },
  {
    name: "another one takes over, and a third one fails meanwhile",
    before: `${both(0, "MASTER", "BACKUP")}, c BACKUP/50 0, a 200 0, b 200 0, c 200 0`,
    polls: `a silent 2, b MASTER 6, c BACKUP/50 6, c INIT 10, a INIT 30, ${AWAY(90)}, c BACKUP/50 90, ${AWAY(95)}`,
    windows: [windowOf({ appliances: ["a"] }, { origin: "drill", beginMs: WALL_MS + 1000 })],
    expected: ["taken_over 6", "complete 90", "fail", `No appliance was BACKUP beside b of ${VIP}`],
  },
  {
    name: "both stay MASTER",
    polls: "b MASTER 2, b MASTER 3, a MASTER 3, b MASTER 4, a MASTER 4",
    ending: "window_over",
    expected: [
      "fail",
      `the window was over first: no other appliance is the known MASTER of ${VIP} (2 masters: a, b)`,
      `Split brain: a and b were MASTER at once of ${VIP}`,
    ],
  },
  {
    name: "a website is down at the new MASTER for a while",
    polls: `${AWAY(2)}, b 503 3, b 503 4, b 200 6, ${AWAY(9)}`,
    expected: [
      "taken_over 2",
      "complete 2",
      "fail",
      "shop (https) was down for about 4.0 s, at most 6 s, which was not predicted",
    ],
  },
  {
    name: "of two websites that go down together, each has its own time",
    websites: [...SHOPS.slice(0, 1), websiteOf({ id: 3, name: "blog", protocols: ["https"] })],
    before: `${READY}, a 200#3 0, b 200#3 0`,
    polls: `${AWAY(2)}, b 503 3, b 503 4, b 200#3 5, b 503#3 6, b 503#3 7, b 200 8, ${AWAY(9)}`,
    expected: [
      "taken_over 2",
      "complete 2",
      "fail",
      "shop (https) was down for about 6.5 s, at most 8 s, which was not predicted",
      "blog (https) is down, which was not predicted",
    ],
  },
  {
    name: "a website stays down",
    polls: `${AWAY(2)}, b 503 3, b 503 4, ${AWAY(9)}`,
    expected: ["taken_over 2", "complete 2", "fail", "shop (https) is down, which was not predicted"],
  },
  {
    name: "the outage of a website was predicted",
    before: `${both(0, "MASTER", "BACKUP")}, a 200 0, b 503 0, b 503 0`,
    polls: `${AWAY(2)}, b 503 3, ${AWAY(9)}`,
    expected: ["taken_over 2", "complete 2", "pass"],
  },
  {
    name: "of two websites of one name, the outage of one was predicted",
    websites: SHOPS,
    before: `${both(0, "MASTER", "BACKUP")}, a 200 0, b 503 0, b 503 0, a 200#3 0, b 200#3 0`,
    polls: `${AWAY(2)}, b 503 3, b 503#3 3, b 503#3 4, ${AWAY(9)}`,
    expected: ["taken_over 2", "complete 2", "fail", "shop (https) is down, which was not predicted"],
  },
  {
    name: "of two websites of one name, the outages of both were predicted",
    websites: SHOPS,
    before: `${both(0, "MASTER", "BACKUP")}, a 200 0, b 503 0, b 503 0, a 200#3 0, b 503#3 0, b 503#3 0`,
    polls: `${AWAY(2)}, b 503 3, b 503#3 3, ${AWAY(9)}`,
    expected: ["taken_over 2", "complete 2", "pass"],
  },
  {
    name: "a signal ends it",
    polls: "a silent 6, b BACKUP 6",
    ending: "interrupted",
    expected: ["incomplete", `the drill was interrupted: no other appliance is the known MASTER of ${VIP}`],
  },
  {
    name: "the exporter is lost",
    polls: "a silent 6, b MASTER 6",
    ending: "exporter_lost",
    expected: [
      "taken_over 6",
      "incomplete",
      `the exporter stopped answering: not one MASTER and a known BACKUP: ${VIP}`,
    ],
  },
])("$name", (given) => {
  const course = courseOf(given);
  const stages = course.reached.map(({ stage, atMs }) => `${stage} ${(atMs - WALL_MS) / 1000}`);
  const { verdict, reasons } = verdictOn(course, given.ending ?? "done");
  expect(nextStage(course) === undefined).toBe((given.ending ?? "done") === "done");
  expect([...stages, verdict, ...reasons]).toEqual(given.expected);
});

test("failovers of before the drill are not its own, and one more of members that flap is", () => {
  const course = courseOf({
    before: `${both(-60, "MASTER", "BACKUP")}, ${AWAY(-50)}, ${BACK(-40)}, a 200 0, b 200 0`,
    polls: `${AWAY(2)}, ${AWAY(7)}`,
  });
  const failovers = Array.from(course.failovers.values(), ({ at, from, to, nth, summary }) => {
    return [(Date.parse(at) - WALL_MS) / 1000, from, to, nth, summary];
  });
  const words = `b took over ${VIP} from a, which stepped down. No known master for at most 42 s`;
  expect(failovers).toEqual([[2, "a", "b", 3, words]]);
  expect([...course.incidents.values()]).toEqual([]);
});

test("each failover of a drill there and back has its own instant, cause and words, however often", () => {
  const swings = Array.from({ length: 14 }, (_, nth) => (nth % 2 === 0 ? AWAY : BACK)(2 + nth * 3));
  const { failovers } = courseOf({ polls: swings.join(", ") });
  expect(Array.from(failovers.values(), ({ at }) => (Date.parse(at) - WALL_MS) / 1000)).toEqual(
    swings.map((_, nth) => 2 + nth * 3),
  );
  expect(
    Array.from(failovers.values(), ({ from, to, nth }) => `${from}${to}${nth ?? ""}`).slice(0, 4),
  ).toEqual(["ab", "ba2", "ab3", "ba4"]);
});

test("a no master that ends with a failover of the drill is expected, also soon after earlier failovers", () => {
  const course = courseOf({
    before: `${both(-60, "MASTER", "BACKUP")}, ${AWAY(-50)}, ${BACK(-40)}, a 200 0, b 200 0`,
    polls: `a BACKUP 2, b BACKUP 3, a BACKUP 4, b MASTER 5, ${AWAY(6)}, ${AWAY(11)}`,
  });
  expect(verdictOn(course, "done").verdict).toBe("pass");
});

test("the time without a backup is from the latest look with one to the next", () => {
  const { bare } = courseOf({ polls: `a silent 2, b MASTER 6, ${AWAY(90)}, ${AWAY(95)}` });
  expect(bare).toEqual([{ fromMs: WALL_MS + 2000, toMs: WALL_MS + 90_000 }]);
});

test.each([
  [
    "a website is down at the successor",
    "a MASTER 0, b BACKUP 0, a 200 0, b 503 0, b 503 0",
    "losses",
    "If a fails, shop https is lost: 503 at b; --accept-losses rehearses it nevertheless",
  ],
  [
    "there is no BACKUP",
    "a MASTER 0, b FAULT 0, a 200 0, b 200 0",
    "losses",
    "If a fails, no appliance takes over 192.0.2.100 (vhid 2): b reports FAULT; --accept-losses rehearses it nevertheless",
  ],
  [
    "it is MASTER of nothing",
    "a BACKUP 0, b MASTER 0, a 200 0, b 200 0",
    "unknown",
    "a is MASTER of nothing: there is no failover to rehearse",
  ],
  [
    "it is silent",
    "a silent 0, b MASTER 0, a 200 0, b 200 0",
    "unknown",
    "If a fails, it is not known what is lost: it does not answer in time (timeout)",
  ],
  [
    "a website of the successor was not tested",
    "a MASTER 0, b BACKUP 0, a 200 0",
    "unknown",
    "If a fails, it is not known whether b would serve shop like a",
  ],
])("a drill does not begin: %s", (_, polls, reason, message) => {
  const [document] = documentsOf(polls);
  const options = { isBothWays: false, acceptsLosses: false };
  expect(document && planDrill(document.fleet, "a", options)).toEqual({ ok: false, reason, message });
  expect(document && planDrill(document.fleet, "c", options)).toMatchObject({
    ok: false,
    reason: "unknown",
    message: "the exporter has no appliance c",
  });
});

test("while another member is worked on, a drill begins only despite that window, whatever losses are accepted", () => {
  const [document] = documentsOf(READY, undefined, [windowOf({ appliances: ["b"] })]);
  const plan = (despite: readonly string[]) =>
    document && planDrill(document.fleet, "a", { isBothWays: false, acceptsLosses: true, despite });
  expect(plan([])).toEqual({
    ok: false,
    reason: "losses",
    message:
      "If a fails, nobody may be left: b is worked on by alice until 2023-11-14 23:13 UTC (firmware 4.6): window patchnight; " +
      "wait for its end, or begin with --despite=patchnight",
  });
  expect(plan(["patchnight"])).toMatchObject({ ok: true });
});

test("an exporter that is older than this command does not say what would be lost", () => {
  const [document] = documentsOf(READY);
  if (document === undefined) throw new Error("there are polls");
  const clusters = document.fleet.clusters.map((cluster) => ({
    ...cluster,
    appliances: cluster.appliances.map((each) => ({ ...each, ready: undefined })),
  }));
  const planned = planDrill({ ...document.fleet, clusters }, "a", { isBothWays: false, acceptsLosses: true });
  expect(planned).toEqual({
    ok: false,
    reason: "unknown",
    message: "a: the exporter is older than this command, and does not say what would be lost: upgrade it",
  });
});

test("an incident that an exporter knew before it was started again keeps its keys", () => {
  const documents = documentsOf(
    `${both(0, "MASTER", "BACKUP")}, a 200 0, b 503 0, b 503 0, ${AWAY(2)}, b 503 3`,
  );
  const [first, last] = [documents[0], documents.at(-1)];
  const planned = first && planDrill(first.fleet, "a", { isBothWays: false, acceptsLosses: true });
  if (planned?.ok !== true || last === undefined) throw new Error("there are polls");
  const before = courseAfter(planned.course, last.fleet, WALL_MS + last.atMs);
  const restored = last.fleet.incidents.map((each) => ({ ...each, keys: undefined }));
  const after = courseAfter(before, { ...last.fleet, incidents: restored }, WALL_MS + last.atMs + 6000);
  expect(verdictOn(after, "done").reasons).toEqual([]);
});

test("every key in a document is that of a subject in it", () => {
  const documents = documentsOf(
    `${both(0, "MASTER", "BACKUP")}, a untested 0, b untested 0, a 200 1, b 200 1, b 503 1, b 503 2, b FAULT 3, b FAULT 4, ${AWAY(6)}, b 503 7, b 503 8, a silent 9, a silent 20, b FAULT 21`,
  );
  const known = documents.flatMap(({ fleet: { clusters, problems, incidents } }) => {
    const [cluster] = clusters;
    const { appliances = [], groups = [], websites = [] } = cluster ?? {};
    const parts = appliances.flatMap(({ interfaces = [], failover }) =>
      [...interfaces, failover ?? []].flat(),
    );
    const all = [...appliances, ...parts, ...groups, ...websites.flatMap(({ states }) => states)];
    const subjects = new Set(["cluster", ...all.map(({ key }) => key)]);
    const risks = appliances.flatMap(({ failover }) => failover?.risks ?? []);
    return [...risks, ...problems, ...incidents].map(({ keys }) => ({
      isNamed: keys !== undefined && keys.length > 0,
      // The list of an interface that an incident is about may not be known any more.
      others: keys?.filter((key) => !subjects.has(key) && !/^interface "[ab]" carp0, /.test(key)),
    }));
  });
  expect(known.length).toBeGreaterThan(20);
  expect(known.filter(({ isNamed, others = [] }) => !isNamed || others.length > 0)).toEqual([]);
});

const incidentOf = (more: Partial<IncidentDocument>): IncidentDocument => ({
  id: "w1",
  kind: "website_down",
  severity: "critical",
  cluster: "ams",
  begin: new Date(WALL_MS - 20_000).toISOString(),
  summary: "Down: websites",
  subjects: [],
  meanwhile: [],
  ...more,
});

/** A drill of `a`, and the incidents of its cluster before it and after the failover. */
function courseWith(
  before: readonly Partial<IncidentDocument>[],
  after: readonly Partial<IncidentDocument>[],
  polls = READY,
): Course {
  const first = documentsOf(polls).findLast(({ atMs }) => atMs <= 0)?.fleet;
  const planned =
    first &&
    planDrill({ ...first, incidents: before.map(incidentOf) }, "a", {
      isBothWays: false,
      acceptsLosses: true,
    });
  if (first === undefined || planned?.ok !== true) throw new Error("no drill");
  return courseAfter(planned.course, { ...first, incidents: after.map(incidentOf) }, WALL_MS + 6000);
}

test("a website that joins an incident from before the drill is an outage of the drill, and the others are none", () => {
  const shop = { subjects: ["shop (https)"], keys: ["website https #2"] };
  const pair = { subjects: ["shop (https)", "blog (https)"], keys: ["website https #2", "website https #3"] };
  expect(outagesIn(courseWith([shop], [pair])).map(({ website }) => website)).toEqual(["blog (https)"]);
  expect(outagesIn(courseWith([pair], [pair]))).toEqual([]);
});

test("an accepted outage of one group explains down websites, and neither a dark cluster nor another group", () => {
  const group = `group 2 192.0.2.100`;
  const kinds = [
    { id: "1", kind: "website_down", keys: ["website https #2"] },
    { id: "2", kind: "redundancy_lost", keys: [group] },
    { id: "3", kind: "redundancy_lost", keys: ["group 3 192.0.2.101"] },
    { id: "4", kind: "cluster_dark", keys: ["cluster"] },
  ] as const;
  const incidents = kinds.map((each) => ({ ...each, keys: [...each.keys], subjects: ["x"] }));
  const course = courseWith([], incidents, `${both(0, "MASTER", "FAULT")}, a 200 0, b 200 0`);
  expect(incidentsIn(course).map(({ isExpected }) => isExpected)).toEqual([true, true, false, false]);
});
