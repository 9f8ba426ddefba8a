import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MEMBER_A, MEMBER_B, MEMBER_C } from "../../exporter/fleet/support.ts";
import { restore } from "../../../src/history/journal/restore.ts";
import { parseRecord, type JournalRecord } from "../../../src/history/journal/record.ts";
import type { Remembered } from "../../../src/exporter/judge/memory.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { gathered } from "../../../src/exporter/api/website-details.ts";
import { applianceOf, seen, websiteOf } from "../../support/observations.ts";
import { folderPath, linesIn, linesOf, NO_EVENTS, NOON_MS, startRun, storageAt } from "./support.ts";

const SHOP = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
const PAIR = [MEMBER_A, MEMBER_B];
const WITH_SHOP = PAIR.map((member) => ({ ...member, websites: [SHOP] }));

type Run = Awaited<ReturnType<typeof startRun>>;

function secondOf(at: string | undefined): number | "" {
  return at === undefined ? "" : (Date.parse(at) - NOON_MS) / 1000;
}

/** What happened, without ids, in seconds of noon; the latest first. */
async function told({ document }: Run): Promise<readonly string[]> {
  return (await document()).incidents.map(
    ({ begin, end, summary }) => `${secondOf(begin)}-${secondOf(end)}: ${summary}`,
  );
}

/** The state of the first group and when it began, in seconds of noon. */
async function groupIn({ document }: Run): Promise<string> {
  const [group] = (await document()).clusters[0]?.groups ?? [];
  const { state, master, since, isPreferredMaster } = group ?? {};
  return `${state} ${master} since ${secondOf(since)}, preferred ${isPreferredMaster}`;
}

/** The readiness of each MASTER, and when it began, in seconds of noon. */
async function readinessIn({ document }: Run): Promise<readonly string[]> {
  const { appliances = [] } = (await document()).clusters[0] ?? {};
  return appliances.flatMap(({ name, failover }) =>
    failover === undefined ? [] : `${name} ${failover.state} since ${secondOf(failover.since)}`,
  );
}

interface Case {
  readonly name: string;
  readonly members?: typeof PAIR;
  /** The members after the start; default: the same ones. */
  readonly later?: typeof PAIR;
  /** The polls before the kill, which is at second 20, and after the start at second 30. */
  readonly before: string;
  readonly after: string;
  /** Seconds from the kill to the start; default: 10. */
  readonly away?: number;
  readonly group: string;
  readonly incidents: readonly string[];
}

const MOVED = "b took over 192.0.2.100 (vhid 2) from a";

