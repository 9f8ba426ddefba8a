import { expect, test } from "vitest";
import { isResting, judgeAppliance } from "../../../src/exporter/judge/judge-appliance.ts";
import { judgeGroup, knownMasters } from "../../../src/exporter/judge/judge-group.ts";
import type { GroupState } from "../../../src/exporter/judge/states.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../fleet/support.ts";
import { lastingProblems } from "../../../src/exporter/judge/problems.ts";
import { judge } from "../../../src/exporter/judge/judge.ts";
import { failed, interfaceOf, listOf, seen, WALL_MS } from "../../support/observations.ts";
import { createJudge, incidentLines, replay } from "./support.ts";

/** The verdict about the group of these appliances after these polls, so many seconds after the start, and its master. */
function verdictAfter(
  polls: string,
  { members = [MEMBER_A, MEMBER_B], second = 1000, hasDisabled = false } = {},
): string {
  const fleet = fleetOf(members);
  for (const { observation, atMs } of pollsOf(polls)) fleet.record(observation, atMs);
  const [facts] = clustersOf(fleet, second * 1000);
  const [group] = facts?.groups ?? [];
  if (facts === undefined || group === undefined) throw new Error("no group was seen");
  const states = new Map(
    facts.appliances.map((one) => [one.identity.appliance, judgeAppliance(one.vrrp.health)]),
  );
  const stateOf = (name: string) => states.get(name);
  const resting = facts.appliances.filter(({ vrrp }) => isResting(vrrp.health));
  const unwatched = new Set(resting.map(({ identity }) => identity.appliance));
  const given = { hasDisabled, unwatched, stateOf, nowMs: second * 1000 };
  const state: GroupState | undefined = judgeGroup(group, given);
  return [state ?? "none", ...knownMasters(group, state)].join(" ");
}

/** `b` has changed three times within a minute. */
const FLAPS = "a MASTER 0, b BACKUP 0, b MASTER 5, b BACKUP 10, b MASTER 15";
const SPLIT = "a MASTER 0, b MASTER 0, a MASTER 5, b MASTER 5";
const TWO_VHIDS = "a MASTER 0, b MASTER@3 0, a MASTER 5, b MASTER@3 5";

