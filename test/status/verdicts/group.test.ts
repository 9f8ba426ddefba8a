import { expect, test } from "vitest";
import type { Observation } from "../../../src/polling/observation.ts";
import { judgeGroup, masterIn, type GroupState } from "../../../src/status/verdicts/group.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, MEMBER_C } from "../../fleet/support.ts";
import { interfaceOf, listOf, vrrpFailed, vrrpSeen } from "../../support/observations.ts";

/** A poll that began at `sentAt` and whose result was known at `at`, in seconds; a state, or silence. */
interface Poll {
  readonly appliance: string;
  readonly sentAt: number;
  readonly at: number;
  readonly says: "MASTER" | "BACKUP" | "INIT" | "silent" | "nothing";
}

function poll(appliance: string, says: Poll["says"], sentAt: number, at = sentAt): Poll {
  return { appliance, says, sentAt, at };
}

function observationOf({ appliance, says, sentAt }: Poll): Observation {
  const given = { sentAtMs: sentAt * 1000, expiresAtMs: 1e9 };
  if (says === "silent") return vrrpFailed(appliance, "timeout", given);
  return vrrpSeen(appliance, listOf(says === "nothing" ? [] : [interfaceOf({ state: says })]), given);
}

/** The group of these appliances after these polls, and its verdict so many seconds after the start. */
function verdictAfter(
  polls: readonly Poll[],
  { members = [MEMBER_A, MEMBER_B], second = 1000, hasDisabled = false } = {},
): { readonly state: GroupState | undefined; readonly master: string | undefined } | undefined {
  const fleet = fleetOf(members);
  for (const each of polls) fleet.record(observationOf(each), each.at * 1000);
  const [group] = clustersOf(fleet, second * 1000)[0]?.groups ?? [];
  if (group === undefined) return undefined;
  const state = judgeGroup(group, { hasDisabled, nowMs: second * 1000 });
  return { state, master: masterIn(group, state) };
}

const SPLIT = [
  poll("a", "MASTER", 0),
  poll("b", "MASTER", 0),
  poll("a", "MASTER", 5),
  poll("b", "MASTER", 5),
];

interface Case {
  readonly name: string;
  readonly polls: readonly Poll[];
  readonly state: GroupState | undefined;
  readonly master?: string;
}

