import { expect, test } from "vitest";
import type { Answer } from "../../../src/exporter/fleet/answers.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, pollsOf } from "./support.ts";

/** The answers of `a` in the groups after these polls; a group stays while `b` lists it. */
function answersAfter(polls: string): readonly (readonly Answer[])[] {
  const fleet = fleetOf([MEMBER_A, MEMBER_B]);
  for (const { observation, atMs } of pollsOf(`b BACKUP+BACKUP 0, ${polls}`)) fleet.record(observation, atMs);
  const groups = clustersOf(fleet)[0]?.groups ?? [];
  return groups.map(({ members, left }) => {
    return [...members, ...left].find(({ appliance }) => appliance === "a")?.answers ?? [];
  });
}

/** `master MASTER 100 0-5 after 3 (lost 4)`: seconds, from the beginning of the first poll to the end of the latest one. */
function runLine({ role, state, priority, first, last, after }: Answer): string {
  const said = [role, state, priority].join(" ").trim();
  const lost = after?.lostSinceMs === undefined ? "" : ` (lost ${after.lostSinceMs / 1000})`;
  const silence = after === undefined ? "" : ` after ${after.sinceMs / 1000}${lost}`;
  return `${said} ${first.sentMs / 1000}-${last.endedMs / 1000}${silence}`;
}

const seconds = Array.from({ length: 8 }, (_, nth) => nth + 1);
const said = (states: readonly string[]): string => states.map((each, nth) => `a ${each} ${nth}`).join(", ");

test.each([
  ["equal answers are one run", "a MASTER 0 0.5, a MASTER 1, a MASTER 2", ["master MASTER 100 0-0.5"]],
  [
    "a run that is over knows its latest poll",
    "a MASTER 0 0.5, a MASTER 1, a MASTER 2, a BACKUP 3 3.2",
    ["master MASTER 100 0-2", "backup BACKUP 100 3-3.2"],
  ],
  [
    "another priority is another run",
    "a MASTER 0, a MASTER/90 1",
    ["master MASTER 100 0-0", "master MASTER 90 1-1"],
  ],
  ["another odd state is one too", "a FAULT 0, a INIT 1", ["other FAULT 100 0-0", "other INIT 100 1-1"]],
  [
    "polls that found nobody are a silence",
    "a MASTER 0, a silent 1 1.5, a silent 2, a MASTER 3",
    ["master MASTER 100 0-0", "master MASTER 100 3-3 after 1.5 (lost 1.5)"],
  ],
  [
    "a silence without such polls is known too",
    "a MASTER 0, a refuses 1, a MASTER 2",
    ["master MASTER 100 0-0", "master MASTER 100 2-2 after 1"],
  ],
  [
    "a silence may be lost later",
    "a MASTER 0, a refuses 1, a silent 2, a refuses 3, a MASTER 4",
    ["master MASTER 100 0-0", "master MASTER 100 4-4 after 1 (lost 2)"],
  ],
  [
    "the next silence is another one",
    "a MASTER 0, a silent 1, a MASTER 2, a refuses 3, a MASTER 4",
    ["master MASTER 100 0-0", "master MASTER 100 2-2 after 1 (lost 1)", "master MASTER 100 4-4 after 3"],
  ],
  [
    "the first answer may be after a silence",
    "a silent 0, a MASTER 1",
    ["master MASTER 100 1-1 after 0 (lost 0)"],
  ],
  [
    "an answer without the group is a run",
    "a MASTER 0, a nothing 1, a nothing 2, a BACKUP 3",
    ["master MASTER 100 0-0", "absent 1-2", "backup BACKUP 100 3-3"],
  ],
  [
    "an interface that is not readable keeps its priority",
    "a MASTER 0, a garbled 1",
    ["master MASTER 100 0-0", "unknown  100 1-1"],
  ],
  [
    "so does one without a priority, until it is not listed",
    "a MASTER/ 0, a garbled 1, a nothing 2",
    ["master MASTER 0-0", "unknown 1-1", "absent 2-2"],
  ],
  [
    "of nine runs, two that say the same of MASTER become one without a priority",
    said(["MASTER", ...seconds.map((nth) => `BACKUP/${nth}`)]),
    [
      "master MASTER 100 0-0",
      "backup BACKUP 1-2",
      ...seconds.slice(2).map((nth) => `backup BACKUP ${nth} ${nth}-${nth}`),
    ],
  ],
  [
    "the silence before the first of these stays",
    `a silent 0, ${said([1, 2, 3, 4, 5, 6, 7, 8, 9].map((nth) => `BACKUP/${nth}`))}`,
    [
      "backup BACKUP 0-1 after 0 (lost 0)",
      ...seconds.slice(1).map((nth) => `backup BACKUP ${nth + 1} ${nth}-${nth}`),
    ],
  ],
  [
    "runs are not joined across a silence",
    `a BACKUP/0 0, ${seconds.map((nth) => `a refuses ${nth}, a BACKUP/${nth} ${nth}.5`).join(", ")}`,
    seconds.map((nth) => `backup BACKUP ${nth} ${nth}.5-${nth}.5 after ${nth}`),
  ],
  [
    "where each run changes MASTER, the oldest is forgotten",
    said([0, ...seconds].map((nth) => (nth % 2 === 0 ? "MASTER" : "BACKUP"))),
    seconds.map((nth) => `${nth % 2 === 0 ? "master MASTER" : "backup BACKUP"} 100 ${nth}-${nth}`),
  ],
  [
    "so it is where only the two latest say the same",
    said([...seconds.map((nth) => (nth % 2 === 0 ? "BACKUP" : "MASTER")), "BACKUP/90"]),
    [
      ...seconds
        .slice(1)
        .map((nth) => `${nth % 2 === 0 ? "backup BACKUP" : "master MASTER"} 100 ${nth - 1}-${nth - 1}`),
      "backup BACKUP 90 8-8",
    ],
  ],
])("%s", (_, polls, runs) => {
  expect(answersAfter(polls)[0]?.map(runLine)).toEqual(runs);
});

test.each([
  ["a MASTER+MASTER 0, a BACKUP+BACKUP 1", true],
  ["a MASTER+BACKUP 0, a BACKUP+BACKUP 1", false],
  ["a MASTER+MASTER 0, a MASTER+MASTER/90 1", false],
  ["a MASTER+MASTER 0, a INIT+FAULT 1", false],
])("groups of which all was the same share their answers: %s", (polls, areShared) => {
  const [one, other] = answersAfter(polls);
  expect(one === other).toBe(areShared);
});

test("an answer that says the same leaves the answers of each group the same object", () => {
  const fleet = fleetOf([MEMBER_A, MEMBER_B]);
  const [first, ...others] = pollsOf("a MASTER+BACKUP 0, a MASTER+INIT 1, a MASTER+INIT 2").map(
    ({ observation, atMs }) => {
      fleet.record(observation, atMs);
      return clustersOf(fleet)[0]?.groups.map(({ members }) => members[0]?.answers);
    },
  );
  expect(others.map((each) => each?.[0] === first?.[0])).toEqual([true, true]);
  expect(others[1]?.[1]).toBe(others[0]?.[1]);
  expect(others[0]?.[1]).not.toBe(first?.[1]);
});
