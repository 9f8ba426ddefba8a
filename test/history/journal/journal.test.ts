import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compressDay } from "../../../src/history/journal/day-files.ts";
import { createJournal, type Begin, type JournalStep } from "../../../src/history/journal/journal.ts";
import { sealed } from "../../../src/history/journal/lines.ts";
import { formatRecord, type JournalRecord } from "../../../src/history/journal/record.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import { MEMBER_A, MEMBER_B } from "../../exporter/fleet/support.ts";
import { DAY_MS, folderPath, linesIn, NOON_MS, startRun, storageAt } from "./support.ts";

const MEMBERS = [MEMBER_A, MEMBER_B];
/** Eight seconds before midnight. */
const EVENING_MS = Date.parse("2026-11-26T23:59:52.000Z");
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
    '{"at":"2026-11-26T12:00:06.000Z","kind":"incident","cluster":"ams","incident":{"id":"QNKA08NvP2d5","kind":"failover","severity":"warning","cluster":"ams","begin":"2026-11-26T12:00:06.000Z","end":"2026-11-26T12:00:06.000Z","summary":"b took over 192.0.2.100 (vhid 2) from a, which stepped down. No known master for at most 5 s","subjects":["192.0.2.100 (vhid 2)"],"failover":{"from":"a","to":"b","cause":"stepped_down","evidence":[{"appliance":"a","said":"reported BACKUP","at":"2026-11-26T12:00:06.000Z"}],"withoutMasterAboutSeconds":2.5,"withoutMasterAtMostSeconds":5,"addresses":1,"isPartial":false}}}',
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
    expect(await readdir(folder)).toEqual(["2026-11-26.jsonl.gz", "2026-11-27.jsonl", "ongoing.jsonl"]),
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

test("a clock that is set back by two seconds just behind midnight leaves no line out of its day", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: EVENING_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  await run.step(8);
  run.setClock(-2000);
  run.poll("b MASTER 9, a BACKUP 9");
  // The next step is later than the one before, so nothing is unknown between.
  await run.step(12);
  const lines = await linesIn(folder);
  expect(lines.filter((line) => line.includes("damage"))).toEqual([]);
  expect(lines.filter((line) => line.includes('"kind":"incident"'))).toEqual([
    expect.stringMatching(/^\{"at":"2026-11-27T00:00:00\.000Z"/),
  ]);
});

test("what goes on by a step during a write is written too", async () => {
  const folder = await folderPath();
  const clock = { wallMs: () => NOON_MS, monotonicMs: () => 0 };
  const journal = createJournal(storageAt(folder), { clock, ...createMemoryLog() });
  const at = new Date(NOON_MS).toISOString();
  const stepWith = (cluster: string, meanwhile: () => void): JournalStep => ({
    atMs: NOON_MS,
    seenMs: NOON_MS,
    isContinuous: true,
    isOngoingChanged: true,
    state: () => Promise.resolve([{ at, kind: "run", v: 1, why: "start" }]),
    ongoing: () => {
      meanwhile();
      return Promise.resolve([
        { at, kind: "lost", cluster },
        { at, kind: "alive" },
      ]);
    },
  });
  await journal.flush(stepWith("ams", () => void journal.flush(stepWith("fra", () => {}))));
  expect(await readFile(join(folder, "ongoing.jsonl"), "utf8")).toContain('"cluster":"fra"');
  await journal.stop();
});