test.each<Case>([
  {
    name: "a state that is the same has lasted since it began",
    before: "a MASTER 1, b BACKUP 1, b nothing 5, b BACKUP 9",
    after: "a MASTER 1, b BACKUP 1",
    group: "one_master a since 9, preferred true",
    incidents: ["5-9: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "after more than an hour nobody knows since when a state lasts",
    before: "a MASTER 1, b BACKUP 1, b nothing 5, b BACKUP 9",
    after: "a MASTER 1, b BACKUP 1",
    away: 3605,
    group: "one_master a since , preferred true",
    incidents: ["5-9: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "a failover while the exporter was away is told once, when all members were polled",
    before: "a MASTER 1, b BACKUP 1",
    after: "b MASTER 1, a BACKUP 2, b MASTER 6, a BACKUP 7",
    group: "one_master b since , preferred true",
    incidents: [`31-32: ${MOVED} while the exporter was away`],
  },
  {
    name: "a split brain is no failover while the former master was not polled",
    before: "a MASTER 1, b BACKUP 1",
    after: "b MASTER 1, a MASTER 2, b MASTER 6, a MASTER 7",
    group: "split_brain undefined since , preferred undefined",
    incidents: ["37-: Split brain: a and b were MASTER at once of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "a split brain that lasts is one, since it began",
    before: "a MASTER 1, b BACKUP 1, b MASTER 5, a MASTER 6, b MASTER 7",
    after: "a MASTER 1, b MASTER 2, a MASTER 3, b MASTER 4",
    group: "split_brain undefined since 7, preferred undefined",
    incidents: ["7-: Split brain: a and b were MASTER at once of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "a group without a master that stays so is so since it began",
    before: "a MASTER 1, b BACKUP 1, a BACKUP 5, b BACKUP 6, a BACKUP 7",
    after: "a BACKUP 1, b BACKUP 2, a BACKUP 3, b BACKUP 4",
    group: "no_master undefined since 7, preferred undefined",
    incidents: ["7-: No appliance was MASTER of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "a change that was in progress at the start may have begun before",
    before: "a MASTER 1, b BACKUP 1",
    after: "a MASTER 1, b MASTER 2, b BACKUP 3",
    group: "one_master a since , preferred true",
    incidents: [],
  },
  {
    name: "a failover that polls have seen since the start has its cause",
    before: "a MASTER 1, b BACKUP 1",
    after: "a MASTER 1, b BACKUP 1, a BACKUP 6, b MASTER 6",
    group: "one_master b since 36, preferred true",
    incidents: [`36-36: ${MOVED}, which stepped down. No known master for at most 5 s`],
  },
  {
    name: "trouble that lasts is one incident, with its beginning",
    before: "a MASTER 1, b BACKUP 1, b nothing 5",
    after: "a MASTER 1, b nothing 1, b BACKUP 9",
    group: "one_master a since 39, preferred true",
    incidents: ["5-39: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "trouble that ended meanwhile is over when that is known",
    before: "a MASTER 1, b BACKUP 1, b nothing 5",
    after: "a MASTER 1, b BACKUP 2",
    group: "one_master a since , preferred true",
    incidents: ["5-32: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "an outage that waited for a test of the master is over since the website was up again",
    members: WITH_SHOP,
    before: "a MASTER 1, b BACKUP 1, a 200 2, a 503 3, a 503 4, a 200 8",
    after: "a MASTER 1, b BACKUP 2, a 200 3",
    group: "one_master a since , preferred true",
    incidents: ["4-8: Down: website shop (https)"],
  },
  {
    name: "trouble that began meanwhile is told",
    before: "a MASTER 1, b BACKUP 1",
    after: "a MASTER 1, b silent 2",
    group: "backup_lost a since , preferred true",
    incidents: ["32-: b went down: it does not answer in time (timeout)"],
  },
  {
    name: "a website that is down all the time is one incident",
    members: WITH_SHOP,
    before: "a MASTER 1, b BACKUP 1, a 200 2, b 200 2, a 503 5, b 503 5, a 503 6, b 503 6",
    after: "a MASTER 1, b BACKUP 1, a 503 2, b 503 3, a 503 4, a 200 9, b 200 9",
    group: "one_master a since , preferred true",
    incidents: ["6-39: Down: website shop (https)"],
  },
  {
    name: "a website that a configuration lacks now is not down any more",
    members: WITH_SHOP,
    later: PAIR,
    before: "a MASTER 1, b BACKUP 1, a 200 2, b 200 2, a 503 5, b 503 5, a 503 6, b 503 6",
    after: "a MASTER 1, b BACKUP 2",
    group: "one_master a since , preferred true",
    incidents: ["6-32: Down: website shop (https)"],
  },
  {
    name: "a failover that has no backup yet is over when it has one",
    before: "a MASTER 1, b BACKUP 1, a nothing 5, b MASTER 5",
    after: "b MASTER 1, a nothing 2, a BACKUP 8",
    group: "one_master b since 38, preferred true",
    incidents: [
      "5-38: No appliance was BACKUP beside b of 192.0.2.100 (vhid 2)",
      `5-38: ${MOVED}, which no longer listed the address. No known master for at most 4 s`,
    ],
  },
  {
    name: "an appliance that was preferred and was not seen since is preferred still",
    members: [MEMBER_A, MEMBER_B, MEMBER_C],
    before: "a MASTER/200 1, b BACKUP/100 1, c BACKUP/50 1, a silent 5, b MASTER/100 6",
    after: "a silent 1, b MASTER/100 1, c BACKUP/50 1",
    group: "one_master b since 6, preferred false",
    incidents: [
      `6-6: ${MOVED}, which stopped answering (timeout). No known master for at most 5 s`,
      "5-: a went down: it does not answer in time (timeout)",
    ],
  },
  {
    name: "a group is as it is now while another member was not polled",
    later: [MEMBER_A, MEMBER_B, MEMBER_C],
    before: "a MASTER 1, b BACKUP 1, a refuses 5",
    after: "a MASTER 1, b BACKUP 1",
    group: "one_master a since , preferred true",
    incidents: ["5-31: a could not be polled: it refuses the credentials (auth)"],
  },
  {
    name: "trouble that begins and ends while a member was not polled is over",
    members: [MEMBER_A, MEMBER_B, MEMBER_C],
    before: "a MASTER 1, b BACKUP 1, c BACKUP 1",
    after: "a MASTER 1, b MASTER 1, a MASTER 6, b MASTER 6, b BACKUP 9, a MASTER 9, c BACKUP 12",
    group: "one_master a since , preferred true",
    incidents: ["36-39: Split brain: a and b were MASTER at once of 192.0.2.100 (vhid 2)"],
  },
  {
    name: "a failover that is part of another one is told with that",
    before: "a MASTER 1, b BACKUP 1, a BACKUP 3, b MASTER 3, b BACKUP 5, a MASTER 5, a BACKUP 7, b MASTER 7",
    after: "b MASTER 1, a BACKUP 1",
    group: "one_master b since 7, preferred true",
    incidents: [
      "3-7: b and a took over 192.0.2.100 (vhid 2) from each other 3 times, about every 2 s: a lets go most often",
    ],
  },
  {
    name: "a failover while the exporter was away is told also if nobody answers at first",
    before: "a MASTER 1, b BACKUP 1",
    after: "a silent 1, b silent 1, b MASTER 6, a BACKUP 7",
    group: "one_master b since 37, preferred true",
    incidents: [
      `36-37: ${MOVED} while the exporter was away`,
      "31-36: No appliance of ams could be reached: neither a nor b",
      "31-37: a and b went down: they do not answer in time (timeout)",
    ],
  },
  {
    name: "a lost backup whose replacement refuses the exporter is lost since it was",
    before: "a MASTER 1, b BACKUP 1, b silent 5, b refuses 9",
    after: "a MASTER 1, b refuses 2",
    group: "backup_lost a since 5, preferred true",
    incidents: ["5-: b went down: it does not answer in time (timeout)"],
  },
  {
    name: "after the clock was set back nobody knows since when a state lasts",
    before: "a MASTER 1, b BACKUP 1, b nothing 5, b BACKUP 9",
    after: "a MASTER 1, b BACKUP 1",
    away: -15,
    group: "one_master a since , preferred true",
    incidents: ["5-9: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)"],
  },
])("$name", async ({ members = PAIR, later = members, before, after, away = 10, group, incidents }) => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members, beginMs: NOON_MS });
  first.poll(before);
  await first.step(20);
  await first.kill();
  const second = await startRun(storage, { members: later, beginMs: NOON_MS + (20 + away) * 1000 });
  second.poll(after);
  expect({ group: await groupIn(second), incidents: await told(second) }).toEqual({ group, incidents });
  await second.kill();
});

test("the windows of the configuration are recorded as they begin, and are none that a start restores", async () => {
  const storage = storageAt(await folderPath());
  const scope = { appliances: ["b"], clusters: [], labels: {} };
  const patches = { name: "patches", comment: "kernel", scope, timezone: "UTC", durationMs: 3_600_000 };
  // At 12:00:10.
  const maintenance = [{ ...patches, schedule: "10 0 12 * * *" }];
  const run = await startRun(storage, { members: PAIR, beginMs: NOON_MS, maintenance });
  const recorded = () => run.records.flatMap((each) => (each.kind === "window" ? [each] : []));
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  expect(recorded()).toEqual([]);
  run.poll("a MASTER 11, b BACKUP 11");
  await run.step(12);
  run.poll("b silent 16, a MASTER 16");
  await run.step(17);
  const window = { begin: "2026-11-26T12:00:10.000Z", end: "2026-11-26T13:00:10.000Z", comment: "kernel" };
  expect(recorded()).toEqual([
    {
      at: "2026-11-26T12:00:11.000Z",
      kind: "window",
      id: run.windows.list()[0]?.id,
      appliances: ["b"],
      clusters: [],
      labels: {},
      ...window,
      origin: "configuration",
    },
  ]);
  await run.kill();
  // The configuration does not have it any more.
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 30_000 });
  expect(second.windows.list()).toEqual([]);
  await second.kill();
});

test("planned work goes on after a restart, and what was wrong before it is still not planned", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, b silent 5, a MASTER 6, b silent 8, a MASTER 8");
  const scope = { appliances: ["b"], clusters: [], labels: {} };
  const request = { id: "patchnight", scope, comment: "firmware", forMs: 600_000, isDrill: false };
  first.windows.start(request, "alice");
  const despite = ["patchnight"];
  first.windows.start(
    { ...request, id: "otherwork", scope: { ...scope, appliances: ["a"] }, despite },
    "bob",
  );
  first.windows.extend("patchnight", 600_000, "carol");
  first.windows.end("otherwork", "alice");
  first.poll("b silent 10, a MASTER 10");
  await first.step(12);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 30_000 });
  second.poll("b silent 1, a MASTER 1");
  expect(
    second.windows.list().map(({ id, by, changedBy, endMs }) => [id, by, changedBy, endMs - NOON_MS]),
  ).toEqual([
    ["patchnight", "alice", "carol", 1_208_000],
    ["otherwork", "bob", "alice", 8000],
  ]);
  const problemsNow = async () =>
    (await second.document()).problems.map(({ kind, isPlanned }) => [kind, isPlanned]);
  expect(await problemsNow()).toEqual([
    ["redundancy_lost", undefined],
    ["appliance_down", undefined],
  ]);
  second.poll("b BACKUP 5, a MASTER 5, b silent 9, a MASTER 9");
  expect(await problemsNow()).toEqual([
    ["redundancy_lost", true],
    ["appliance_down", true],
  ]);
  await second.kill();
});

