import { expect, test } from "vitest";
import { answersOf } from "../../../src/operator/answers.ts";
import { createPast } from "../../../src/exporter/story/past.ts";
import { recordsBetween } from "../../../src/history/journal/changes.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, pollsOf, restingFrom } from "../fleet/support.ts";
import { configOf, failed, seen, WALL_MS, websiteOf } from "../../support/observations.ts";
import { createJudge, documentOf, incidentLines, problemLines } from "./support.ts";

const SHOP = websiteOf({ id: 2, name: "shop" });
const MEMBERS = [MEMBER_A, MEMBER_B];
const TESTED = MEMBERS.map((member) => ({ ...member, websites: [SHOP] }));
const UNTIL = "2023-11-15 06:00 UTC";
const VIP = "192.0.2.100 (vhid 2)";

/** What happened in polls, where also time is judged: results of schedules that rest end between polls. */
function play(words: string, members = MEMBERS) {
  const [fleet, judging, past] = [fleetOf(members), createJudge(), createPast()];
  const judgeAt = (nowMs: number) => {
    const [facts] = clustersOf(fleet, nowMs);
    if (facts === undefined) throw new Error("there is a cluster");
    const { before, now } = judging.judge(facts, { wallMs: WALL_MS + nowMs, monotonicMs: nowMs });
    if (now.incidents !== before?.incidents) past.add(now.incidents.news);
    return { before, now };
  };
  for (const { observation, atMs } of pollsOf(words)) {
    judgeAt(atMs - 1);
    fleet.record(observation, atMs);
    judgeAt(atMs);
  }
  return { fleet, judging, past, judgeAt };
}

test("a pair whose schedules rest is one problem that nobody is woken for, and says until when", () => {
  const { fleet, judging } = play("a MASTER! 0, b BACKUP! 0");
  const document = documentOf(fleet, {}, 2000, judging);
  expect(document.verdict).toBe("unknown");
  expect(problemLines(document)).toEqual([
    `unknown not_scheduled: a and b are not polled until ${UNTIL}, as scheduled`,
  ]);
  expect(document.problems[0]).toMatchObject({ cluster: "ams", until: "2023-11-15T06:00:00.000Z" });
  const [cluster] = document.clusters;
  expect(cluster).toMatchObject({ level: "unknown", groups: [{ state: "unwatched", level: "unknown" }] });
  expect(cluster?.state).toBeUndefined();
  expect(cluster?.appliances.map(({ state, since, level }) => [state, since, level])).toEqual([
    [undefined, undefined, "unknown"],
    [undefined, undefined, "unknown"],
  ]);
  expect(answersOf(document.clusters, []).map(({ verdict, summary }) => `${verdict}: ${summary}`)).toEqual([
    `unknown: ams: it is not known which appliance is MASTER of ${VIP}: no poll is scheduled until ${UNTIL}`,
  ]);
  expect(answersOf(document.clusters, ["a"]).map(({ summary }) => summary)).toEqual([
    `If a fails, it is not known what is lost: no poll is scheduled until ${UNTIL}`,
  ]);
});

test("one member whose schedule rests is named, and the other one is judged", () => {
  const { fleet, judging } = play("a MASTER 0, b BACKUP! 0, a MASTER 5");
  const document = documentOf(fleet, {}, 5000, judging);
  expect(problemLines(document)).toEqual([
    `unknown not_scheduled: b is not polled until ${UNTIL}, as scheduled`,
  ]);
  expect(document.clusters[0]?.groups[0]).toMatchObject({ state: "backup_unknown", master: "a" });
  expect(answersOf(document.clusters, []).map(({ verdict }) => verdict)).toEqual(["unknown"]);
});

test("schedules that go on at other times are said one after the other", () => {
  const fleet = fleetOf(TESTED, [
    seen.vrrp("a", { interfaces: [], unreadable: [], anomalies: [] }, restingFrom(2)),
    seen.website("a", 2, [], {
      expiresAtMs: 2000,
      rest: { untilMs: Date.parse("2023-11-16T07:00Z"), stalledAtMs: 1e9 },
    }),
    seen.vrrp("b", { interfaces: [], unreadable: [], anomalies: [] }),
    seen.website("b", 2, [], restingFrom(2)),
  ]);
  expect(problemLines(documentOf(fleet, {}, 2000))).toEqual([
    `unknown not_scheduled: a is not polled until ${UNTIL}. Websites are not tested by a until 2023-11-16 07:00 UTC. Websites are not tested by b until ${UNTIL}, as scheduled`,
  ]);
});

test.each([
  ["the tests of both", true, true],
  ["the tests of the master", true, false],
])("a website is not known while the schedules of %s rest, which is no problem of its own", (_, ...rests) => {
  const fleet = fleetOf(TESTED);
  const polls = pollsOf("a MASTER 0, b BACKUP 0").map(({ observation }) => observation);
  const tests = ["a", "b"].map((name, nth) =>
    seen.website(
      name,
      2,
      [{ protocol: "https", status: 200 }],
      rests[nth] === true ? restingFrom(2) : { expiresAtMs: 1e9 },
    ),
  );
  for (const observation of [...polls, ...tests]) fleet.record(observation, 0);
  const judging = createJudge();
  expect(documentOf(fleet, {}, 1999, judging).clusters[0]?.websites[0]?.states).toMatchObject([
    { protocol: "https", state: "up" },
  ]);
  const document = documentOf(fleet, {}, 2000, judging);
  expect(document.clusters[0]?.websites[0]?.states).toEqual([]);
  expect(document.problems.map(({ kind }) => kind)).toEqual(["not_scheduled"]);
});

