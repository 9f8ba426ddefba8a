import { expect, test } from "vitest";
import type { JournalRecord } from "../../../src/history/journal/record.ts";
import { availabilityOf, type Availability } from "../../../src/history/report/availability.ts";
import { createHistory, merged } from "../../../src/history/report/history.ts";
import { createRunFacts } from "../../../src/history/report/sources.ts";
import { instantOf } from "../../../src/exporter/judge/words.ts";
import { alive, failedOver, group, lost, planned, readiness, run, START, website } from "./records.ts";

const HOUR = 3600;
const RANGE = { fromMs: START, toMs: START + HOUR * 1000 };

const at = (seconds: number): string => instantOf(START + seconds * 1000);

/** What the journals say of the first hour. */
function reported(...journals: readonly (readonly JournalRecord[])[]): Availability {
  const histories = journals.map((records) => {
    const history = createHistory(RANGE);
    for (const each of records) history.read(each);
    return history.end();
  });
  return availabilityOf(histories.reduce(merged), RANGE);
}

/** A website of which no protocol is known. */
function unnamed(seconds: number, state: string): JournalRecord {
  const identity = { kind: "website", cluster: "ams", id: 1, name: "shop", protocol: "" } as const;
  return { ...identity, at: at(seconds), address: "", state };
}

function protocols(records: readonly JournalRecord[]): readonly string[] {
  return reported(records).clusters.flatMap(({ websites }) => websites.map(({ protocol }) => protocol));
}

/** A website that is up and down in turns for 72 ms each. */
function flapping(fromMs: number): readonly JournalRecord[] {
  const changes = Array.from({ length: 50_000 }, (_, nth): JournalRecord => {
    return { ...website(0, nth % 2 === 0 ? "up" : "down"), at: instantOf(fromMs + nth * 72) };
  });
  return [run(0, "start"), ...changes, alive(HOUR)];
}

test("a group has the time of each state that is down, and its backups count for nothing", () => {
  const { clusters } = reported([
    run(0, "start"),
    group(0, "one_master"),
    group(100, "no_backup"),
    group(200, "changing"),
    group(203, "no_master"),
    group(210, "split_brain"),
    group(215, "one_master"),
    alive(HOUR),
  ]);
  expect(clusters[0]?.groups[0]).toMatchObject({
    upMs: 3_585_000,
    downMs: 15_000,
    unknownMs: 0,
    plannedMs: 0,
    availability: 3585 / 3600,
    splitBrainMs: 5000,
    noMasterMs: 10_000,
    knownSince: at(0),
    goneSince: undefined,
  });
});

test("what comes later, goes or vanishes at a restart has no part in its cluster before and after", () => {
  const { clusters } = reported([
    run(-2 * HOUR, "start"),
    group(-2 * HOUR, "one_master"),
    website(-2 * HOUR, "up", "old"),
    website(-2 * HOUR, "up", "vanished"),
    website(600, "up", "new"),
    website(1200, "gone", "old"),
    alive(1800),
    run(1900, "start"),
    group(1900, "one_master"),
    website(1900, "unknown", "new"),
    website(2000, "up", "new"),
    // An hour after the restart.
    alive(1900 + HOUR),
  ]);
  const [ams] = clusters;
  // The restart, and until the website that remained was known.
  expect(ams).toMatchObject({ upMs: 3_400_000, downMs: 0, unknownMs: 200_000, availability: 1 });
  const rows = ams?.websites.map((row) => [row.name, row.upMs, row.knownSince, row.goneSince]);
  expect(rows).toEqual([
    ["old", 1_200_000, at(0), at(1200)],
    ["vanished", 1_800_000, at(0), at(1800)],
    ["new", 2_800_000, at(600), undefined],
  ]);
});

test("a cluster is unknown after a start until all is known that is recorded within an hour, or was before", () => {
  const start = [run(0, "start"), group(0, "one_master"), website(50, "up"), alive(1000)];
  expect(reported([...start, alive(HOUR)]).clusters).toMatchObject([{ upMs: 3_550_000 }]);
  const restart = [run(1000, "start"), group(1000, "one_master"), alive(HOUR)];
  expect(reported([...start, ...restart]).clusters).toMatchObject([{ upMs: 950_000, goneSince: undefined }]);
});

