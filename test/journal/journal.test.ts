import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { MEMBER_A, MEMBER_B } from "../fleet/support.ts";
import { DAY_MS, folderPath, linesIn, NOON_MS, startRun, storageAt } from "./support.ts";

const MEMBERS = [MEMBER_A, MEMBER_B];
/** Eight seconds before midnight. */
const EVENING_MS = Date.parse("2026-11-26T23:59:52.000Z");
/** A group loses its backup and has it again, more often than it has lines. */
const FLAPS = Array.from(
  { length: 1010 },
  (_, nth) => `b ${nth % 2 === 0 ? "nothing" : "BACKUP"} ${4 + nth / 1000}`,
).join(", ");

/** Each line in short: the second of the run, its kind, and what it says of the group or the run. */
async function shortLines(folder: string, beginMs: number): Promise<readonly string[]> {
  return (await linesIn(folder)).flatMap((line) => {
    const { at, kind, state, why, lines } = JSON.parse(line);
    const second = (Date.parse(at) - beginMs) / 1000;
    return ["run", "alive", "left", "group"].includes(kind)
      ? [[second, kind, why ?? lines ?? state].join(" ").trimEnd()]
      : [];
  });
}

test("a line says what changed, and the last one until when everything was judged", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  run.poll("b MASTER 6, a BACKUP 6");
  await run.step(8);
  await run.step(12);
  expect(await linesIn(folder)).toEqual([
    '{"at":"2026-11-26T12:00:04.000Z","kind":"run","v":1,"why":"start","version":"1.2.3","shard":"0/1"}',
    '{"at":"2026-11-26T12:00:04.000Z","kind":"cluster","cluster":"ams","state":"up","worst":"up"}',
    '{"at":"2026-11-26T12:00:04.000Z","kind":"appliance","cluster":"ams","appliance":"a","state":"up"}',
    '{"at":"2026-11-26T12:00:04.000Z","kind":"appliance","cluster":"ams","appliance":"b","state":"up"}',
    '{"at":"2026-11-26T12:00:04.000Z","kind":"group","cluster":"ams","vhid":2,"vip":"192.0.2.100","state":"one_master","master":"a","isPreferredMaster":true}',
    '{"at":"2026-11-26T12:00:04.000Z","kind":"readiness","cluster":"ams","appliance":"a","state":"ready"}',
    '{"at":"2026-11-26T12:00:04.000Z","kind":"alive"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"cluster","cluster":"ams","state":"up","worst":"changing"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"group","cluster":"ams","vhid":2,"vip":"192.0.2.100","state":"changing","since":"2026-11-26T12:00:06.000Z","latestMaster":"a"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"readiness","cluster":"ams","appliance":"a","state":"unknown","since":"2026-11-26T12:00:06.000Z"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"readiness","cluster":"ams","appliance":"b","state":"unknown","since":"2026-11-26T12:00:06.000Z"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"cluster","cluster":"ams","state":"up","worst":"up"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"group","cluster":"ams","vhid":2,"vip":"192.0.2.100","state":"one_master","since":"2026-11-26T12:00:06.000Z","master":"b","isPreferredMaster":true}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"readiness","cluster":"ams","appliance":"b","state":"ready","since":"2026-11-26T12:00:06.000Z"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"readiness","cluster":"ams","appliance":"a","state":"gone"}',
    '{"at":"2026-11-26T12:00:06.000Z","kind":"incident","cluster":"ams","incident":{"id":"QNKA08NvP2d5","kind":"failover","severity":"warning","cluster":"ams","begin":"2026-11-26T12:00:06.000Z","end":"2026-11-26T12:00:06.000Z","summary":"b took over 192.0.2.100 (vhid 2) of ams from a, which stepped down. No known master for at most 5 s","subjects":["192.0.2.100 (vhid 2)"],"failover":{"from":"a","to":"b","cause":"stepped_down","evidence":[{"appliance":"a","said":"reported BACKUP","at":"2026-11-26T12:00:06.000Z"}],"withoutMasterAtMostSeconds":5,"addresses":1,"isPartial":false}}}',
    '{"at":"2026-11-26T12:00:12.000Z","kind":"alive"}',
  ]);
  await run.kill();
});

