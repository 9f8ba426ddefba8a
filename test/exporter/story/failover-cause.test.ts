import { expect, test } from "vitest";
import type { Failover } from "../../../src/exporter/story/incident.ts";
import { MEMBER_A, MEMBER_B, pollsOf } from "../fleet/support.ts";
import { judgedFleet } from "../judge/support.ts";

/** The latest failover of these polls. */
function switchAfter(polls: string): Failover | undefined {
  const take = judgedFleet([MEMBER_A, MEMBER_B]);
  const verdicts = pollsOf(polls).map(({ observation, atMs }) => take(observation, atMs).judged.now);
  return verdicts.at(-1)?.incidents.all.findLast(({ failover }) => failover)?.failover?.latest;
}

/** Who lets go, the cause with its clause, and the evidence with the second at which it was learned. */
function findingOf(polls: string): readonly string[] {
  const { letsGo = "nobody", cause, clause, evidence = [] } = switchAfter(polls)?.causes[0] ?? {};
  const said = evidence.map(({ appliance, said: what, atMs }) => `${atMs / 1000} ${appliance} ${what}`);
  return [`${letsGo}: ${cause}${clause}`, ...said];
}

const PAIR = "a MASTER/110 0, b BACKUP 0";
/** After `a` was away, and until 25, when it takes over again. */
const BACK = "a BACKUP/110 20, b MASTER 20, b BACKUP 25";
const HIGHER = "reported the priority 110, above 100 of b";

test.each([
  [`${PAIR}, b MASTER 5, a FAULT 6`, "a: fault, which reported FAULT", ["6 a reported FAULT"]],
  [
    `${PAIR}, b MASTER 5, a nothing 6`,
    "a: fault, which no longer listed the address",
    ["6 a no longer listed the address"],
  ],
  [
    `${PAIR}, a silent 3 5, b MASTER 6`,
    "a: silent, which stopped answering (timeout)",
    ["5 a stopped answering (timeout)"],
  ],
  [
    `${PAIR}, a MASTER/60 4, b BACKUP 4, b MASTER 6, a BACKUP/60 6`,
    "a: priority, as the priority of a changed from 110 to 60",
    ["4 a changed its priority from 110 to 60"],
  ],
  [
    `${PAIR}, a MASTER/110 4, b BACKUP/120 4, b MASTER/120 6, a BACKUP/110 6`,
    "nobody: priority, as the priority of b changed from 100 to 120",
    ["4 b changed its priority from 100 to 120"],
  ],
  [
    `${PAIR}, a MASTER/90 4, b BACKUP/120 4, b MASTER/120 6, a BACKUP/90 6`,
    "a: priority, as the priority of a changed from 110 to 90 and the priority of b changed from 100 to 120",
    ["4 a changed its priority from 110 to 90", "4 b changed its priority from 100 to 120"],
  ],
  [
    `${PAIR}, a silent 5, b MASTER 6, ${BACK}, a MASTER/110 25`,
    "nobody: preempted; a has the higher priority, and did not answer before",
    ["20 a answered again", `25 a ${HIGHER}`],
  ],
  [
    `${PAIR}, a FAULT/110 5, b MASTER 6, ${BACK}, a MASTER/110 25`,
    "nobody: preempted; a has the higher priority, and reported FAULT before",
    ["5 a reported FAULT", `25 a ${HIGHER}`],
  ],
  [
    `${PAIR}, a nothing 5, b MASTER 6, ${BACK}, a MASTER/110 25`,
    "nobody: preempted; a has the higher priority, and no longer listed the address before",
    ["5 a no longer listed the address", `25 a ${HIGHER}`],
  ],
  [`${PAIR}, b MASTER 5, a BACKUP/110 6`, "a: stepped_down, which stepped down", ["6 a reported BACKUP"]],
  [
    `${PAIR}, a silent 3, a BACKUP/110 4, b MASTER 5`,
    "a: stepped_down, which reported BACKUP when it could be polled again",
    ["4 a reported BACKUP"],
  ],
  [
    `${PAIR}, a refuses 3, b MASTER 5`,
    "nobody: unknown; why is not known, as it cannot be polled (auth)",
    [],
  ],
  [`${PAIR}, b MASTER 5, a garbled 6`, "nobody: unknown; why is not known", []],
])("after %s, it is %s", (polls, finding, evidence) => {
  expect(findingOf(polls)).toEqual([finding, ...evidence]);
});