test.each([
  ["a cluster that has no more lines", [lost(600)]],
  ["a website that has no more", [group(600, "one_master"), website(600)]],
])("after a gap %s is unknown and still configured", (_, mentioned) => {
  const before = [run(0, "start"), group(0, "one_master"), website(0, "down"), alive(600)];
  const { clusters } = reported([...before, run(600, "gap"), ...mentioned, alive(3 * HOUR)]);
  expect(
    clusters.map(({ upMs, downMs, goneSince, websites: [shop] }) => [
      upMs,
      downMs,
      goneSince,
      shop?.goneSince,
    ]),
  ).toEqual([[0, 600_000, undefined, undefined]]);
});

test("a cluster without groups and websites is never known, and configured until it is gone", () => {
  const cluster = (seconds: number, state: string): JournalRecord => {
    return { at: at(seconds), kind: "cluster", cluster: "ams", state };
  };
  const appliance = { at: at(0), kind: "appliance", cluster: "ams", appliance: "a", state: "down" } as const;
  const records = [run(0, "start"), cluster(0, "unknown"), appliance, alive(600)];
  expect(reported([...records, alive(HOUR)]).clusters).toMatchObject([
    { unknownMs: HOUR * 1000, knownSince: undefined, goneSince: undefined },
  ]);
  expect(
    reported([...records, { ...appliance, at: at(600), state: "gone" }, cluster(600, "gone"), alive(HOUR)])
      .clusters,
  ).toMatchObject([{ unknownMs: HOUR * 1000, knownSince: undefined, goneSince: at(600) }]);
});

test("a website whose protocols are not known yet has a row only while it has no other", () => {
  const first = [run(0, "start"), unnamed(0, "unknown")];
  expect(protocols([...first, alive(HOUR)])).toEqual([""]);
  expect(protocols([...first, unnamed(10, "up"), website(60, "up"), alive(HOUR)])).toEqual(["https", ""]);
  expect(protocols([...first, unnamed(60, "gone"), website(60, "up"), alive(HOUR)])).toEqual(["https"]);
});

test("a cluster is ready while no master would lose anything", () => {
  const { clusters } = reported([
    run(0, "start"),
    group(0, "one_master"),
    readiness(0, "ready", "a"),
    readiness(600, "ready", "b"),
    readiness(900, "losses", "b"),
    readiness(1000, "outage", "a"),
    readiness(1200, "ready", "a"),
    readiness(1300, "gone", "b"),
    readiness(1500, "unknown", "a"),
    alive(HOUR),
  ]);
  expect(clusters[0]?.readiness).toEqual({ readyMs: 1_100_000, notReadyMs: 400_000, ready: 1100 / 1500 });
});

test("outages are as long as a subject is down in whatever state, and the longest is the first", () => {
  const { outages } = reported(
    [
      run(0, "start"),
      group(0, "no_master"),
      website(0, "up"),
      group(20, "split_brain"),
      group(30, "one_master"),
      website(50, "down_at_master"),
      // Killed, while another exporter goes on.
      alive(60),
    ],
    [run(40, "start"), website(45, "down"), website(110, "up"), website(3590, "down"), alive(HOUR + 60)],
  );
  expect(outages).toEqual([
    { cluster: "ams", subject: "shop https", from: at(50), to: at(110), durationMs: 60_000 },
    { cluster: "ams", subject: "192.0.2.100 (vhid 2)", from: at(0), to: at(30), durationMs: 30_000 },
    { cluster: "ams", subject: "shop https", from: at(3590), to: at(HOUR), durationMs: 10_000 },
  ]);
});

test("a subject of two journals is configured as long as one of them says", () => {
  const short = [run(0, "start"), group(0, "one_master"), group(600, "gone"), alive(HOUR)];
  const long = [run(0, "start"), group(0, "one_master"), alive(HOUR)];
  for (const journals of [
    [short, long],
    [long, short],
  ])
    expect(reported(...journals).clusters).toMatchObject([{ upMs: HOUR * 1000, goneSince: undefined }]);
});

