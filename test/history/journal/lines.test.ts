import { expect, test } from "vitest";
import { createLineReader, sealed, unsealed } from "../../../src/history/journal/lines.ts";
import { formatRecord } from "../../../src/history/journal/record.ts";
import { alive, group, run } from "../report/records.ts";

const DAY = "2026-10-01";
const RUN = formatRecord(run(0, "start"));
const UP = formatRecord(group(10, "one_master"));
const DOWN = formatRecord(group(20, "no_master"));
const ALIVE = formatRecord(alive(30));

const whole = [RUN, UP, DOWN, ALIVE].map(sealed);

/** What a reader makes of lines: the records, in short, and the damage. */
function readAs(lines: readonly string[], latest = ""): readonly string[] {
  const reader = createLineReader(DAY, { latest });
  const records = lines.flatMap(reader.read).map((line) => {
    const { at, kind, why = "", state = "" } = JSON.parse(line);
    return `${Date.parse(at) / 1000 - Date.parse(DAY) / 1000} ${kind} ${why}${state}`.trimEnd();
  });
  const damage = reader.damage();
  return damage === undefined ? records : [...records, damage.message];
}

test("a line gets its number and a checksum, and gives them back", () => {
  expect(whole[1]).toBe(`${UP.slice(0, -1)},"n":1,"sum":"${whole[1]?.slice(-10, -2)}"}`);
  expect(JSON.parse(whole[1] ?? "")).toMatchObject({ kind: "group", n: 1 });
  expect(whole.map(unsealed)).toEqual([RUN, UP, DOWN, ALIVE].map((line, nth) => ({ line, nth })));
  expect(unsealed(UP)).toBe("absent");
});

test.each<readonly [string, readonly string[], readonly string[]]>([
  ["whole lines", whole, ["0 run start", "10 group one_master", "20 group no_master", "30 alive"]],
  [
    "lines of an earlier version",
    [RUN, UP, DOWN, ALIVE],
    ["0 run start", "10 group one_master", "20 group no_master", "30 alive"],
  ],
  [
    "a changed letter",
    whole.map((line) => line.replace("no_master", "one_master")),
    ["0 run start", "10 group one_master", "30 run damage", "30 alive", "damaged or missing: line 3"],
  ],
  [
    "a missing line",
    whole.filter((_, nth) => nth !== 2),
    ["0 run start", "10 group one_master", "30 run damage", "30 alive", "damaged or missing: line 3"],
  ],
  [
    "a line twice",
    [...whole.slice(0, 3), ...whole.slice(1)],
    ["0 run start", "10 group one_master", "20 group no_master", "10 run damage"].concat([
      "10 group one_master",
      "20 group no_master",
      "30 alive",
      "damaged or missing: line 4",
    ]),
  ],
  [
    "a begin that is missing",
    whole.slice(2),
    ["20 run damage", "20 group no_master", "30 alive", "damaged or missing: line 1"],
  ],
  [
    "a begin that is damaged",
    whole.map((line) => line.replace("start", "stort")),
    ["10 run damage", "10 group one_master", "20 group no_master", "30 alive", "damaged or missing: line 1"],
  ],
  [
    "a damaged line behind those of an earlier version",
    [RUN, UP, ...whole.map((line) => line.replace("no_master", "one_master"))],
    ["0 run start", "10 group one_master", "0 run start", "10 group one_master"].concat([
      "30 run damage",
      "30 alive",
      "damaged or missing: line 5",
    ]),
  ],
  [
    "a line whose checksum is gone, behind others that have one",
    [...whole.slice(0, 2), DOWN, ...whole.slice(3)],
    ["0 run start", "10 group one_master", "30 run damage", "30 alive", "damaged or missing: line 3"],
  ],
  [
    "an earlier version that goes on after a later one, and the later one again",
    [...whole, RUN, UP, sealed(RUN, 0), sealed(ALIVE, 1)],
    ["0 run start", "10 group one_master", "20 group no_master", "30 alive"].concat([
      "0 run start",
      "10 group one_master",
      "0 run start",
      "30 alive",
    ]),
  ],
  [
    "damaged lines of an earlier version",
    [RUN, UP.slice(0, -9), "", "\0\0\0", UP.replace("group", "groip"), DOWN.replace("10-01", "10-03"), ALIVE],
    ["0 run start", "30 run damage", "30 alive", "damaged or missing: lines 2, 3, 4, 5, 6"],
  ],
  [
    "an instant of another day",
    [RUN, formatRecord(group(86_401, "one_master")), ALIVE].map(sealed),
    ["0 run start", "30 run damage", "30 alive", "damaged or missing: line 2"],
  ],
  [
    "a later kind of record, which no damage could be",
    [RUN, '{"at":"2026-10-01T00:00:05.000Z","kind":"later"}', ALIVE].map(sealed),
    ["0 run start", "5 later", "30 alive"],
  ],
])("%s", (_, lines, expected) => {
  expect(readAs(lines)).toEqual(expected);
});

test("a new day goes on from the line before it at the same instant, and is a gap behind any other", () => {
  const day = [formatRecord(run(0, "day")), UP].map(sealed);
  const midnight = `${DAY}T00:00:00.000Z`;
  expect(readAs(day, midnight)).toEqual(["0 run day", "10 group one_master"]);
  expect(readAs(day, "2026-09-30T23:59:58.000Z")).toEqual(["0 run gap", "10 group one_master"]);
  expect(readAs(day)).toEqual(["0 run gap", "10 group one_master"]);
});