/** What is wrong, and since which second of noon. */
async function wrongIn({ document }: Run): Promise<readonly string[]> {
  const { problems } = await document();
  return problems.map(({ severity, kind, since }) => `${severity} ${kind} since ${secondOf(since)}`);
}

const SPLIT = "a MASTER 1, b MASTER 2, a MASTER 3, b MASTER 4";
const REFUSING = "a MASTER 1, b BACKUP 1, b refuses 5, a refuses 6";
const REFUSED = ["warning appliance_refused since 6", "warning appliance_refused since 5"];

test.each<{
  readonly name: string;
  readonly members?: typeof PAIR;
  /** The polls of each run. Runs begin a hundred seconds after each other. */
  readonly runs: readonly string[];
  readonly problems: readonly string[];
}>([
  {
    name: "is unknown since it was",
    runs: [REFUSING, "a refuses 1, b refuses 2"],
    problems: ["critical master_unknown since 6", ...REFUSED],
  },
  {
    name: "is unknown since it was, after several restarts",
    runs: [REFUSING, "a refuses 1, b refuses 2", "b refuses 1, a refuses 2, b refuses 3"],
    problems: ["critical master_unknown since 6", ...REFUSED],
  },
  {
    name: "is unknown if it was known, and nobody knows since when",
    runs: ["a MASTER 1, b BACKUP 1", "a refuses 1, b silent 2"],
    problems: [
      "critical master_unknown since ",
      "warning appliance_refused since ",
      "warning appliance_down since ",
    ],
  },
  {
    name: "is no problem before every member was polled",
    runs: [REFUSING, "b refuses 1"],
    problems: ["warning appliance_refused since 5", "unknown not_polled_yet since "],
  },
  {
    name: "is unknown while a member may list it that has not answered, though another one does not list it",
    runs: [REFUSING, "a refuses 1, b refuses 2, a nothing 5"],
    problems: ["critical master_unknown since 6", "warning appliance_refused since 5"],
  },
  {
    name: "is gone when each member has answered and none lists it",
    runs: [REFUSING, "a refuses 1, b refuses 2, a nothing 5, b nothing 6"],
    problems: [],
  },
  {
    name: "is judged by the member that lists it",
    runs: [REFUSING, "a refuses 1, b refuses 2, a MASTER 5"],
    problems: ["warning appliance_refused since 5", "unknown backup_unknown since "],
  },
  {
    name: "is unknown since it was, though a member that answers is its BACKUP",
    runs: [REFUSING, "a refuses 1, b refuses 2, b BACKUP 4"],
    problems: ["critical master_unknown since 6", "warning appliance_refused since 6"],
  },
  {
    name: "is part of a cluster that is dark",
    runs: ["a MASTER 1, b BACKUP 1, b silent 5, a silent 6", "a silent 1, b silent 2"],
    problems: ["critical cluster_dark since 6"],
  },
  {
    name: "belongs to no appliance that stands alone now",
    members: [MEMBER_A],
    runs: [REFUSING, "a refuses 1"],
    problems: ["warning appliance_refused since 6"],
  },
])(
  "a group that no appliance has listed since a restart $name",
  async ({ members = PAIR, runs, problems }) => {
    const storage = storageAt(await folderPath());
    let latest: readonly string[] = [];
    for (const [nth, polls] of runs.entries()) {
      const run = await startRun(storage, {
        members: nth === 0 ? PAIR : members,
        beginMs: NOON_MS + nth * 100_000,
      });
      run.poll(polls);
      latest = await wrongIn(run);
      await run.step(90);
      await run.kill();
    }
    expect(latest).toEqual(problems);
  },
);

