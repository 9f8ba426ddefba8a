import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sealed } from "../../../src/history/journal/lines.ts";
import { writeOngoing } from "../../../src/history/journal/ongoing-file.ts";
import { createOldDays } from "../../../src/history/journal/old-days.ts";
import { formatRecord, type JournalRecord } from "../../../src/history/journal/record.ts";
import { restore } from "../../../src/history/journal/restore.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import { MEMBER_A, MEMBER_B } from "../../exporter/fleet/support.ts";
import { DAY_MS, folderPath, linesIn, NO_EVENTS, NOON_MS, startRun, storageAt } from "./support.ts";

const PAIR = [MEMBER_A, MEMBER_B];
const AT = { wallMs: NOON_MS + 60_000, monotonicMs: 0 };
const TODAY = "2026-11-26.jsonl";
const KEPT = { retentionMs: 400 * DAY_MS, retentionBytes: 2 ** 30 };

async function madeFolder(): Promise<string> {
  const folder = await folderPath();
  await mkdir(folder);
  return folder;
}

function dayOfNoon(days: number): string {
  return new Date(NOON_MS - days * DAY_MS).toISOString().slice(0, 10);
}

function textOf(records: readonly JournalRecord[]): string {
  return records.map((each, nth) => `${sealed(formatRecord(each), nth)}\n`).join("");
}

/** A day of a journal with a line about each cluster, of so many characters. */
function dayWith(day: string, clusters: Readonly<Record<string, number>>): string {
  const at = `${day}T00:00:00.000Z`;
  const names = Object.entries(clusters).map(([cluster, length]): JournalRecord => ({
    at,
    kind: "appliance",
    cluster,
    appliance: "x".repeat(length),
  }));
  return textOf([{ at, kind: "run", v: 1, why: "day" }, ...names, { at, kind: "alive" }]);
}

test("what is no regular file is neither read nor written, and named; the rest is read", async () => {
  const folder = await madeFolder();
  const names = ["2026-11-20.jsonl", "2026-11-21.jsonl", "2026-11-22.jsonl.gz"] as const;
  execFileSync("mkfifo", [join(folder, names[0])]);
  await symlink("/dev/zero", join(folder, names[1]));
  await symlink("/etc/hostname", join(folder, names[2]));
  await writeFile(join(folder, "2026-11-23.jsonl"), dayWith("2026-11-23", { ams: 9 }));
  const lines = await linesIn(folder);
  expect(lines.filter((line) => line.startsWith("damaged: "))).toEqual(
    names.map((name) => `damaged: ${join(folder, name)} Error: not a regular file; remove it`),
  );
  expect(lines.filter((line) => line.includes('"ams"'))).toHaveLength(1);
});

test("the file of today is a link: nothing is written through it, and the log says what to do", async () => {
  const folder = await madeFolder();
  const target = join(folder, "target");
  await writeFile(target, "");
  await symlink(target, join(folder, TODAY));
  const run = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS });
  run.poll("a MASTER 1, b BACKUP 1");
  await run.step(4);
  await run.kill();
  expect(await readFile(target, "utf8")).toBe("");
  expect(run.log.lines.filter(({ level }) => level === "warn")).toMatchObject([
    { msg: "the journal cannot be written", detail: "not a regular file; remove it" },
  ]);
});

test("a compressed file of gigabytes of nothing ends at what a day can have", async () => {
  const folder = await madeFolder();
  const zeros = gzipSync(Buffer.alloc(2 ** 24));
  await writeFile(join(folder, "2026-11-20.jsonl.gz"), Buffer.concat(Array(20).fill(zeros)));
  expect(await linesIn(folder)).toContainEqual(expect.stringContaining("longer than a day can be"));
});

test("a folder that others may write is named in the log", async () => {
  const folder = await madeFolder();
  await chmod(folder, 0o777);
  const run = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS });
  await run.step(4);
  await run.step(8);
  await run.kill();
  expect(run.log.lines).toMatchObject([{ msg: "others may write the folder of the journal", mode: "777" }]);
});