test("old days are compressed, and removed when they are too old or too large together", async () => {
  const folder = await folderPath();
  const storage = storageAt(folder, { retentionMs: 3 * DAY_MS });
  for (let day = 0; day < 6; day += 1) {
    const run = await startRun(storage, { members: MEMBERS, beginMs: NOON_MS + day * DAY_MS });
    run.poll("a MASTER 1, b BACKUP 1");
    await run.step(4);
    await eventually(async () =>
      expect((await readdir(folder)).filter((name) => /^\d.*jsonl$/.test(name))).toHaveLength(1),
    );
    await run.kill();
  }
  await eventually(async () =>
    expect(await readdir(folder)).toEqual([
      "2026-11-28.jsonl.gz",
      "2026-11-29.jsonl.gz",
      "2026-11-30.jsonl.gz",
      "2026-12-01.jsonl",
      "ongoing.jsonl",
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

test("what goes on cannot be written: the log says so, and old days are compressed all the same", async () => {
  const folder = await folderPath();
  await mkdir(join(folder, "ongoing.jsonl"), { recursive: true });
  await writeFile(join(folder, "2026-11-20.jsonl"), "");
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  await run.step(4);
  await eventually(async () => expect(await readdir(folder)).toContain("2026-11-20.jsonl.gz"));
  expect(run.log.lines).toMatchObject([{ detail: expect.stringMatching(/^EISDIR/) }]);
  await run.kill();
});

test("a run that is stopped during a step writes what was judged until then", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  const step = run.step(8);
  run.poll("b nothing 9");
  await run.stop();
  await step;
  expect((await shortLines(folder, NOON_MS)).slice(-2)).toEqual(["9 group no_backup", "9 alive"]);
});

test("a day whose compressed file ends within a line goes on in the next file without damage", async () => {
  const folder = await folderPath();
  await mkdir(folder);
  const day = "2026-11-26";
  const at = `${day}T11:00:00.000Z`;
  const text = [
    formatRecord({ at, kind: "run", v: 1, why: "start" }),
    formatRecord(groupAt(NOON_MS, "one_master")),
  ]
    .map((line, nth) => `${sealed(line, nth)}\n`)
    .join("");
  await writeFile(join(folder, `${day}.jsonl`), text.slice(0, -30));
  await compressDay(folder, day);
  await writeFile(join(folder, `${day}.jsonl`), text);
  await compressDay(folder, day);
  expect((await linesIn(folder)).map((line) => JSON.parse(line).kind)).toEqual(["run", "run", "group"]);
});

test("a kill while a day is compressed loses no line, and a damaged day keeps no other from being compressed", async () => {
  const folder = await folderPath();
  const path = (name: string): string => join(folder, name);
  const first = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1");
  await first.step(4);
  await first.kill();
  const lines = await linesIn(folder);
  const plain = await readFile(path("2026-11-26.jsonl"));
  await compressDay(folder, "2026-11-26");
  await writeFile(path("2026-11-26.jsonl"), plain);
  await writeFile(path("2026-11-26.jsonl.gz.6f1e-2.tmp"), "half of it");
  // They say twice the same, of the same instants.
  expect(await linesIn(folder)).toEqual([...lines, ...lines]);
  await writeFile(path("2026-11-25.jsonl.gz"), "damaged");
  await writeFile(path("2026-11-25.jsonl"), "");
  await utimes(path("2026-11-25.jsonl"), 0, 0);
  const second = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS + DAY_MS });
  await second.step(4);
  await eventually(async () => expect(await readdir(folder)).not.toContain("2026-11-26.jsonl"));
  await second.kill();
  expect(new Set((await linesIn(folder)).filter((line) => line.includes("2026-11-26")))).toEqual(
    new Set(lines),
  );
  expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/tmp$/));
  expect(second.log.lines).toMatchObject([
    { path: path("2026-11-25.jsonl"), detail: "incorrect header check" },
  ]);
});

const NOTHING_GOES_ON = { ongoing: async () => [], isOngoingChanged: false };

const state = async ({ why }: Begin, atMs: number): Promise<readonly JournalRecord[]> => [
  { at: new Date(atMs).toISOString(), kind: "run", v: 1, why, version: "1.2.3", shard: "0/1" },
];

/** A journal whose steps the test takes, without an exporter. */
function startJournal(folder: string, { logger } = createMemoryLog()) {
  let nowMs = NOON_MS;
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs };
  const journal = createJournal(storageAt(folder), { clock, logger });
  return {
    ...journal,
    step: (seconds = 4): Promise<void> => {
      nowMs += seconds * 1000;
      return journal.flush({ atMs: nowMs, seenMs: nowMs, isContinuous: true, state, ...NOTHING_GOES_ON });
    },
  };
}

function groupAt(atMs: number, group: string): JournalRecord {
  const subject = { kind: "group", cluster: "ams", vhid: 2, vip: "192.0.2.100" } as const;
  return { at: new Date(atMs).toISOString(), ...subject, state: group };
}