test("a switch that became part of a failover of the month before is no failover of this month", () => {
  const { failovers } = reported([
    run(-HOUR, "start"),
    failedOver(-10, "first"),
    failedOver(10, "second", { from: "b", to: "a" }),
    failedOver(-10, "first", { includes: "second" }),
  ]);
  expect(failovers).toEqual([]);
});

test("a failover is reported once: as its latest line says, and as the first journal that knows it does", () => {
  const { failovers } = reported(
    [
      run(0, "start"),
      failedOver(-1, "before the range"),
      failedOver(0, "at its begin"),
      failedOver(10, "one"),
      failedOver(10, "one", { summary: "b took over, and the cause is known" }),
      failedOver(500, "second switch", { from: "b", to: "a" }),
      failedOver(490, "three", { summary: "a and b took over from each other", includes: "second switch" }),
      failedOver(HOUR, "behind the range"),
    ],
    [
      run(0, "start"),
      failedOver(12, "the same", { summary: "b took over, as another exporter saw it" }),
      failedOver(13, "to another", { to: "c" }),
      failedOver(14, "from another", { from: "c" }),
      failedOver(15, "in another cluster", { cluster: "rtm" }),
      failedOver(70, "a minute later"),
      failedOver(200, "later"),
    ],
  );
  expect(failovers.map(({ begin, summary }) => [begin, summary])).toEqual([
    [at(0), "b took over"],
    [at(10), "b took over, and the cause is known"],
    [at(13), "c took over"],
    [at(14), "b took over"],
    [at(15), "b took over"],
    [at(70), "b took over"],
    [at(200), "b took over"],
    [at(490), "a and b took over from each other"],
  ]);
});

test("journals of a website that changes 50,000 times are merged", () => {
  const { clusters, outages } = reported(flapping(START), flapping(START + 7));
  expect(outages.length).toBe(20);
  expect(clusters.map(({ upMs, downMs }) => [upMs, downMs])).toEqual([[1_800_000, 1_800_000]]);
});

test("what is down or unknown by planned work is planned, and counts neither for nor against", () => {
  const { clusters, outages } = reported([
    run(0, "start"),
    group(0, "one_master"),
    website(0, "up"),
    planned(group(100, "unknown")),
    planned(website(100, "unknown")),
    planned(group(200, "no_master")),
    planned(website(200, "down")),
    website(900, "down"),
    group(1000, "one_master"),
    website(1000, "up"),
    alive(HOUR),
  ]);
  const [cluster] = clusters;
  const figures = { upMs: 2_700_000, unknownMs: 0, plannedMs: 800_000, downMs: 100_000 };
  expect(cluster).toMatchObject({ ...figures, availability: 2700 / 2800 });
  expect(cluster?.websites[0]).toMatchObject(figures);
  expect(cluster?.groups[0]).toMatchObject({ upMs: 2_700_000, plannedMs: 900_000, downMs: 0, noMasterMs: 0 });
  expect(outages.map(({ subject, durationMs }) => [subject, durationMs])).toEqual([["shop https", 100_000]]);
});

test("a time without an answer of which two journals know a part each is one", () => {
  const before = [run(0, "start"), group(0, "one_master"), alive(600), group(600, "unknown")];
  const { unanswered } = reported(
    [...before, alive(1200)],
    [...before, alive(1800), group(1800, "one_master"), alive(HOUR)],
  );
  expect(unanswered).toMatchObject([{ from: at(600), to: at(1800), durationMs: 1_200_000 }]);
});

test("a clock that was set back once counts once, whatever starts before it has caught up", () => {
  const runs = createRunFacts(RANGE);
  const again = [run(600, "gap"), alive(900), run(1200, "start"), run(1800, "start"), alive(HOUR)];
  for (const each of [run(0, "start"), alive(3000), group(590, "one_master"), ...again]) runs.read(each);
  expect(runs.end()).toMatchObject({ starts: 3, gaps: 1, setBack: 1 });
});