test("100,000 incidents and windows are read, and the latest ones are restored", async () => {
  const folder = await madeFolder();
  const at = "2026-11-26T11:00:00.000Z";
  const scope = { appliances: [], clusters: ["ams"], labels: {} };
  const known = {
    kind: "website_down",
    severity: "critical",
    cluster: "ams",
    begin: at,
    summary: "",
  } as const;
  const records = Array.from({ length: 50_000 }, (_, nth): readonly JournalRecord[] => [
    { at, kind: "incident", cluster: "ams", incident: { ...known, id: `i${nth}`, subjects: [] } },
    {
      at,
      kind: "window",
      id: `w${nth}`,
      ...scope,
      begin: at,
      end: "2026-11-26T23:00:00.000Z",
      comment: "",
      by: "a",
      origin: "command",
    },
  ]).flat();
  await writeFile(join(folder, TODAY), textOf([{ at, kind: "run", v: 1, why: "start" }, ...records]));
  const { incidents, windows } = await restore(folder, AT, NO_EVENTS);
  expect([incidents.length, incidents.at(-1)?.id]).toEqual([64, "i49999"]);
  expect([windows.length, windows.at(-1)?.id]).toEqual([1024, "w49999"]);
});

test("windows and open incidents outlast a file that is too large for a start", async () => {
  const folder = await folderPath();
  const first = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, b silent 5, a MASTER 6, b silent 8, a MASTER 8");
  const scope = { appliances: ["b"], clusters: [], labels: {} };
  first.windows.start({ id: "patchnight", scope, comment: "", forMs: 600_000, isDrill: false }, "alice");
  await first.step(12);
  await first.kill();
  const path = join(folder, TODAY);
  const nth = (await readFile(path, "utf8")).trimEnd().split("\n").length;
  const filler = { at: "2026-11-26T12:00:13.000Z", kind: "reload", ok: true } as const;
  const lines = Array.from({ length: 2000 }, (_, more) => `${sealed(formatRecord(filler), nth + more)}\n`);
  await writeFile(path, lines.join(""), { flag: "a" });
  const leftOut: string[] = [];
  const events = { ...NO_EVENTS, onLeftOut: (left: string) => void leftOut.push(left) };
  const restored = await restore(folder, AT, events, 100_000);
  expect(leftOut).toEqual([path]);
  expect(restored.windows.map(({ id }) => id)).toEqual(["patchnight"]);
  expect(
    restored.ongoing
      .get("ams")?.()
      .all.map(({ kind }) => kind),
  ).toEqual(["appliance_down"]);
  // What is wrong in the window, and since when.
  expect(restored.memories.get("ams")?.().get("appliance b")).toMatchObject({
    state: "down",
    sinceMs: NOON_MS + 5000,
  });
});

test("an incident whose end the days do not have is over, unless what goes on names it", async () => {
  const folder = await folderPath();
  const first = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, b silent 5, a MASTER 6, b silent 8, a MASTER 8");
  await first.step(12);
  first.poll("b BACKUP 20, a MASTER 20");
  const open = (await readFile(join(folder, TODAY))).length;
  await first.step(24);
  await first.kill();
  await truncate(join(folder, TODAY), open);
  const { incidents } = await restore(folder, AT, NO_EVENTS);
  expect(incidents.map(({ end }) => end)).toEqual(["2026-11-26T12:00:24.000Z"]);
});

test("an incident that goes on is restored behind a hundred later ones of its cluster", async () => {
  const folder = await madeFolder();
  const at = "2026-11-26T11:00:00.000Z";
  const of = (id: string, end?: string): JournalRecord => {
    const known = {
      kind: "website_down",
      severity: "critical",
      cluster: "ams",
      begin: at,
      summary: "",
    } as const;
    return { at, kind: "incident", cluster: "ams", incident: { id, ...known, end, subjects: [] } };
  };
  const others = Array.from({ length: 100 }, (_, nth) => of(`later${nth}`, at));
  await writeFile(
    join(folder, TODAY),
    textOf([{ at, kind: "run", v: 1, why: "start" }, of("open"), ...others]),
  );
  await writeOngoing(folder, [of("open"), { at, kind: "alive" }]);
  const { incidents, ongoing } = await restore(folder, AT, NO_EVENTS);
  expect(incidents).toHaveLength(64);
  expect(
    ongoing
      .get("ams")?.()
      .all.map(({ id }) => id),
  ).toEqual(["open"]);
});