const FAULT_AT_10 = "a FAULT 10, a refuses 11, b BACKUP 11";
const FAULT_UNTIL_19 = `${PAIR}, a FAULT/110 5, b MASTER 6, a FAULT/110 19, a BACKUP/110 20, b MASTER 20`;
const LOWERED_AT_5 = `${PAIR}, a MASTER/110 4, b BACKUP 4, a MASTER/60 5, b BACKUP 5`;
const BY_HAND = `${PAIR}, a BACKUP/110 5, b MASTER 5`;

test.each([
  ["a fault within 15 s after the takeover", `${PAIR}, b MASTER 5, a FAULT 20`, "fault"],
  ["a fault after that", `${PAIR}, b MASTER 5, a FAULT 20.001`, "unknown"],
  [
    "a fault after the takeover, after it refused the exporter",
    `${PAIR}, b MASTER 5, a refuses 6, a FAULT 7`,
    "unknown",
  ],
  [
    "a fault after the takeover, after another answer",
    `${PAIR}, b MASTER 5, a garbled 6, a FAULT 7`,
    "unknown",
  ],
  [
    "a fault whose poll began when the takeover was seen, after it refused the exporter",
    `${PAIR}, a refuses 4, b MASTER 5, a FAULT 5 6`,
    "fault",
  ],
  ["a fault until 30 s before the takeover", `${PAIR}, ${FAULT_AT_10}, b MASTER 40`, "fault"],
  ["a fault until longer before", `${PAIR}, ${FAULT_AT_10}, b MASTER 40.001`, "unknown"],
  ["a fault that lasted until then", `${PAIR}, a FAULT 1, ${FAULT_AT_10}, b MASTER 40`, "fault"],
  [
    "a fault before its last time as MASTER",
    "a FAULT 0, b BACKUP 0, a MASTER 1, b BACKUP 1, b MASTER 5, a BACKUP 6",
    "stepped_down",
  ],
  ["a fault that is over", `${PAIR}, a FAULT 2, b BACKUP 2, b MASTER 5, a BACKUP 6`, "fault"],
  ["a silence since 30 s before the takeover", `${PAIR}, a silent 5, b MASTER 35`, "silent"],
  ["a silence since longer before", `${PAIR}, a silent 5, b MASTER 35.001`, "unknown"],
  [
    "a fault until longer before, then BACKUP",
    `${PAIR}, a FAULT 3, a BACKUP 4, b BACKUP 4, b MASTER 40`,
    "unknown",
  ],
  ["a silence after it stepped down", `${PAIR}, a BACKUP 3, a silent 4, b MASTER 5`, "stepped_down"],
  [
    "a silence after which it refuses the exporter",
    `${PAIR}, a silent 3, a refuses 4, b MASTER 5`,
    "unknown",
  ],
  ["a silence after it refused the exporter", `${PAIR}, a refuses 3, a silent 4, b MASTER 5`, "silent"],
  ["a silence after the takeover, and nothing before", `${PAIR}, b MASTER 5, a silent 19`, "silent"],
  [
    "a silence after the takeover, after it refused the exporter: a reboot, for example",
    `${PAIR}, b MASTER 5, a refuses 5, a refuses 10, a silent 15, b MASTER 15`,
    "unknown",
  ],
  [
    "a silence after the takeover, after another answer",
    `${PAIR}, b MASTER 5, a garbled 6, a silent 7`,
    "unknown",
  ],
  [
    "a silence after the takeover, after the last answer MASTER came later, too",
    `${PAIR}, b MASTER 4, a MASTER/110 5, a silent 10, b MASTER 10`,
    "unknown",
  ],
  [
    "a silence whose poll began when the takeover was seen, after it refused the exporter",
    `${PAIR}, a refuses 4, b MASTER 5, a silent 5 9`,
    "silent",
  ],
  ["a silence whose poll began later", `${PAIR}, a refuses 4, b MASTER 5, a silent 5.001 9`, "unknown"],
  [
    "a priority that recovers at once",
    `${PAIR}, a MASTER/60 4, b BACKUP 4, a MASTER/110 5, b BACKUP 5, b MASTER 6, a BACKUP/110 6`,
    "priority",
  ],
  [
    "a priority that is seen with the takeover",
    `${PAIR}, a MASTER/110 4, b BACKUP 4, a BACKUP/60 6, b MASTER 6`,
    "priority",
  ],
  [
    "a priority that one poll found, between two of the new master",
    `${PAIR}, a MASTER/110 5, b BACKUP 6, a MASTER/60 10, b MASTER 11, a BACKUP/60 15`,
    "priority",
  ],
  ["a priority of 30 s before the takeover", `${LOWERED_AT_5}, b MASTER 34, a BACKUP/60 34`, "priority"],
  ["a priority of longer before", `${LOWERED_AT_5}, b MASTER 34.001, a BACKUP/60 35`, "stepped_down"],
  [
    "a priority of before the former master was MASTER",
    "a BACKUP/110 0, b MASTER 0, a BACKUP/110 2, b MASTER/120 2, a MASTER/110 4, b BACKUP/120 4, b MASTER/120 8, a BACKUP/110 8",
    "stepped_down",
  ],
  [
    "priorities that change together",
    `${PAIR}, b BACKUP/200 4, a MASTER/210 4, b MASTER/200 6, a BACKUP/210 6`,
    "stepped_down",
  ],
  [
    "a priority that was another one before a silence",
    `${PAIR}, a refuses 4, a MASTER/110 9, a MASTER/60 10, a MASTER/110 11, b BACKUP/105 12, b MASTER/105 13, a BACKUP/110 14`,
    "stepped_down",
  ],
  [
    "a priority of the new master that was not known before",
    "a MASTER 0, b BACKUP/ 0, a MASTER 4, b BACKUP/120 4, b MASTER/120 6, a BACKUP 6",
    "stepped_down",
  ],
  [
    "a priority that the former master got after the takeover",
    `${PAIR}, b MASTER 5, a refuses 6, a BACKUP/60 10`,
    "stepped_down",
  ],
  [
    "a priority that the new master got after the takeover",
    `${PAIR}, b MASTER 5, a garbled 6, b MASTER/120 7`,
    "unknown",
  ],
  ["equal priorities", `${PAIR}, a MASTER 4, b BACKUP 4, b MASTER 6, a BACKUP 6`, "stepped_down"],
  [
    "a priority that was not known before",
    "a MASTER/ 0, b BACKUP 0, a MASTER/60 4, b BACKUP 4, b MASTER 6, a BACKUP/60 6",
    "stepped_down",
  ],
  [
    "the higher priority at once after a silence",
    `${PAIR}, a silent 5, b MASTER 6, a MASTER/110 20, b BACKUP 20`,
    "preempted",
  ],
  [
    "the higher priority 30 s after a silence",
    `${PAIR}, a silent 5, b MASTER 6, ${BACK}, a MASTER/110 50`,
    "preempted",
  ],
  [
    "the higher priority later, after a preempt_delay, or as the other one lets go beside it under nopreempt",
    `${PAIR}, a silent 5, b MASTER 6, ${BACK}, a MASTER/110 50.001`,
    "stepped_down",
  ],
  ["the higher priority 30 s after a fault", `${FAULT_UNTIL_19}, b BACKUP 21, a MASTER/110 49`, "preempted"],
  [
    "the higher priority later than that",
    `${FAULT_UNTIL_19}, b BACKUP 21, a MASTER/110 49.001`,
    "stepped_down",
  ],
  [
    "the higher priority after a silence within 30 s after it stepped down",
    `${BY_HAND}, a silent 35, b MASTER 40, a BACKUP/110 60, b BACKUP 80, a MASTER/110 80`,
    "preempted",
  ],
  [
    "the higher priority that did not preempt, and then was silent",
    `${BY_HAND}, a silent 35.001, b MASTER 40, a BACKUP/110 60, b BACKUP 80, a MASTER/110 80`,
    "stepped_down",
  ],
  [
    "the higher priority when it is seen for the first time after a silence",
    "a silent 0, b MASTER 0, b MASTER 5, a BACKUP/110 10, b MASTER 10, b BACKUP 15, a MASTER/110 15",
    "preempted",
  ],
  [
    "the higher priority while the former master cannot be polled",
    `${PAIR}, a silent 5, b MASTER 6, a BACKUP/110 20, b MASTER 20, b refuses 24, a MASTER/110 25`,
    "unknown",
  ],
  [
    "the higher priority after the former master could not be polled",
    `${PAIR}, a silent 5, b MASTER 6, a BACKUP/110 20, b MASTER 20, b refuses 24, a MASTER/110 25, b BACKUP 26`,
    "stepped_down",
  ],
  [
    "the higher priority, which it got long after its return",
    `${PAIR}, a silent 5, b MASTER 6, a BACKUP/60 20, b MASTER 20, a BACKUP/110 25, b MASTER 59, b BACKUP 60, a MASTER/110 60`,
    "stepped_down",
  ],
  [
    "the higher priority without a silence",
    "b MASTER 0, a BACKUP/110 0, b MASTER 5, a BACKUP/110 5, b BACKUP 15, a MASTER/110 15",
    "stepped_down",
  ],
  [
    "the higher priority after a silence before its last time as MASTER",
    `${PAIR}, a silent 5, b MASTER 6, ${BACK}, a MASTER/110 25, b MASTER 40, a BACKUP/110 40, a MASTER/110 45, b BACKUP 45`,
    "stepped_down",
  ],
  [
    "the higher priority after it refused the exporter",
    `${PAIR}, a refuses 5, b MASTER 6, ${BACK}, a MASTER/110 25`,
    "stepped_down",
  ],
  [
    "the same priority after a silence",
    "a MASTER 0, b BACKUP 0, a silent 5, b MASTER 6, a BACKUP 20, b MASTER 20, b BACKUP 25, a MASTER 25",
    "stepped_down",
  ],
  [
    "a priority that is not known after a silence",
    "a MASTER/ 0, b BACKUP 0, a silent 5, b MASTER 6, a BACKUP/ 20, b MASTER 20, b BACKUP 25, a MASTER/ 25",
    "stepped_down",
  ],
  [
    "a former master's priority that is not known",
    "a MASTER 0, b BACKUP/ 0, a silent 5, b MASTER/ 6, a BACKUP 20, b MASTER/ 20, b BACKUP/ 25, a MASTER 25",
    "stepped_down",
  ],
  ["a fault, a priority and a silence", `${PAIR}, a FAULT/60 4, b BACKUP 4, a silent 5, b MASTER 6`, "fault"],
  ["a priority and a silence", `${PAIR}, a MASTER/60 4, b BACKUP 4, a silent 5, b MASTER 6`, "silent"],
  [
    "a priority that is raised after a silence",
    `${PAIR}, a silent 5, b MASTER 6, a BACKUP/90 20, b MASTER 20, a BACKUP/110 21, b MASTER 21, b BACKUP 25, a MASTER/110 25`,
    "priority",
  ],
  [
    "two groups, of which one is at fault",
    "a MASTER+MASTER 0, b BACKUP+BACKUP 0, b MASTER+MASTER 5, a BACKUP+FAULT 6",
    "fault",
  ],
])("%s: %s", (_, polls, cause) => {
  expect(switchAfter(polls)?.causes[0].cause).toBe(cause);
});