test("what changes while the first lines are written is written as it was, and as it became", async () => {
  const folder = await folderPath();
  const nowMs = NOON_MS;
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs };
  const journal = createJournal(storageAt(folder), { clock, ...createMemoryLog() });
  journal.record(groupAt(nowMs - 1000, "one_master"));
  await journal.flush({
    atMs: nowMs,
    seenMs: nowMs,
    isContinuous: true,
    ...NOTHING_GOES_ON,
    state: async (begin, atMs) => {
      journal.record(groupAt(nowMs + 10, "no_master"));
      return [...(await state(begin, atMs)), groupAt(atMs, "one_master")];
    },
  });
  await journal.flush({
    atMs: nowMs + 4000,
    seenMs: nowMs + 4000,
    isContinuous: true,
    ...NOTHING_GOES_ON,
    state,
  });
  await journal.stop();
  expect(await shortLines(folder, NOON_MS)).toEqual([
    "0 run start",
    "0 group one_master",
    "0 alive",
    "0.01 group no_master",
    "4 alive",
  ]);
});

test("a run whose begin cannot be written for an hour takes nothing from the bounds of a cluster", async () => {
  const folder = await folderPath();
  const today = join(folder, "2026-11-26.jsonl");
  let nowMs = NOON_MS;
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs };
  const journal = createJournal(storageAt(folder), { clock, ...createMemoryLog() });
  let isBroken = true;
  for (let tries = 0; tries < 150; tries += 1) {
    nowMs += 24_000;
    isBroken = tries < 149;
    await journal.flush({
      atMs: nowMs,
      seenMs: nowMs,
      isContinuous: true,
      state: async (begin, atMs) => {
        if (isBroken) await rm(today);
        return [...(await state(begin, atMs)), groupAt(atMs, "x".repeat(20_000))];
      },
      ...NOTHING_GOES_ON,
    });
  }
  await journal.stop();
  const lines = (await shortLines(folder, NOON_MS)).map((line) => line.slice(0, 30));
  expect(lines).toEqual(["3600 run start", `3600 group ${"x".repeat(19)}`, "3600 alive"]);
});

test("the file of today is removed: another one begins, after a gap", async () => {
  const folder = await folderPath();
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  await rm(join(folder, "2026-11-26.jsonl"));
  for (const second of [8, 12, 16]) await run.step(second);
  await run.kill();
  expect((await shortLines(folder, NOON_MS)).slice(0, 2)).toEqual(["12 run gap", "12 group one_master"]);
});