test("a cluster that nobody ever could read is as critical after a restart, once every member has failed", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll("a silent 1, b silent 1, a refuses 5, b refuses 6, a refuses 200, b refuses 200");
  const refused = ["warning appliance_refused since 125", "warning appliance_refused since 126"];
  expect(await wrongIn(first)).toEqual(["critical master_unknown since ", ...refused]);
  await first.step(20);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 30_000 });
  second.poll("a refuses 1");
  expect(await wrongIn(second)).toEqual([...refused.slice(0, 1), "unknown not_polled_yet since "]);
  second.poll("b refuses 2");
  expect(await wrongIn(second)).toEqual(["critical master_unknown since ", ...refused]);
  await second.kill();
});

test("a group that nobody can list is unknown for as long as nobody can", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll(REFUSING);
  await first.step(20);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 30_000 });
  // What an earlier run knew is forgotten after an hour.
  second.poll("a refuses 1, b refuses 2, a refuses 7200, b refuses 7200");
  expect(await wrongIn(second)).toEqual(["critical master_unknown since 6", ...REFUSED]);
  expect(await groupIn(second)).toBe("unknown undefined since 6, preferred undefined");
  second.poll("a BACKUP 7300, b MASTER 7301, a BACKUP 7302");
  expect(await wrongIn(second)).toEqual([]);
  await second.kill();
});

test("a split brain goes on over a start that reaches nobody", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, b MASTER 2, a MASTER 3, b MASTER 4");
  await first.step(20);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 30_000 });
  second.poll("a refuses 1, b refuses 2");
  const split = "Split brain: a and b were MASTER at once of 192.0.2.100 (vhid 2)";
  expect((await told(second)).filter((line) => line.includes("Split"))).toEqual([`4-: ${split}`]);
  expect((await wrongIn(second))[0]).toBe("critical master_unknown since ");
  await second.kill();
});

test.each([
  {
    name: "counts as earlier, whichever poll finds it",
    before: "a MASTER 1, b BACKUP 1, a 200 2, b 200 2",
    after: "a MASTER 1, b silent 2, a 503 3, a 503 4",
    problems: ["website_down", "redundancy_lost", "appliance_down"],
  },
  {
    name: "is planned, if its beginning in the window was recorded",
    before: "a MASTER 1, b BACKUP 1, a 200 2, b 200 2, b silent 15",
    after: "a MASTER 1, b silent 2, a 200 3",
    problems: ["(redundancy_lost)", "(appliance_down)"],
  },
  {
    name: "is planned, if it began after the first polls",
    before: "a MASTER 1, b BACKUP 1, a 200 2, b 200 2",
    after: "a MASTER 1, b BACKUP 1, a 200 2, b 200 2, b silent 5, a MASTER 6, a 503 7, a 503 8",
    problems: ["(website_down)", "(redundancy_lost)", "(appliance_down)"],
  },
])("in a window of the journal, a problem that a start finds $name", async ({ before, after, problems }) => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: WITH_SHOP, beginMs: NOON_MS });
  const [early = "", late] = before.split(/, (?=b silent)/);
  first.poll(early);
  await first.step(8);
  const scope = { appliances: [], clusters: ["ams"], labels: {} };
  first.windows.start({ id: "work", scope, comment: "", forMs: 3_600_000, isDrill: false }, "alice");
  if (late !== undefined) first.poll(late);
  await first.step(20);
  await first.kill();
  const second = await startRun(storage, { members: WITH_SHOP, beginMs: NOON_MS + 30_000 });
  second.poll(after);
  const found = (await second.document()).problems.map(({ kind, isPlanned }) =>
    isPlanned === true ? `(${kind})` : kind,
  );
  expect(found.filter((kind) => kind !== "not_polled_yet")).toEqual(problems);
  await second.kill();
});

test("polls that contradict each other after a start end nothing, also over a second restart", async () => {
  const storage = storageAt(await folderPath());
  const known: string[] = [];
  const polls = [
    "a MASTER 1, b BACKUP 1, b MASTER 5, a MASTER 6, b MASTER 7",
    "a MASTER 1, b MASTER 2",
    SPLIT,
    `${SPLIT}, b BACKUP 5`,
    "a MASTER 1, b MASTER 2, b BACKUP 3",
  ];
  for (const [nth, words] of polls.entries()) {
    const run = await startRun(storage, { members: PAIR, beginMs: NOON_MS + nth * 30_000 });
    run.poll(words);
    known.push([await groupIn(run), ...(await readinessIn(run)), ...(await told(run))].join("; "));
    await run.step(20);
    await run.kill();
  }
  const split = "7-: Split brain: a and b were MASTER at once of 192.0.2.100 (vhid 2)";
  const unknown = "a unknown since 5; b unknown since 5";
  expect(known).toEqual([
    `split_brain undefined since 7, preferred undefined; ${unknown}; ${split}`,
    `changing undefined since , preferred undefined; ${unknown}; ${split}`,
    `split_brain undefined since 7, preferred undefined; ${unknown}; ${split}`,
    `one_master a since 95, preferred true; a ready since 95; ${split.replace("-", "-95")}`,
    `one_master a since 95, preferred true; a ready since 95; ${split.replace("-", "-95")}`,
  ]);
});

function sinceIn(ms: number | undefined): string {
  return ms === undefined ? "" : ` since ${(ms - NOON_MS) / 1000}`;
}

/** The subjects of a cluster with their states, and when these began, in seconds of noon. */
async function statesIn({ verdicts }: Run): Promise<string> {
  const [verdict] = await verdicts();
  if (verdict === undefined) return "";
  const { appliances, groups, readiness, websites } = verdict;
  const states = [
    ...Array.from(appliances.values(), (each) => ({ ...each, name: each.identity.appliance })),
    ...Array.from(groups.values(), (each) => ({ ...each, name: "group" })),
    ...Array.from(readiness.values(), (each) => ({
      ...each,
      name: `failover of ${each.identity.appliance}`,
    })),
    ...[...websites.values()].flatMap((each) => each.states.map((one) => ({ ...one, name: each.website }))),
  ];
  return states.map(({ name, state, sinceMs }) => `${name} ${state}${sinceIn(sinceMs)}`).join(", ");
}