test.each([
  ["one MASTER and one BACKUP are healthy", "a MASTER 0, b BACKUP 0", "one_master a"],
  [
    "a MASTER beside a silent member has lost its backup",
    "a MASTER 0, b BACKUP 0, b silent 5",
    "backup_lost a",
  ],
  [
    "a MASTER beside a member that refuses may have a backup",
    "a MASTER 0, b BACKUP 0, b refuses 5",
    "backup_unknown a",
  ],
  [
    "a backup that is silent after it refused is lost",
    "a MASTER 0, b BACKUP 0, b refuses 5, b silent 10",
    "backup_lost a",
  ],
  [
    "a MASTER beside a member whose schedule rests may have a backup",
    "a MASTER 0, b BACKUP! 0",
    "backup_unknown a",
  ],
  ["a BACKUP does not know the master while its schedule rests", "a MASTER! 0, b BACKUP 0", "unwatched"],
  ["nothing is known of members whose schedules rest", "a MASTER! 0, b BACKUP! 0", "unwatched"],
  [
    "a member whose schedule rests may be the master beside one that is down",
    "a MASTER! 0, b BACKUP 0, b silent 5",
    "unwatched",
  ],
  [
    "a split brain is neither over nor certain while the schedule of one of its masters rests",
    "a MASTER 0, b MASTER 0, a MASTER 5, b MASTER! 5, a MASTER 10",
    "unwatched",
  ],
  ["a MASTER beside a member in another state has no backup", "a MASTER 0, b INIT 0", "no_backup a"],
  [
    "a MASTER whose backup has left the group has no backup",
    "a MASTER 0, b BACKUP 0, b nothing 5",
    "no_backup a",
  ],
  [
    "the first sight of two MASTERs proves nothing: one may have been polled before a failover",
    "a MASTER 0, b MASTER 0",
    "changing a b",
  ],
  ["two that say MASTER again are a split brain", SPLIT, "split_brain a b"],
  [
    "one that says MASTER again proves nothing of the other",
    "a MASTER 0, b MASTER 0, a MASTER 5",
    "changing a b",
  ],
  [
    "an answer that was sent for before the change was known proves nothing, however late it arrives",
    "a MASTER 0, b BACKUP 0, b MASTER 5 5.1, b MASTER 6, a MASTER 5 6.5",
    "changing a b",
  ],
  [
    "two that are both polled after the change was known, and say MASTER, are a split brain",
    "a MASTER 0, b BACKUP 0, b MASTER 5 5.1, b MASTER 6, a MASTER 6",
    "split_brain a b",
  ],
  [
    "one that was silent and says MASTER proves nothing of the other, which may have been polled before",
    "a MASTER 0, b BACKUP 0, a silent 5, b MASTER 5, b MASTER 10, a MASTER 10",
    "changing a b",
  ],
  [
    "one that was silent and says MASTER twice, beside another that does, is a split brain",
    "a MASTER 0, b BACKUP 0, a silent 5, b MASTER 5, b MASTER 10, a MASTER 10, b MASTER 11, a MASTER 11",
    "split_brain a b",
  ],
  ["two that are MASTER of one address under two VHIDs are a split brain", TWO_VHIDS, "split_brain a b"],
  [
    "one that says MASTER again proves nothing of the other under another VHID",
    "a MASTER 0, b MASTER@3 0, a MASTER 5",
    "changing a b",
  ],
  ["a BACKUP under another VHID is no backup", "a MASTER 0, b BACKUP@3 0", "no_backup a"],
  ["a MASTER under another VHID is no master", "a BACKUP 0, b MASTER@3 0, a BACKUP 5", "no_master"],
  [
    "of a master under another VHID that has changed three times within a minute, one more MASTER proves nothing",
    "a MASTER 0, b BACKUP@3 0, b MASTER@3 5, b BACKUP@3 10, b MASTER@3 15, a MASTER 16, b MASTER@3 16",
    "changing a b",
  ],
  ["a member that is no longer MASTER ends a split brain", `${SPLIT}, b BACKUP 10`, "one_master a"],
  ["two BACKUPs that were never seen as MASTER have no master", "a BACKUP 0, b BACKUP 0", "no_master"],
  [
    "when the master steps down, the other may have taken over since it was polled",
    "a MASTER 0, b BACKUP 0, a BACKUP 5",
    "changing",
  ],
  [
    "when all were polled after the master stepped down, there is no master",
    "a MASTER 0, b BACKUP 0, a BACKUP 5, b BACKUP 6, a BACKUP 6",
    "no_master",
  ],
  [
    "one that was silent and says BACKUP may have been MASTER, and the other may have taken over since it was polled",
    "a BACKUP 0, b MASTER 0, a silent 5, b BACKUP 5, b BACKUP 10, a BACKUP 10",
    "changing",
  ],
  [
    "so may one that says BACKUP after its first polls failed",
    "a silent 0, b BACKUP 0, a BACKUP 5",
    "changing",
  ],
  [
    "when the master has left the group, the other may have taken over since it was polled",
    "a MASTER 0, b BACKUP 0, a nothing 5, a nothing 6",
    "changing",
  ],
  [
    "when all were polled after the master left the group, there is no master",
    "a MASTER 0, b BACKUP 0, a nothing 5, a nothing 6, b BACKUP 6",
    "no_master",
  ],
  [
    "of a member that has changed three times within a minute, one more MASTER beside another proves nothing",
    `${FLAPS}, a MASTER 16, b MASTER 16`,
    "changing a b",
  ],
  ["two more do", `${FLAPS}, a MASTER 16, b MASTER 16, a MASTER 17, b MASTER 17`, "split_brain a b"],
  [
    "they do not if one of them was silent in between",
    `${FLAPS}, a MASTER 16, b MASTER 16, a silent 17, b MASTER 17, a MASTER 18, b MASTER 18`,
    "changing a b",
  ],
  [
    "one more is enough if the changes took a minute",
    "a MASTER 0, b BACKUP 0, b MASTER 5, b BACKUP 10, b MASTER 65, a MASTER 66, b MASTER 66",
    "split_brain a b",
  ],
  [
    "when the master has changed three times within a minute, one more BACKUP of all proves nothing",
    "a MASTER 0, b BACKUP 0, a BACKUP 5, a MASTER 10, a BACKUP 15, b BACKUP 16, a BACKUP 16",
    "changing",
  ],
  ["a silent member may be the master", "a silent 0, b BACKUP 0", "unknown"],
  [
    "one that falls silent before a split brain is proven leaves one master",
    "a MASTER 0, b MASTER 0, b silent 5",
    "backup_lost a",
  ],
])("%s", (_, polls, verdict) => {
  expect(verdictAfter(polls)).toBe(verdict);
});