test("what is judged while the first lines are written follows them", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  const step = run.step(4);
  run.poll("b MASTER 5, a BACKUP 5");
  await step;
  await run.step(8);
  await run.kill();
  const masters = (await linesIn(folder)).map((line): unknown => JSON.parse(line).master);
  expect(masters.filter((master) => master !== undefined)).toEqual(["b"]);
});

test("a day ends at midnight, and the next one begins with the state of everything", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: EVENING_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  run.poll("b nothing 6");
  await run.step(8);
  run.poll("b BACKUP 9");
  await run.step(12);
  await run.kill();
  await eventually(async () =>
    expect(await readdir(folder)).toEqual(["2026-11-26.jsonl.gz", "2026-11-27.jsonl"]),
  );
  expect(await shortLines(folder, EVENING_MS)).toEqual([
    "4 run start",
    "4 group one_master",
    "4 alive",
    "6 group no_backup",
    "8 alive",
    "8 run day",
    "8 group no_backup",
    "8 alive",
    "9 group one_master",
    "12 alive",
  ]);
});

test("what changes between midnight and the first step of a day has no state before its line", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: EVENING_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  run.poll("b nothing 6, b BACKUP 9");
  await run.step(12);
  await run.kill();
  expect((await shortLines(folder, EVENING_MS)).slice(-4)).toEqual([
    "8 alive",
    "8 run day",
    "9 group one_master",
    "12 alive",
  ]);
});

test("after a gap, a subject that had all its lines today stays unknown", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  run.poll(FLAPS);
  await run.step(8);
  await run.step(60);
  await run.kill();
  expect((await shortLines(folder, NOON_MS)).slice(-3)).toEqual(["8 alive", "60 run gap", "60 alive"]);
});

test("a step that comes late is a gap, and so is a clock that is set back", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  await run.step(60);
  run.setClock(-30_000);
  await run.step(64);
  await run.kill();
  expect(await shortLines(folder, NOON_MS)).toEqual([
    "4 run start",
    "4 group one_master",
    "4 alive",
    "60 run gap",
    "60 group one_master",
    "60 alive",
    "34 run gap",
    "34 group one_master",
    "34 alive",
  ]);
});

test("a subject that flaps has a thousand lines a day, and is unknown from then on", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: EVENING_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  run.poll(FLAPS);
  await run.step(8);
  await run.kill();
  const groups = (await shortLines(folder, EVENING_MS)).filter((line) => !/run|alive/.test(line));
  expect(groups).toHaveLength(1001);
  expect(groups.slice(-4)).toEqual([
    "4.996 group no_backup",
    "4.997 group one_master",
    "4.998 group",
    "8 group one_master",
  ]);
});

test("old days are compressed, and removed when they are too old or too large together", async () => {
  const folder = await folderPath();
  const storage = storageAt(folder, { retentionMs: 3 * DAY_MS });
  for (let day = 0; day < 6; day += 1) {
    const run = await startRun(storage, { members: MEMBERS, beginMs: NOON_MS + day * DAY_MS });
    run.poll("a MASTER 1, b BACKUP 1");
    await run.step(4);
    await eventually(async () =>
      expect((await readdir(folder)).filter((name) => name.endsWith(".jsonl"))).toHaveLength(1),
    );
    await run.kill();
  }
  await eventually(async () =>
    expect(await readdir(folder)).toEqual([
      "2026-11-28.jsonl.gz",
      "2026-11-29.jsonl.gz",
      "2026-11-30.jsonl.gz",
      "2026-12-01.jsonl",
    ]),
  );
  const small = await startRun(
    { ...storage, retentionBytes: 1500 },
    { members: MEMBERS, beginMs: NOON_MS + 5 * DAY_MS },
  );
  await small.step(4);
  await eventually(async () => expect(await readdir(folder)).not.toContain("2026-11-28.jsonl.gz"));
  await small.kill();
});