/** Everything begins to be well, a in second 5, and the website in second 8. */
const RECOVERED =
  "a silent 1, b silent 1, a MASTER 5, b BACKUP 5, a 503 6, b 503 6, a 503 7, b 503 7, a 200 8, b 200 8";
const WELL = "a MASTER 1, b BACKUP 1, a 200 2, b 200 2";
const IN_A_MINUTE = "a MASTER 60, b BACKUP 60, a 200 61, b 200 61";

test.each<{
  readonly name: string;
  readonly members?: typeof PAIR;
  /** The polls of each run; a number is the second until which nothing is polled. Runs begin a hundred seconds after each other. */
  readonly runs: readonly (readonly (string | number)[])[];
  readonly states: string;
}>([
  {
    name: "nothing, whatever is polled first",
    runs: [[RECOVERED], [WELL], ["b BACKUP 1, b 200 2, a MASTER 3, b 200 4, a 200 5"]],
    states:
      "a up since 5, b up since 5, group one_master since 5, failover of a ready since 8, shop up since 8",
  },
  {
    name: "what was not polled for long after the start",
    runs: [[RECOVERED], [50, IN_A_MINUTE]],
    states:
      "a up since 160, b up since 160, group one_master since 160, failover of a ready since 161, shop up since 8",
  },
  {
    name: "what a run between did not poll for long",
    runs: [[RECOVERED], [50], [WELL]],
    states: "a up, b up, group one_master, failover of a ready, shop up",
  },
  {
    name: "a group whose master fell silent, and whose websites were not tested",
    runs: [[RECOVERED], ["a silent 1, b BACKUP 1, a MASTER 3, b BACKUP 3, a 200 4, b 200 4"]],
    states:
      "a up since 103, b up since 5, group one_master since 103, failover of a ready since 104, shop up since 8",
  },
  {
    name: "a cluster that was dark, and whose websites were not tested",
    runs: [[RECOVERED], ["a silent 1, b silent 1, a MASTER 3, b BACKUP 3, a 200 4, b 200 4"]],
    states:
      "a up since 103, b up since 103, group one_master since 103, failover of a ready since 104, shop up since 8",
  },
  {
    name: "a group whose members were all silent, in the state that it had before",
    members: PAIR,
    runs: [["a MASTER 1, b BACKUP 1, b silent 5"], ["a silent 1, b silent 1, a MASTER 3"]],
    states: "a up since 103, b down since 5, group backup_lost, failover of a outage since 103",
  },
  {
    name: "a website with a test that had no result",
    runs: [[RECOVERED], ["a MASTER 1, b BACKUP 1, a untested 2, a 200 3, b 200 4"]],
    states:
      "a up since 5, b up since 5, group one_master since 5, failover of a ready since 8, shop up since 103",
  },
  {
    name: "what was unknown in all of a run between",
    runs: [[RECOVERED], ["a silent 1, b BACKUP 1, a untested 2, b 200 2"], [WELL]],
    states: "a up, b up since 5, group one_master, failover of a ready, shop up",
  },
  {
    name: "a website that was unknown in all of a run between",
    runs: [[RECOVERED], ["a MASTER 1, b BACKUP 1, a untested 2, b untested 2"], [WELL]],
    states: "a up since 5, b up since 5, group one_master since 5, failover of a ready, shop up",
  },
  {
    name: "a cluster that was dark in all of a run between",
    runs: [[RECOVERED], ["a silent 1, b silent 1"], [WELL]],
    states: "a up, b up, group one_master, failover of a ready, shop up",
  },
  {
    name: "what was unknown when the first run stopped",
    runs: [[`${RECOVERED}, a silent 10, a untested 11`], [WELL]],
    states: "a up, b up since 5, group one_master, failover of a ready since 102, shop up",
  },
  {
    name: "what was unknown when the first run stopped, and after the start",
    runs: [
      [`${RECOVERED}, a silent 10, a untested 11`],
      ["a silent 1, b BACKUP 1, b 200 2, a MASTER 6, b BACKUP 6, a 200 7"],
    ],
    states:
      "a up since 106, b up since 5, group one_master since 106, failover of a ready since 106, shop up",
  },
  {
    name: "a group that is unknown only because its master was not polled yet",
    members: [MEMBER_A, MEMBER_B, MEMBER_C],
    runs: [
      ["a BACKUP 1, b BACKUP 1, c BACKUP 1, c MASTER 4, a BACKUP 5, b BACKUP 5, c MASTER 8"],
      ["a BACKUP 1, b silent 1, c MASTER 2"],
    ],
    states: "a up, b down, c up, group one_master since 4, failover of c unknown",
  },
  {
    name: "a group of which another member said that it is MASTER, before the others were polled",
    members: [MEMBER_A, MEMBER_B, MEMBER_C],
    runs: [
      ["a BACKUP 1, b BACKUP 1, c BACKUP 1, a MASTER 4, b BACKUP 5, c BACKUP 5, a MASTER 8"],
      ["c MASTER 1, a MASTER 3, b BACKUP 5, c BACKUP 7"],
    ],
    states: "a up, b up, c up, group one_master, failover of a ready",
  },
  {
    name: "a group that is so when another restart follows, which may also be for another reason",
    members: [MEMBER_A, MEMBER_B, MEMBER_C],
    runs: [
      ["a BACKUP 1, b BACKUP 1, c BACKUP 1, c MASTER 4, a BACKUP 5, b BACKUP 5, c MASTER 8"],
      ["a BACKUP 1, b silent 1"],
      ["a BACKUP 1, b BACKUP 1, c MASTER 2"],
    ],
    states: "a up, b up, c up, group one_master, failover of c ready",
  },
])(
  "after a restart no state has lasted that was unknown in between: $name",
  async ({ members = WITH_SHOP, runs, states }) => {
    const storage = storageAt(await folderPath());
    let latest = "";
    for (const [nth, polls] of runs.entries()) {
      const run = await startRun(storage, { members, beginMs: NOON_MS + nth * 100_000 });
      for (const each of polls) await (typeof each === "number" ? run.step(each) : run.poll(each));
      latest = await statesIn(run);
      await run.step(90);
      await run.kill();
    }
    expect(latest).toBe(states);
  },
);