test("what goes on is written also while the file of today is full", async () => {
  const folder = await folderPath();
  await mkdir(folder);
  const today = join(folder, "2026-11-26.jsonl");
  await writeFile(today, "");
  await truncate(today, 2 ** 27);
  await appendFile(today, "\n");
  const run = await startRun(storageAt(folder), { members: MEMBERS, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1, b nothing 5");
  await run.step(8);
  await run.kill();
  expect(run.journal.isUp()).toBe(false);
  expect(await readFile(join(folder, "ongoing.jsonl"), "utf8")).toContain('"redundancy_lost"');
});

test("a subject that flaps has 256 KiB a day, and is unknown from then on, also after a gap", async () => {
  const folder = await folderPath();
  const log = createMemoryLog();
  let [wallMs, monotonicMs] = [Date.parse("2026-11-26T23:59:40.000Z"), 0];
  const clock = { wallMs: () => wallMs, monotonicMs: () => monotonicMs };
  const journal = createJournal(storageAt(folder), { clock, logger: log.logger });
  const step = async (seconds: number): Promise<void> => {
    [wallMs, monotonicMs] = [wallMs + seconds * 1000, monotonicMs + seconds * 1000];
    await journal.flush({
      atMs: wallMs,
      seenMs: wallMs,
      isContinuous: seconds < 10,
      state: async (begin, atMs) => [...(await state(begin, atMs)), groupAt(atMs, "one_master")],
      ...NOTHING_GOES_ON,
    });
  };
  await step(4);
  for (let flap = 0; flap < 4000; flap += 1)
    journal.record(groupAt(wallMs + flap, flap % 2 === 0 ? "no_master" : "one_master"));
  await step(4);
  await step(11);
  await step(4);
  await journal.stop();
  const lines = await shortLines(folder, Date.parse("2026-11-26T23:59:40.000Z"));
  const spent = lines.findIndex((line) => line.endsWith(" group"));
  expect(spent).toBeGreaterThan(1000);
  expect(lines.slice(spent + 1)).toEqual([
    "8 alive",
    "19 run gap",
    "19 group",
    "20 alive",
    "20 run day",
    "20 group one_master",
    "23 alive",
  ]);
});

test("the bounds count bytes, also of names in other scripts", async () => {
  const folder = await folderPath();
  const clock = { wallMs: () => NOON_MS, monotonicMs: () => 0 };
  const journal = createJournal(storageAt(folder), { clock, ...createMemoryLog() });
  const at = new Date(NOON_MS).toISOString();
  const website = { kind: "website", cluster: "ams", id: 1, protocol: "https", address: "" } as const;
  for (let nth = 0; nth < 500; nth += 1)
    journal.record({ at, ...website, name: "網".repeat(1000), state: nth % 2 === 0 ? "up" : "down" });
  await journal.flush({ atMs: NOON_MS, seenMs: NOON_MS, isContinuous: true, ...NOTHING_GOES_ON, state });
  await journal.stop();
  expect((await stat(join(folder, "2026-11-26.jsonl"))).size).toBeLessThan(270_000);
});

/** Lines of a MiB, of eight clusters. */
function mebibyteOf(kind: "group" | "incident", nth: number): readonly JournalRecord[] {
  const at = new Date(NOON_MS).toISOString();
  const known = { kind: "failover", severity: "warning", begin: at } as const;
  const record = (id: number, pad: string): JournalRecord => {
    const cluster = `ams${nth}-${id % 8}`;
    return kind === "group"
      ? { at, kind, cluster, vhid: id, vip: pad }
      : { at, kind, cluster, incident: { ...known, cluster, id: `${id}`, summary: pad, subjects: [] } };
  };
  return Array.from({ length: 512 }, (_, id) =>
    record(id, "x".repeat(2048 - formatRecord(record(id, "")).length)),
  );
}

test.each([
  ["8 MiB of lines wait in memory", 7, 1, { why: "start", group: 3584, incident: 512 }],
  ["beyond 8 MiB of lines there is a gap, and incidents stay", 7, 2, { why: "gap", incident: 1024 }],
  ["beyond 8 MiB of lines, most of them of incidents, these go too", 3, 6, { why: "gap", incident: 511 }],
])("%s", async (_, groups, incidents, expected) => {
  const folder = await folderPath();
  const journal = startJournal(folder);
  await journal.step();
  const kinds = [...Array<"group">(groups).fill("group"), ...Array<"incident">(incidents).fill("incident")];
  for (const [nth, kind] of kinds.entries()) mebibyteOf(kind, nth).forEach(journal.record);
  await journal.step();
  await journal.stop();
  const records = (await linesIn(folder)).map((line): JournalRecord => JSON.parse(line));
  const why = records.flatMap((each) => (each.kind === "run" ? each.why : [])).at(-1);
  const count = groupBy(records, ({ kind }) => kind);
  const [group, incident] = [count.get("group")?.length, count.get("incident")?.length];
  expect({ why, group, incident }).toEqual(expected);
});

test("a file of 128 MiB takes no more lines until midnight", async () => {
  const folder = await folderPath();
  await mkdir(folder);
  const today = join(folder, "2026-11-26.jsonl");
  await writeFile(today, "");
  await truncate(today, 2 ** 27 - 1);
  await appendFile(today, "\n");
  const log = createMemoryLog();
  const journal = startJournal(folder, log);
  await journal.step();
  const [record] = mebibyteOf("group", 1);
  if (record !== undefined) journal.record(record);
  await journal.step();
  expect([journal.isUp(), (await stat(today)).size]).toEqual([false, 2 ** 27]);
  await rm(today);
  await journal.step(DAY_MS / 2000);
  await journal.stop();
  expect((await linesIn(folder)).map((line): unknown => JSON.parse(line).kind)).toEqual(["run", "alive"]);
  expect(log.lines).toMatchObject([
    { msg: "the journal cannot be written", detail: "the file of today is full (134217728 bytes)" },
    { msg: "the journal is written again" },
  ]);
});
