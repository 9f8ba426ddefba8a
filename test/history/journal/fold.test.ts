import { expect, test } from "vitest";
import { createFold } from "../../../src/history/journal/fold.ts";
import {
  formatRecord,
  parseRecord,
  type JournalRecord,
  type SubjectRecord,
} from "../../../src/history/journal/record.ts";

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();

function run(seconds: number, why: "start" | "day" | "gap"): JournalRecord {
  return { at: at(seconds), kind: "run", v: 1, why, version: "1.0.0", shard: "0/1" };
}

function group(seconds: number, state?: string): SubjectRecord {
  return {
    at: at(seconds),
    kind: "group",
    cluster: "ams",
    vhid: 2,
    vip: "192.0.2.100",
    ...(state && { state }),
  };
}

const alive = (seconds: number): JournalRecord => ({ at: at(seconds), kind: "alive" });

/** The states that are known, and the seconds from and to which they are. */
function known(records: readonly JournalRecord[]): readonly string[] {
  const all: string[] = [];
  const fold = createFold(({ state }, fromMs, toMs) => all.push(`${state} ${fromMs / 1000} ${toMs / 1000}`));
  for (const each of records) fold.read(each);
  fold.end();
  return all;
}

test.each<readonly [string, readonly JournalRecord[], readonly string[]]>([
  [
    "a state lasts until the next one",
    [run(0, "start"), group(1, "one_master"), group(5, "no_master"), alive(9)],
    ["one_master 1 5", "no_master 5 9"],
  ],
  [
    "a record of the same state changes nothing",
    [group(1, "one_master"), group(5, "one_master"), alive(9)],
    ["one_master 1 9"],
  ],
  [
    "a group that changes was from the beginning in what it becomes",
    [group(1, "one_master"), group(5, "changing"), group(7, "no_master"), alive(9)],
    ["one_master 1 5", "no_master 5 9"],
  ],
  ["a group that changes and was never seen again is unknown", [group(1, "changing"), alive(9)], []],
  [
    "nothing is known from the latest record until a start",
    [group(1, "one_master"), alive(5), run(60, "start"), group(62, "one_master"), alive(64)],
    ["one_master 1 5", "one_master 62 64"],
  ],
  [
    "nothing is known behind a gap",
    [group(1, "one_master"), alive(5), run(60, "gap"), group(60, "no_backup"), alive(64)],
    ["one_master 1 5", "no_backup 60 64"],
  ],
  [
    "a new day that follows goes on",
    [group(1, "one_master"), alive(5), run(5, "day"), group(5, "one_master"), alive(9)],
    ["one_master 1 9"],
  ],
  [
    "unknown, no and future states are not known",
    [
      group(1, "one_master"),
      group(2, "unknown"),
      group(3, "no_backup"),
      group(4),
      group(5, "one_master"),
      group(6, "of_a_later_version"),
      alive(9),
    ],
    ["one_master 1 2", "no_backup 3 4", "one_master 5 6"],
  ],
  [
    "what was known first stays where time goes back",
    [
      group(10, "one_master"),
      alive(20),
      run(15, "gap"),
      group(15, "no_master"),
      group(18, "one_master"),
      alive(30),
    ],
    ["one_master 10 20", "one_master 20 30"],
  ],
])("%s", (_, records, expected) => {
  expect(known(records)).toEqual(expected);
});

test("a line of a later version is no record, unless it says which states are known", () => {
  const line = formatRecord(group(1, "one_master"));
  expect(parseRecord(line)).toEqual(group(1, "one_master"));
  expect(parseRecord('{"at":"2026-11-26T00:00:00.000Z","kind":"later"}')).toBeUndefined();
  expect(parseRecord('{"at":"2026-11-26T00:00:00.000Z","kind":"window","id":5}')).toBeUndefined();
  const damage = { at: at(1), kind: "run", v: 1, why: "damage" };
  expect(parseRecord(line.replace('"vhid":2', '"vhid":"two"'))).toEqual(damage);
  expect(parseRecord(formatRecord(run(1, "start")).replace('"v":1', '"v":[]'))).toEqual(damage);
});

test("a run for a reason that is not known ends what was known, and it need not name a version or a shard", () => {
  const text = `{"at":"${at(5)}","kind":"run","v":2,"why":"moved"}`;
  const later = parseRecord(text) ?? alive(5);
  expect(known([group(1, "one_master"), alive(5), later, alive(9)])).toEqual(["one_master 1 5"]);
});