test.each([
  ["a MASTER 0", "none a"],
  ["a BACKUP 0", "none"],
])("%s beside an appliance that was never polled is not judged yet", (polls, verdict) => {
  expect(verdictAfter(polls, { second: 0 })).toBe(verdict);
});

test.each([
  [SPLIT, "backup_lost a"],
  [TWO_VHIDS, "no_backup a"],
])("one of a split brain that falls silent may still be MASTER for two minutes: %s", (split, after) => {
  const polls = `${split}, b silent 10`;
  expect(verdictAfter(polls, { second: 129 })).toBe("unknown");
  expect(verdictAfter(polls, { second: 130 })).toBe(after);
});

test.each([
  [SPLIT, "split_brain a b"],
  [`${SPLIT}, c silent 6`, "split_brain a b"],
  [`${SPLIT}, c MASTER 6`, "split_brain a b c"],
  [`${SPLIT}, c BACKUP 6, b BACKUP 7, a silent 8`, "unknown"],
])("of three members two that are proven MASTER are a split brain: %s", (polls, verdict) => {
  expect(verdictAfter(polls, { members: [MEMBER_A, MEMBER_B, MEMBER_C] })).toBe(verdict);
});

test.each([
  ["a MASTER 0", "one_master a"],
  ["a MASTER 0, b INIT 0", "one_master a"],
  ["a BACKUP 0, b BACKUP 0", "unwatched"],
  ["a silent 0, b BACKUP 0", "unwatched"],
  [SPLIT, "split_brain a b"],
])("with a disabled member, %s is %s", (polls, verdict) => {
  expect(verdictAfter(polls, { hasDisabled: true })).toBe(verdict);
});

test("a group is judged again when a disabled appliance leaves its cluster, though the groups stay as they are", () => {
  const polls = pollsOf("a BACKUP 0, b BACKUP 0").map(({ observation }) => observation);
  const fleet = fleetOf([MEMBER_A, MEMBER_B, { ...MEMBER_C, enabled: false }], polls);
  const judging = createJudge();
  const [states] = clustersOf(fleet).map((facts) =>
    [facts, { ...facts, disabled: [] }].map((each) => {
      const { groups } = judging.judge(each, { wallMs: 0, monotonicMs: 0 }).now;
      return Array.from(groups.values(), ({ state }) => state).join();
    }),
  );
  expect(states).toEqual(["unwatched", "no_master"]);
});

test.each([
  ["an unseen member changes nothing of that", "a BACKUP/100 0, b MASTER/90 0", false],
  ["the preferred member takes over", "a BACKUP/100 0, b MASTER/90 0, b BACKUP/90 5, a MASTER/100 5", true],
  [
    "the other one gets a lower priority",
    "a BACKUP/100 0, b MASTER/90 0, c BACKUP/80 0, a BACKUP/80 5, b MASTER/90 5",
    true,
  ],
])("a master that is not the preferred member: %s", (_, polls, isPreferredMaster) => {
  const { groups } = replay(pollsOf(polls), { members: [MEMBER_A, MEMBER_B, MEMBER_C] }).verdict;
  expect([...groups.values()]).toMatchObject([{ isPreferredMaster }]);
});

test.each([
  ["lasts while its masters may still be two", "b silent 10, a MASTER 100", "unknown", "split_brain"],
  [
    "is over once one of them is silent for two minutes",
    "b silent 10, a MASTER 200",
    "backup_lost",
    "backup_lost",
  ],
])("a split brain %s", (_, polls, state, trouble) => {
  const { groups } = replay(pollsOf(`${SPLIT}, ${polls}`)).verdict;
  expect([...groups.values()]).toMatchObject([{ state, trouble }]);
});