test("an appliance that is down again after a run that did not poll it went down again", async () => {
  const storage = storageAt(await folderPath());
  const known: (readonly string[])[] = [];
  for (const [nth, polls] of ["a MASTER 1, b BACKUP 1, b silent 5", "", "a MASTER 1, b silent 2"].entries()) {
    const run = await startRun(storage, { members: PAIR, beginMs: NOON_MS + nth * 100_000 });
    if (polls !== "") run.poll(polls);
    await run.step(50);
    known.push(await told(run));
    await run.kill();
  }
  expect(known.at(-1)).toEqual([
    "202-: b went down: it does not answer in time (timeout)",
    "115-202: a and b could not be polled: the exporter has stopped polling them (stalled)",
    "5-115: b went down: it does not answer in time (timeout)",
  ]);
});

/** The details of a website, of whose two servers so many fail. */
function servers(failing: number, second: number): Observation {
  const backends = gathered(
    [0, 1].map((nth) => ({ address: `192.0.2.8${nth}:80`, role: "active", isOk: nth >= failing })),
  );
  const given = { sentAtMs: second * 1000, expiresAtMs: 1e9 };
  return seen.details("a", 2, { host: "shop.example", name: "shop", backends }, given);
}

test.each([
  ["fail all the time", 1, ["3-: Servers are down: website shop"]],
  ["work again", 0, ["3-33: Servers are down: website shop"]],
])("servers behind a website that %s are one incident, also over a start", async (_, failing, incidents) => {
  const storage = storageAt(await folderPath());
  const members = [{ ...MEMBER_A, discovery: { exclude: [], limit: 200 } }];
  const first = await startRun(storage, { members, beginMs: NOON_MS });
  const listed = seen.websites("a", [2], { sentAtMs: 1000, expiresAtMs: 1e9 });
  first.poll("a MASTER 1");
  first.observe(listed, 1000);
  first.observe(servers(0, 2), 2000);
  first.observe(servers(1, 3), 3000);
  await first.step(20);
  await first.kill();
  const later = await startRun(storage, { members, beginMs: NOON_MS + 30_000 });
  later.poll("a MASTER 1");
  later.observe(listed, 1000);
  expect(await told(later)).toEqual(["3-: Servers are down: website shop"]);
  later.observe(servers(failing, 3), 3000);
  expect(await told(later)).toEqual(incidents);
  await later.kill();
});

test.each([
  ["that failed before a window are not planned in it", 3, 8, undefined],
  ["that failed in a window are planned in it", 12, 8, true],
])("servers behind a website %s, also after a restart", async (_, failedAt, begunAt, isPlanned) => {
  const storage = storageAt(await folderPath());
  const members = [{ ...MEMBER_A, discovery: { exclude: [], limit: 200 } }];
  const first = await startRun(storage, { members, beginMs: NOON_MS });
  const listed = seen.websites("a", [2], { sentAtMs: 1000, expiresAtMs: 1e9 });
  first.poll("a MASTER 1");
  first.observe(listed, 1000);
  first.observe(servers(0, 2), 2000);
  const scope = { appliances: [], clusters: ["ams"], labels: {} };
  const work = { id: "work", scope, comment: "", forMs: 3_600_000, isDrill: false };
  const acts = [
    { at: failedAt, act: () => first.observe(servers(1, failedAt), failedAt * 1000) },
    { at: begunAt, act: () => first.windows.start(work, "alice") },
  ];
  for (const { at, act } of acts.toSorted((one, other) => one.at - other.at)) {
    await first.step(at);
    act();
  }
  await first.step(20);
  await first.kill();
  const later = await startRun(storage, { members, beginMs: NOON_MS + 30_000 });
  later.poll("a MASTER 1");
  later.observe(listed, 1000);
  later.observe(servers(1, 3), 3000);
  const { problems } = await later.document();
  expect(problems.filter(({ kind }) => kind === "website_backend_down")).toMatchObject([
    { since: new Date(NOON_MS + failedAt * 1000).toISOString() },
  ]);
  expect(problems.find(({ kind }) => kind === "website_backend_down")?.isPlanned).toBe(isPlanned);
  await later.kill();
});

/** The test of a website by both protocols. */
function answers(http: number | undefined, https: number): Observation {
  const statuses = [
    { protocol: "http", status: http, text: "unreadable" },
    { protocol: "https", status: https },
  ] as const;
  return seen.website("a", 2, statuses, { expiresAtMs: 1e9 });
}

test("a website that one protocol did not show before a start, and the other did, is an incident when it is down", async () => {
  const storage = storageAt(await folderPath());
  const protocols = ["http", "https"] as const;
  const members = [{ ...MEMBER_A, websites: [websiteOf({ id: 2, name: "shop", protocols })] }];
  const first = await startRun(storage, { members, beginMs: NOON_MS });
  first.poll("a MASTER 1");
  first.observe(answers(200, 200), 2000);
  for (const atMs of [3000, 4000]) first.observe(answers(undefined, 200), atMs);
  await first.step(20);
  await first.kill();
  const later = await startRun(storage, { members, beginMs: NOON_MS + 30_000 });
  later.poll("a MASTER 1");
  later.observe(answers(503, 200), 2000);
  expect(await told(later)).toEqual(["32-: Down: website shop (http)"]);
  await later.kill();
});