const SILENCES = [2, 4, 6, 8, 10, 12, 14, 16]
  .map((at) => `a silent ${at}, a BACKUP/110 ${at + 1}`)
  .join(", ");

test.each([
  ["a MASTER 0 0.5, b BACKUP 1, a MASTER 3 3.4, b MASTER 5 5.7, a BACKUP 6", 2700, 1350],
  ["a MASTER 0, b BACKUP 0, b MASTER 5, b MASTER/120 6, a BACKUP 7", 5000, 2500],
  ["a MASTER 0, b BACKUP 0, b MASTER 5, a MASTER 6, a BACKUP 7", 0, 0],
  [
    "a MASTER+MASTER 0, b BACKUP+BACKUP 0, a MASTER+BACKUP 2, b MASTER+MASTER 5, a BACKUP+BACKUP 6",
    5000,
    2500,
  ],
  [`${PAIR}, a MASTER 1, a BACKUP 2 2.5, b BACKUP 4, b MASTER 5 5.2`, 4200, 2850],
  [`${PAIR}, b BACKUP 3, b MASTER 4, a silent 1 5`, 4000, 3000],
  [`${PAIR}, b BACKUP 3, b refuses 4, b MASTER 5, a BACKUP 6`, 5000, 2500],
  [`${PAIR}, a silent 1, b BACKUP 30, b MASTER 31`, 31_000, 30_000],
  [`${PAIR}, a silent 1, b BACKUP 30, b MASTER 32`, 32_000, undefined],
  // The exporter remembers no MASTER of `a`.
  [`${PAIR}, b refuses 1, ${SILENCES}, b MASTER 40`, undefined, undefined],
])(
  "after %s, nobody was MASTER for %s ms at most, from the last answer of the one to the first of the other, and for about %s ms",
  (polls, atMostMs, aboutMs) => {
    const { withoutMaster } = switchAfter(polls) ?? {};
    expect([withoutMaster?.atMostMs, withoutMaster?.aboutMs]).toEqual([atMostMs, aboutMs]);
  },
);