test.each([
  ["192.0.2.101", ["192.0.2.100"], ["2 192.0.2.101"]],
  ["192.0.2.101", [], ["2 192.0.2.101", "2 192.0.2.100"]],
])("a remembered group is the one that has its VIP: %s, also at %j", (vip, aliases, expected) => {
  const list = listOf([interfaceOf({ state: "BACKUP", vhid: 2, vip, aliases })]);
  const fleet = fleetOf([MEMBER_A, MEMBER_B], [failed.vrrp("a", "auth"), seen.vrrp("b", list)]);
  const group = { vhid: 2, vip: "192.0.2.100" };
  const memory = new Map([["group 2 192.0.2.100", { kind: "group", group, state: "unknown" } as const]]);
  const groups = clustersOf(fleet).map((facts) => [
    ...judge(facts, undefined, { wallMs: 0, monotonicMs: 0 }, { memory }).groups.keys(),
  ]);
  expect(groups).toEqual([expected]);
});

const REPLACED = "a MASTER 0, b BACKUP 0, b silent 5, b refuses 10";
test.each([
  ["refuses the exporter", REPLACED, "backup_lost 5"],
  [
    "refuses the exporter after a state without backup",
    "a MASTER 0, b FAULT 0, b refuses 10",
    "backup_lost 10",
  ],
  ["may be the master for a while", `${REPLACED}, a refuses 15, a MASTER 20`, "backup_lost 20"],
  ["is BACKUP", `${REPLACED}, b BACKUP 15, a MASTER 15`, "one_master 15"],
  ["refuses the exporter after it was BACKUP", `${REPLACED}, b BACKUP 15, b refuses 20`, "backup_unknown 20"],
  ["became MASTER", `${REPLACED}, a BACKUP 15, b MASTER 15`, "one_master 15"],
])("a backup that was lost is lost until one is known: what replaces it %s", (_, polls, expected) => {
  const { groups } = replay(pollsOf(polls)).verdict;
  const found = Array.from(groups.values(), ({ state, sinceMs = Number.NaN }) => {
    return `${state} ${(sinceMs - WALL_MS) / 1000}`;
  });
  expect(found).toEqual([expected]);
});

test("redundancy that is lost is a problem, and an incident, in each second until a backup is known", () => {
  const polls = "a MASTER 1, b BACKUP 1, b FAULT 5, b silent 10, b refuses 150, a MASTER 160, b refuses 300";
  const seconds = polls.split(", ").slice(2);
  const told = seconds.map((_, nth) => {
    const { verdict, past } = replay(
      pollsOf(
        polls
          .split(", ")
          .slice(0, nth + 3)
          .join(", "),
      ),
    );
    const [worst] = lastingProblems(verdict);
    const incident = past.list().find(({ kind }) => kind === "redundancy_lost");
    return [worst?.severity, worst?.kind, incident?.end];
  });
  expect(told).toEqual(seconds.map(() => ["critical", "redundancy_lost", undefined]));
  const { verdict, past } = replay(pollsOf(`${polls}, b BACKUP 310`));
  expect(lastingProblems(verdict)).toEqual([]);
  expect(incidentLines(past).filter((line) => !line.includes(" appliance_"))).toEqual([
    "5-310 odd_state: b reported FAULT on carp0, 192.0.2.100 (vhid 2)",
    "5-310 redundancy_lost: No appliance was BACKUP beside a of 192.0.2.100 (vhid 2)",
  ]);
});

test("nobody knows whether a lost backup is back while its schedule rests", () => {
  const { groups } = replay(pollsOf("a MASTER 0, b BACKUP 0, b silent! 5, a MASTER 10")).verdict;
  expect([...groups.values()]).toMatchObject([{ state: "backup_unknown", trouble: "backup_lost" }]);
});

test("a member whose schedule rests may be the backup beside one that is down", () => {
  const polls = "a MASTER 0, b BACKUP! 0, c BACKUP 0, c silent 5";
  expect(verdictAfter(polls, { members: [MEMBER_A, MEMBER_B, MEMBER_C] })).toBe("backup_unknown a");
});