test("servers behind a website that are in another trouble after a start are another incident", async () => {
  const storage = storageAt(await folderPath());
  const members = [{ ...MEMBER_A, discovery: { exclude: [], limit: 200 } }];
  const first = await startRun(storage, { members, beginMs: NOON_MS });
  const listed = seen.websites("a", [2], { sentAtMs: 1000, expiresAtMs: 1e9 });
  first.poll("a MASTER 1");
  first.observe(listed, 1000);
  first.observe(servers(0, 2), 2000);
  first.observe(servers(1, 3), 3000);
  await first.step(20);
  await first.kill();
  const later = await startRun(storage, { members, beginMs: NOON_MS + 30_000 });
  later.poll("a MASTER 1");
  later.observe(listed, 1000);
  later.observe(servers(2, 3), 3000);
  expect(await told(later)).toEqual([
    "33-: No server is usable: website shop",
    "3-33: Servers are down: website shop",
  ]);
  const { problems } = await later.document();
  const lost = problems.filter(({ kind }) => kind.startsWith("website_backend"));
  expect(lost.map(({ kind, since }) => [kind, since])).toEqual([["website_backends_lost", undefined]]);
  await later.kill();
});

test("what is remembered follows from the latest whole line about a subject, in whatever order its members are", async () => {
  const folder = await folderPath();
  await mkdir(folder);
  const [at, later] = ["2026-11-26T11:59:00.000Z", "2026-11-26T11:59:30.000Z"];
  const lines = [
    `{"at":"${at}","kind":"appliance","cluster":"ams","appliance":"a","state":"down","since":"${at}"}`,
    `{"at":"${at}","kind":"appliance","cluster":"ams","appliance":"b","state":"up"}`,
    `{"at":"${at}","kind":"appliance","cluster":"ams","appliance":"c","state":"up"}`,
    `{"at":"${later}","kind":"appliance","state":"up","since":"${later}","appliance":"a","cluster":"ams"}`,
    `{"at":"${later}","kind":"appliance","cluster":"ams","appliance":"b","sta`,
    `{"at":"${later}","kind":"appliance","cluster":"ams","appliance":"c","state":"gone"}`,
  ];
  await writeFile(join(folder, "2026-11-26.jsonl"), lines.map((line) => `${line}\n`).join(""));
  const { memories } = await restore(folder, { wallMs: NOON_MS, monotonicMs: 0 }, NO_EVENTS);
  const memory = memories.get("ams")?.() ?? new Map();
  expect(Array.from(memory, ([key, { state, sinceMs }]) => [key, state, sinceMs])).toEqual([
    ["appliance a", "up", Date.parse(later)],
    ["appliance b", "up", undefined],
  ]);
});

const OTHER = applianceOf({ name: "x", cluster: "other" });
const LOST_BACKUP = "a MASTER 1, b BACKUP 1, b nothing 5";
const LASTS = "5-: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)";

/** The last line about each incident in a journal: when it began and ended, in seconds of noon. */
async function incidentsIn(folder: string): Promise<readonly string[]> {
  const known = new Map<string, string>();
  for (const line of await linesIn(folder)) {
    const record = parseRecord(line);
    if (record?.kind !== "incident") continue;
    const { id, begin, end } = record.incident;
    known.set(id, `${secondOf(begin)}-${secondOf(end)}`);
  }
  return [...known.values()];
}

test("the incidents of a cluster end when the cluster is removed", async () => {
  const storage = storageAt(await folderPath());
  const run = await startRun(storage, { members: [...PAIR, OTHER], beginMs: NOON_MS });
  run.poll(LOST_BACKUP);
  await run.step(8);
  expect(await told(run)).toEqual([LASTS]);
  run.reload([OTHER], 10_000);
  await run.step(12);
  expect(await told(run)).toEqual([]);
  expect(run.log.lines).toContainEqual(expect.objectContaining({ cluster: "ams", msg: "incident over" }));
  await run.kill();
  expect(await incidentsIn(storage.path)).toEqual(["5-12"]);
  const again = await startRun(storage, { members: [...PAIR, OTHER], beginMs: NOON_MS + 20_000 });
  again.poll("a MASTER 1, b BACKUP 1");
  await again.step(4);
  expect(await told(again)).toEqual(["5-12: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)"]);
  await again.kill();
});

test("the incidents of a cluster that was removed while the exporter was away end with the start", async () => {
  const storage = storageAt(await folderPath());
  const run = await startRun(storage, { members: [...PAIR, OTHER], beginMs: NOON_MS });
  run.poll(LOST_BACKUP);
  await run.step(8);
  const { incidents } = await run.document();
  await run.kill();
  const later = await startRun(storage, { members: [OTHER], beginMs: NOON_MS + 30_000 });
  await later.step(4);
  // What is read of earlier days is known later, and may lack the end of an incident.
  later.addPast(incidents);
  expect(await told(later)).toEqual([]);
  await later.step(8);
  await later.kill();
  expect(await incidentsIn(storage.path)).toEqual(["5-34"]);
});

test("of too many groups and websites, those with a problem and the latest of the others are remembered", async () => {
  const folder = await folderPath();
  await mkdir(folder);
  const at = "2026-11-26T11:59:00.000Z";
  const of = { cluster: "ams" } as const;
  const numbers = Array.from({ length: 10_000 }, (_, nth) => nth);
  const records = numbers.flatMap((nth): readonly JournalRecord[] => [
    {
      at,
      kind: "group",
      ...of,
      vhid: nth,
      vip: "192.0.2.100",
      state: nth === 0 ? "no_master" : "one_master",
    },
    {
      at,
      kind: "website",
      ...of,
      id: nth,
      name: `w${nth}`,
      protocol: "https",
      address: `w${nth}.example.org:443`,
      state: nth === 1 ? "down" : "up",
    },
  ]);
  await writeFile(join(folder, "2026-11-26.jsonl"), linesOf(records));
  const { memories } = await restore(folder, { wallMs: NOON_MS, monotonicMs: 0 }, NO_EVENTS);
  const memory = memories.get("ams")?.() ?? new Map<string, Remembered>();
  const known = groupBy([...memory], ([, { kind }]) => kind);
  const [groups = [], websites = []] = (["group", "website"] as const).map((kind) =>
    known.get(kind)?.map(([key]) => key),
  );
  expect([groups.length, websites.length]).toEqual([256, 256]);
  expect(groups).toEqual(expect.arrayContaining(["group 0 192.0.2.100", "group 9999 192.0.2.100"]));
  expect(websites).toEqual(
    expect.arrayContaining(["website https w1.example.org:443", "website https w9999.example.org:443"]),
  );
});