test("what a killed process left of another file of what goes on is removed", async () => {
  const folder = await madeFolder();
  await writeFile(join(folder, "ongoing.jsonl.6f1e-2.tmp"), "half of it");
  await writeOngoing(folder, [{ at: "2026-11-26T11:00:00.000Z", kind: "alive" }]);
  expect(await readdir(folder)).toEqual(["ongoing.jsonl"]);
});

test("what goes on is older than the latest run, as after days of an earlier version: it is not restored", async () => {
  const folder = await folderPath();
  const first = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS - 2 * DAY_MS });
  first.poll("a MASTER 1, b BACKUP 1");
  const scope = { appliances: ["b"], clusters: [], labels: {} };
  first.windows.start({ id: "patchnight", scope, comment: "", forMs: DAY_MS, isDrill: false }, "alice");
  await first.step(4);
  await first.kill();
  const names = async () => (await restore(folder, AT, NO_EVENTS)).windows.map(({ id }) => id);
  expect(await names()).toEqual(["patchnight"]);
  for (const days of [1, 0])
    await writeFile(join(folder, `${dayOfNoon(days)}.jsonl`), dayWith(dayOfNoon(days), { ams: 9 }));
  expect(await names()).toEqual([]);
});

test("a window goes on over midnight and a start", async () => {
  const storage = storageAt(await folderPath());
  const first = await startRun(storage, { members: PAIR, beginMs: NOON_MS - 0.8 * DAY_MS });
  const scope = { appliances: ["b"], clusters: [], labels: {} };
  first.windows.start({ id: "patchnight", scope, comment: "", forMs: DAY_MS, isDrill: false }, "alice");
  for (let second = 4; second < (0.8 * DAY_MS) / 1000; second += 3600) await first.step(second);
  await first.kill();
  const { windows } = await restore(storage.path, AT, NO_EVENTS);
  expect(windows.map(({ id }) => id)).toEqual(["patchnight"]);
});

test("what goes on is damaged: it follows from the days, and the log names the file", async () => {
  const folder = await folderPath();
  const first = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS });
  first.poll("a MASTER 1, b BACKUP 1, b silent 5, a MASTER 6, b silent 8, a MASTER 8");
  await first.step(12);
  await first.kill();
  const path = join(folder, "ongoing.jsonl");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace("appliance_down", "appliance_dawn"));
  const damaged: string[] = [];
  const events = { ...NO_EVENTS, onDamaged: (...of: readonly unknown[]) => void damaged.push(of.join(" ")) };
  const { ongoing } = await restore(folder, AT, events);
  expect(damaged).toEqual([`${path} Error: damaged`]);
  expect(ongoing.get("ams")?.().all).toHaveLength(1);
});

test("nine seconds of a clock that is 401 days ahead remove no day, and the hour after it neither", async () => {
  const folder = await madeFolder();
  for (let days = 1; days <= 10; days += 1)
    await writeFile(join(folder, `${dayOfNoon(days)}.jsonl`), dayWith(dayOfNoon(days), { ams: 9 }));
  const run = await startRun(storageAt(folder), { members: PAIR, beginMs: NOON_MS });
  await run.step(4);
  run.setClock(401 * DAY_MS);
  await run.step(8);
  await run.step(12);
  run.setClock(-401 * DAY_MS);
  await run.step(17);
  await eventually(async () =>
    expect((await readdir(folder)).filter((name) => name.endsWith(".gz")).length).toBeGreaterThanOrEqual(10),
  );
  await run.kill();
});

test("a directory with the name of an old day or of a temporary file keeps no other day", async () => {
  const folder = await madeFolder();
  await mkdir(join(folder, "2020-01-01.jsonl"));
  await mkdir(join(folder, "2020-01-02.jsonl.gz.x.tmp"));
  await writeFile(join(folder, "2020-01-03.jsonl"), dayWith("2020-01-03", { ams: 9 }));
  for (const day of [dayOfNoon(2), dayOfNoon(1)])
    await writeFile(join(folder, `${day}.jsonl`), dayWith(day, { ams: 9 }));
  const { logger, lines } = createMemoryLog();
  await createOldDays(folder, KEPT, { clock: { monotonicMs: () => 0 }, logger }).tidy(NOON_MS);
  const recent = ["2026-11-24.jsonl.gz", "2026-11-25.jsonl.gz"];
  const left = ["2020-01-01.jsonl", "2020-01-02.jsonl.gz.x.tmp", ...recent];
  expect(await readdir(folder)).toEqual(left);
  expect(lines).toContainEqual(expect.objectContaining({ level: "warn", path: join(folder, left[0] ?? "") }));
});