test("the rest of a list that older firmware lacks is told, although everything was well before", () => {
  const members = MEMBERS.map((member) => ({ ...member, discovery: { exclude: [], limit: 200 } }));
  const [fleet, judging] = [fleetOf(members), createJudge()];
  const polls = pollsOf("a MASTER 0, b BACKUP 0").map(({ observation }) => observation);
  const lists = ["a", "b"].map((name) => ({ ...failed.websites(name, "unsupported"), ...restingFrom(2) }));
  for (const observation of [...polls, ...lists]) fleet.record(observation, 0);
  expect(problemLines(documentOf(fleet, {}, 1999, judging))).toEqual([]);
  expect(problemLines(documentOf(fleet, {}, 2000, judging))).toEqual([
    `unknown not_scheduled: Websites are not listed by a and b until ${UNTIL}, as scheduled`,
  ]);
});

test("another expectation of a website while its tests rest makes it no problem", () => {
  const fleet = fleetOf(TESTED);
  const polls = pollsOf("a MASTER 0, b BACKUP 0").map(({ observation }) => observation);
  const tests = ["a", "b"].map((name) =>
    seen.website(name, 2, [{ protocol: "https", status: 200 }], restingFrom(2)),
  );
  for (const observation of [...polls, ...tests]) fleet.record(observation, 0);
  const kindsAt = (nowMs: number) => documentOf(fleet, {}, nowMs).problems.map(({ kind }) => kind);
  expect(kindsAt(2000)).toEqual(["not_scheduled"]);
  const website = { ...SHOP, expectStatus: [{ from: 500, to: 500 }] };
  fleet.configure(configOf(...MEMBERS.map((member) => ({ ...member, websites: [website] }))), 2001);
  expect(kindsAt(2002)).toEqual(["not_scheduled"]);
});

test("tests that fail beside a master whose tests rest are a problem again when these are stalled", () => {
  const fleet = fleetOf(TESTED);
  const polls = pollsOf("a MASTER 0, b BACKUP 0").map(({ observation }) => observation);
  const rest = { ...restingFrom(2).rest, untilMs: WALL_MS, stalledAtMs: 9000 };
  const a = seen.website("a", 2, [{ protocol: "https", status: 200 }], { expiresAtMs: 2000, rest });
  const b = failed.website("b", 2, "timeout", { expiresAtMs: 1e9 });
  for (const observation of [...polls, a, b]) fleet.record(observation, 0);
  expect(documentOf(fleet, {}, 8999).problems.map(({ kind }) => kind)).toEqual(["not_scheduled"]);
  expect(documentOf(fleet, {}, 9000).problems.map(({ kind }) => kind)).toEqual(["website_unknown"]);
});

test.each([
  [
    "a failover during a rest is dated as seen, without a cause or a time without master",
    "a MASTER! 0, b BACKUP! 0, b MASTER 9000, a BACKUP 9001",
    [`9000-9001 failover: b took over ${VIP} from a while no poll was scheduled`],
  ],
  [
    "also if the former master answers first",
    "a MASTER! 0, b BACKUP! 0, a BACKUP 9000, b MASTER 9001",
    [`9001-9001 failover: b took over ${VIP} from a while no poll was scheduled`],
  ],
  [
    "also if only the successor was not asked",
    "a MASTER 0, b BACKUP! 0, a BACKUP 5, a BACKUP 8999, b MASTER 9000",
    [`9000-9000 failover: b took over ${VIP} from a while no poll was scheduled`],
  ],
  [
    "a later failover has its own cause and time",
    "a MASTER! 0, b BACKUP! 0, a MASTER 9000, b BACKUP 9000, b MASTER 9005, a BACKUP 9006",
    [`9005-9006 failover: b took over ${VIP} from a, which stepped down. No known master for at most 5 s`],
  ],
  ["nothing is told if nothing has changed", "a MASTER! 0, b BACKUP! 0, a MASTER 9000, b BACKUP 9000", []],
  [
    "what was wrong before a rest is over when a poll says so",
    "a MASTER 0, b BACKUP 0, b silent! 5, a MASTER! 6, a MASTER 9000, b BACKUP 9001",
    ["5-9001 appliance_down: b went down: it does not answer in time (timeout)"],
  ],
  [
    "what is still wrong after a rest is the same incident",
    "a MASTER! 0, b BACKUP 0, b silent! 5, a MASTER 9000, b silent 9001",
    ["5- appliance_down: b went down: it does not answer in time (timeout)"],
  ],
  [
    "a split brain is not over because one of its masters is not asked",
    "a MASTER 0, b BACKUP 0, b MASTER 4, a MASTER 5, b MASTER! 5, a MASTER 10, a MASTER 400",
    [`5- split_brain: Split brain: a and b were MASTER at once of ${VIP}`],
  ],
])("%s", (_, polls, expected) => {
  expect(incidentLines(play(polls).past)).toEqual(expected);
});

test("the journal says that nothing is judged, so the time of a rest is unknown", () => {
  const { judgeAt } = play("a MASTER! 0, b BACKUP! 0");
  const { before, now } = judgeAt(2000);
  expect(recordsBetween(before, now, WALL_MS + 2000)).toMatchObject([
    { kind: "cluster", state: undefined, worst: "unknown" },
    { kind: "appliance", appliance: "a", state: undefined, since: undefined },
    { kind: "appliance", appliance: "b", state: undefined, since: undefined },
    { kind: "group", state: "unwatched" },
    { kind: "readiness", appliance: "a", state: "gone" },
  ]);
});