test.each<Case>([
  {
    name: "one MASTER and one BACKUP are healthy",
    polls: [poll("a", "MASTER", 0), poll("b", "BACKUP", 0)],
    state: "one_master",
    master: "a",
  },
  {
    name: "a MASTER beside an appliance that was never polled may have a backup",
    polls: [poll("a", "MASTER", 0)],
    state: "backup_unknown",
    master: "a",
  },
  {
    name: "a MASTER beside a silent member may have a backup",
    polls: [poll("a", "MASTER", 0), poll("b", "BACKUP", 0), poll("b", "silent", 5)],
    state: "backup_unknown",
    master: "a",
  },
  {
    name: "a MASTER beside a member in another state has no backup",
    polls: [poll("a", "MASTER", 0), poll("b", "INIT", 0)],
    state: "no_backup",
    master: "a",
  },
  {
    name: "a MASTER whose backup has left the group has no backup",
    polls: [poll("a", "MASTER", 0), poll("b", "BACKUP", 0), poll("b", "nothing", 5)],
    state: "no_backup",
    master: "a",
  },
  {
    name: "the first sight of two MASTERs proves nothing: one may have been polled before a failover",
    polls: [poll("a", "MASTER", 0), poll("b", "MASTER", 0)],
    state: "changing",
  },
  { name: "two that say MASTER again are a split brain", polls: SPLIT, state: "split_brain" },
  {
    name: "one that says MASTER again proves nothing of the other",
    polls: [poll("a", "MASTER", 0), poll("b", "MASTER", 0), poll("a", "MASTER", 5)],
    state: "changing",
  },
  {
    name: "an answer that was sent for before the change was known proves nothing, however late it arrives",
    polls: [
      poll("a", "MASTER", 0),
      poll("b", "BACKUP", 0),
      poll("b", "MASTER", 5, 5.1),
      poll("b", "MASTER", 6),
      poll("a", "MASTER", 5, 6.5),
    ],
    state: "changing",
  },
  {
    name: "two that are both polled after the change was known, and say MASTER, are a split brain",
    polls: [
      poll("a", "MASTER", 0),
      poll("b", "BACKUP", 0),
      poll("b", "MASTER", 5, 5.1),
      poll("b", "MASTER", 6),
      poll("a", "MASTER", 6),
    ],
    state: "split_brain",
  },
  {
    name: "a member that is no longer MASTER ends a split brain",
    polls: [...SPLIT, poll("b", "BACKUP", 10)],
    state: "one_master",
    master: "a",
  },
  {
    name: "two BACKUPs that were never seen as MASTER have no master",
    polls: [poll("a", "BACKUP", 0), poll("b", "BACKUP", 0)],
    state: "no_master",
  },
  {
    name: "when the master steps down, the other may have taken over since it was polled",
    polls: [poll("a", "MASTER", 0), poll("b", "BACKUP", 0), poll("a", "BACKUP", 5)],
    state: "changing",
  },
  {
    name: "when all were polled after the master stepped down, there is no master",
    polls: [
      poll("a", "MASTER", 0),
      poll("b", "BACKUP", 0),
      poll("a", "BACKUP", 5),
      poll("b", "BACKUP", 6),
      poll("a", "BACKUP", 6),
    ],
    state: "no_master",
  },
  {
    name: "a silent member may be the master",
    polls: [poll("a", "silent", 0), poll("b", "BACKUP", 0)],
    state: "unknown",
  },
])("$name", ({ polls, state, master }) => {
  expect(verdictAfter(polls)).toEqual({ state, master });
});

test("one of a split brain that falls silent may still be MASTER for two minutes, then it counts like any silent one", () => {
  const polls = [...SPLIT, poll("b", "silent", 10)];
  expect(verdictAfter(polls, { second: 129 })).toEqual({ state: "unknown", master: undefined });
  expect(verdictAfter(polls, { second: 130 })).toEqual({ state: "backup_unknown", master: "a" });
});

test("one that falls silent before a split brain is proven leaves one master", () => {
  const polls = [poll("a", "MASTER", 0), poll("b", "MASTER", 0), poll("b", "silent", 5)];
  expect(verdictAfter(polls, { second: 6 })).toEqual({ state: "backup_unknown", master: "a" });
});

test("of three members two that are proven MASTER are a split brain, whatever the third does", () => {
  const members = [MEMBER_A, MEMBER_B, MEMBER_C];
  const stateWith = (...polls: readonly Poll[]) => verdictAfter([...SPLIT, ...polls], { members })?.state;
  expect(stateWith()).toBe("split_brain");
  expect(stateWith(poll("c", "silent", 6))).toBe("split_brain");
  expect(stateWith(poll("c", "MASTER", 6))).toBe("split_brain");
  expect(stateWith(poll("c", "BACKUP", 6), poll("b", "BACKUP", 7), poll("a", "silent", 8))).toBe("unknown");
});

function stateBesideDisabled(...polls: readonly Poll[]): GroupState | undefined {
  return verdictAfter(polls, { hasDisabled: true })?.state;
}

test("with a disabled member there is one master if it is known, a split brain if there is one, and else no verdict", () => {
  expect(stateBesideDisabled(poll("a", "MASTER", 0))).toBe("one_master");
  expect(stateBesideDisabled(poll("a", "MASTER", 0), poll("b", "INIT", 0))).toBe("one_master");
  expect(stateBesideDisabled(poll("a", "BACKUP", 0), poll("b", "BACKUP", 0))).toBeUndefined();
  expect(stateBesideDisabled(poll("a", "silent", 0), poll("b", "BACKUP", 0))).toBeUndefined();
  expect(stateBesideDisabled(...SPLIT)).toBe("split_brain");
});