test("the days of a cluster that takes too much are found behind a hundred ordinary days", async () => {
  const folder = await madeFolder();
  const sizes: number[] = [];
  for (let days = 1; days <= 100; days += 1) {
    const day = dayOfNoon(days);
    const at = `${day}T00:00:00.000Z`;
    // What an appliance invents compresses badly.
    const random = randomBytes(4500).toString("hex");
    const hostile: JournalRecord = { at, kind: "appliance", cluster: "hostile", appliance: random };
    const others = ["ams", "fra"].map((cluster): JournalRecord => ({ ...hostile, cluster, appliance: "a" }));
    const bytes = gzipSync(textOf(days > 3 ? others : [...others, hostile]));
    sizes.push(bytes.length);
    await writeFile(join(folder, `${day}.jsonl.gz`), bytes);
  }
  const retention = { ...KEPT, retentionBytes: 100 * (sizes.at(-1) ?? 0) + 1000 };
  const { logger } = createMemoryLog();
  await createOldDays(folder, retention, { clock: { monotonicMs: () => 0 }, logger }).tidy(NOON_MS);
  expect(await readdir(folder)).toHaveLength(100);
});

test("a machine that starts with a wrong clock removes nothing for 24 hours, and then three days an hour", async () => {
  const folder = await madeFolder();
  for (let days = 1; days <= 10; days += 1)
    await writeFile(join(folder, `${dayOfNoon(days)}.jsonl`), dayWith(dayOfNoon(days), { ams: 9 }));
  let monotonicMs = 0;
  const clock = { monotonicMs: () => monotonicMs };
  const oldDays = createOldDays(folder, KEPT, { clock, ...createMemoryLog() });
  const count = async (hour: number): Promise<number> => {
    monotonicMs = hour * 3_600_000;
    await oldDays.tidy(NOON_MS + 401 * DAY_MS + monotonicMs);
    return (await readdir(folder)).length;
  };
  expect([await count(0), await count(1), await count(23)]).toEqual([10, 10, 10]);
  expect([await count(24), await count(25), await count(28)]).toEqual([7, 4, 1]);
});

test("a wrong clock that went over midnight before a start is not believed by the file of its own day", async () => {
  const folder = await madeFolder();
  for (const days of [-400, 1, 2, 3])
    await writeFile(join(folder, `${dayOfNoon(days)}.jsonl`), dayWith(dayOfNoon(days), { ams: 9 }));
  const oldDays = createOldDays(folder, KEPT, { clock: { monotonicMs: () => 0 }, ...createMemoryLog() });
  await oldDays.tidy(NOON_MS + 401 * DAY_MS);
  expect(await readdir(folder)).toHaveLength(4);
});

test("beyond the size the clusters that have most lose their days, and the others keep theirs", async () => {
  const folder = await madeFolder();
  for (let days = 1; days <= 5; days += 1) {
    const text = dayWith(dayOfNoon(days), { honest: 40, hostile: 50_000, ams: 50 });
    await writeFile(join(folder, `${dayOfNoon(days)}.jsonl`), text);
  }
  const retention = { ...KEPT, retentionBytes: 1200 };
  const { logger, lines } = createMemoryLog();
  await createOldDays(folder, retention, { clock: { monotonicMs: () => 0 }, logger }).tidy(NOON_MS);
  const kept = (await linesIn(folder)).map((line): unknown => JSON.parse(line));
  const of = (cluster: string) => kept.filter((each) => JSON.stringify(each).includes(`"${cluster}"`));
  expect([of("honest").length, of("ams").length]).toEqual([5, 5]);
  const lost = of("hostile").filter((each) => JSON.stringify(each).includes('"lost"'));
  expect(lost.length).toBeGreaterThanOrEqual(3);
  expect(lines[0]).toMatchObject({ clusters: ["hostile"] });
  const sizes = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))));
  expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(1200);
});