test("a failover ends when the start is settled, also if a group is gone", async () => {
  const storage = storageAt(await folderPath());
  const run = await startRun(storage, { members: WITH_SHOP, beginMs: NOON_MS });
  run.poll("a MASTER+MASTER 1, b BACKUP+BACKUP 1, a 200 2, b 200 2, a silent 5, b MASTER+MASTER 6, b 200 7");
  await run.step(8);
  await run.kill();
  const again = await startRun(storage, { members: WITH_SHOP, beginMs: NOON_MS + 400_000 });
  again.poll("a BACKUP 1, b MASTER 1, a BACKUP 5, b MASTER 5, b 200 8, a 200 9");
  await again.step(12);
  const failover = (await again.document()).incidents.find(({ kind }) => kind === "failover");
  expect(secondOf(failover?.end)).toBe(409);
  await again.kill();
});

test.each([
  {
    name: "a failover while the exporter was away has no cause, however late the last poll of the start is",
    after: "a BACKUP 1, b silent 1, b MASTER 3, a BACKUP 5, b MASTER 6, a 200 8, b 200 8",
    expected: `33-33: ${MOVED} while the exporter was away`,
  },
  {
    name: "a failover that the polls of a start have watched is none while the exporter was away",
    after: "a silent 1, b BACKUP 1, a silent 5, b BACKUP 5, a silent 10, b MASTER 10, b 200 11",
    expected: `40-: ${MOVED}; why is not known, as it cannot be polled (timeout)`,
  },
  {
    name: "neither is one of a member that a poll of the start has found as BACKUP, though it found the former master as BACKUP only",
    after: "b BACKUP 0.1, b MASTER 2.1, a BACKUP 4.1, a 200 8, b 200 8",
    expected: `32.1-34.1: ${MOVED}, which stepped down`,
  },
])("$name", async ({ after, expected }) => {
  const storage = storageAt(await folderPath());
  const run = await startRun(storage, { members: WITH_SHOP, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1, a 200 2, b 200 2, a MASTER 5");
  await run.step(8);
  await run.kill();
  const again = await startRun(storage, { members: WITH_SHOP, beginMs: NOON_MS + 30_000 });
  again.poll(after);
  await again.step(12);
  expect(await told(again)).toContain(expected);
  await again.kill();
});

test("an appliance that fell silent as MASTER in its window was not handed over, also after a restart", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, a MASTER 5, b BACKUP 5");
  const scope = { appliances: ["a"], clusters: [], labels: {} };
  first.windows.start({ id: "work", scope, comment: "", forMs: 3_600_000, isDrill: false }, "alice");
  first.poll("a silent 10, b BACKUP 10, a silent 14, b MASTER 14, a silent 18, b MASTER 18");
  await first.step(20);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 600_000 });
  second.poll("a silent 1, b MASTER 1, a silent 5, b MASTER 5");
  const { problems } = await second.document();
  expect(problems.map(({ kind }) => kind)).toContain("not_handed_over");
  await second.kill();
});

test.each([
  { name: "is down", says: "silent", isPlanned: undefined },
  { name: "answers", says: "BACKUP", isPlanned: true },
])("a failover to a member in a window while the exporter was away, of one that $name", async (given) => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, a MASTER 5, b BACKUP 5");
  const scope = { appliances: ["b"], clusters: [], labels: {} };
  first.windows.start({ id: "work", scope, comment: "", forMs: 3_600_000, isDrill: false }, "alice");
  await first.step(7);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 20_000 });
  second.poll(`b MASTER 1, a ${given.says} 2, b MASTER 5, a ${given.says} 6`);
  const { incidents } = await second.document();
  const failovers = incidents.filter(({ kind }) => kind === "failover");
  expect(failovers.map(({ isPlanned }) => isPlanned)).toEqual([given.isPlanned]);
  await second.kill();
});

test("a document has states and incidents of one instant, also if a poll ends while it is made", async () => {
  const run = await startRun(storageAt(await folderPath()), { members: PAIR, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1, a MASTER 5, b BACKUP 5");
  const made = run.document();
  run.poll("b nothing 7");
  const { clusters, incidents } = await made;
  const [state] = clusters.flatMap(({ groups }) => groups.map((group) => group.state));
  expect(incidents.map(({ kind }) => kind)).toEqual(state === "one_master" ? [] : ["redundancy_lost"]);
  await run.kill();
});

test("a member that fell silent at the third of several switches was not handed over, also after a restart", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, a MASTER 5, b BACKUP 5");
  const scope = { appliances: ["a"], clusters: [], labels: {} };
  first.windows.start({ id: "work", scope, comment: "", forMs: 3_600_000, isDrill: false }, "alice");
  first.poll(
    "a BACKUP 10, b MASTER 10, a BACKUP 14, b MASTER 14, a MASTER 60, b BACKUP 60, a MASTER 64, b BACKUP 64",
  );
  first.poll("a silent 120, b BACKUP 120, a silent 124, b MASTER 124, a silent 128, b MASTER 128");
  await first.step(132);
  await first.kill();
  const second = await startRun(storage, { members: PAIR, beginMs: NOON_MS + 200_000 });
  second.poll("a silent 1, b MASTER 1, a silent 5, b MASTER 5");
  const { problems } = await second.document();
  expect(problems.map(({ kind }) => kind)).toContain("not_handed_over");
  await second.kill();
});
