import { randomUUID } from "node:crypto";
import { appendFile, readdir, readlink, rm, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressDay } from "../../../src/history/journal/day-files.ts";
import { selectLines, type Selection } from "../../../src/history/journal/selection.ts";
import { createFolder, type Files } from "../../exporter/config/folder.ts";
import { eventually } from "../../support/eventually.ts";

const day = (date: string, ...records: readonly (readonly [string, object])[]): string =>
  records.map(([time, rest]) => `${JSON.stringify({ at: `${date}T${time}.000Z`, ...rest })}\n`).join("");
const run = { kind: "run", v: 1, why: "day" };
const cluster = (name: string) => ({ kind: "cluster", cluster: name, state: "up" });
const alive = { kind: "alive" };

/** Three days; the first two are over. */
const DAYS: Files = {
  "2026-03-01.jsonl.gz": gzipSync(
    day("2026-03-01", ["00:00:00", run], ["00:00:00", cluster("ams")], ["12:00:00", cluster("lon")]),
  ),
  "2026-03-02.jsonl.gz": gzipSync(
    day("2026-03-02", ["00:00:00", run], ["00:00:00", cluster("ams")], ["23:59:59", cluster("lon")]),
  ),
  "2026-03-03.jsonl": day("2026-03-03", ["00:00:00", run], ["06:00:00", cluster("ams")], ["08:00:00", alive]),
};

/** What is selected, each line as its day, its hour and what it is about; the files that are damaged. */
async function selected(folder: string, from: string, to: string, ...clusters: readonly string[]) {
  const damaged: string[] = [];
  const lines: string[] = [];
  const selection = { clusters, fromMs: Date.parse(from), toMs: Date.parse(to) };
  for await (const some of selectLines(folder, selection, (path) => damaged.push(basename(path))))
    lines.push(...some);
  const shown = lines.map((line) => {
    const { at, kind, cluster: name = kind } = JSON.parse(line);
    return `${at.slice(8, 13)} ${name}`;
  });
  return { shown, damaged };
}

test.each([
  {
    name: "all of them",
    range: ["2026-03-01T00:00:00Z", "2026-03-04T00:00:00Z"],
    clusters: [],
    shown: ["01T00 run", "01T00 ams", "01T12 lon", "02T00 run", "02T00 ams", "02T23 lon"].concat([
      "03T00 run",
      "03T06 ams",
      "03T08 alive",
    ]),
  },
  {
    name: "those of a cluster and of the exporter",
    range: ["2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z"],
    clusters: ["lon"],
    shown: ["02T00 run", "02T23 lon", "03T00 run", "03T08 alive"],
  },
  {
    name: "those of two clusters",
    range: ["2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"],
    clusters: ["lon", "ams"],
    shown: ["02T00 run", "02T00 ams", "02T23 lon"],
  },
  {
    name: "from the beginning of the day, and none at the end of the range or later",
    range: ["2026-03-02T12:00:00Z", "2026-03-03T06:00:00Z"],
    clusters: [],
    shown: ["02T00 run", "02T00 ams", "02T23 lon", "03T00 run"],
  },
  {
    name: "none of days without a file",
    range: ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"],
    clusters: [],
    shown: [],
  },
  {
    name: "those of the exporter alone, for a cluster without any",
    range: ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"],
    clusters: ["am"],
    shown: ["01T00 run"],
  },
])("the lines are selected: $name", async ({ range: [from = "", to = ""], clusters, shown }) => {
  const folder = await createFolder({ ...DAYS, "lock.sock": "", "2026-03-01.jsonl.gz.1a.tmp": "x" });
  expect(await selected(folder, from, to, ...clusters)).toEqual({ shown, damaged: [] });
});

test.each(['a"b', "\\", '","cluster":"other', "ü\u2028\n", "__proto__", "\ud800"])(
  "a cluster named %j is found, and nothing else is taken for it",
  async (name) => {
    const other = { kind: "website", cluster: "other", name: JSON.stringify(cluster(name)), note: name };
    const text = day("2026-03-01", ["01:00:00", cluster(name)], ["02:00:00", other]);
    const folder = await createFolder({ "2026-03-01.jsonl": text });
    const find = (wanted: string) => selected(folder, "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", wanted);
    expect((await find(name)).shown).toEqual([`01T01 ${name}`]);
    expect((await find("other")).shown).toEqual(["01T02 other"]);
  },
);

test("what was not written as a whole is left out; a compressed file counts to where it is damaged, and later days are read", async () => {
  const folder = await createFolder({
    ...DAYS,
    "2026-03-01.jsonl.gz": gzipSync(day("2026-03-01", ["00:00:00", run])).subarray(0, -9),
    "2026-03-02.jsonl.gz": "no gzip",
  });
  await appendFile(
    join(folder, "2026-03-03.jsonl"),
    `\0\0\n{"at":"2026-03-03T09\n${day("2026-03-03", ["10:00:00", alive])}{"at":"2026-03-03T1`,
  );
  expect(await selected(folder, "2026-03-01T00:00:00Z", "2026-03-04T00:00:00Z", "x")).toEqual({
    shown: ["01T00 run", "03T00 run", "03T08 alive", "03T10 run", "03T10 alive"],
    damaged: ["2026-03-01.jsonl.gz", "2026-03-02.jsonl.gz", "2026-03-03.jsonl"],
  });
});

test("a hole of ten megabytes in a file is left out, and lines behind it count", async () => {
  const folder = await createFolder({});
  const path = join(folder, "2026-03-01.jsonl");
  await writeFile(path, "");
  await truncate(path, 10_000_000);
  await appendFile(path, `\n${day("2026-03-01", ["10:00:00", alive])}`);
  expect(await selected(folder, "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z")).toEqual({
    shown: ["01T10 run", "01T10 alive"],
    damaged: ["2026-03-01.jsonl"],
  });
});

test("a day that is compressed during the reading is read, and one that is removed is no damage", async () => {
  const folder = await createFolder({
    "2026-03-01.jsonl": day("2026-03-01", ["00:00:00", run]),
    "2026-03-02.jsonl": day("2026-03-02", ["00:00:00", cluster("ams")]),
    "2026-03-03.jsonl": day("2026-03-03", ["00:00:00", cluster("ams")]),
    "2026-03-04.jsonl": day("2026-03-04", ["00:00:00", alive]),
  });
  const damaged: string[] = [];
  const all: Selection = { clusters: [], fromMs: 0, toMs: Date.parse("2026-04-01T00:00:00Z") };
  const lines: string[] = [];
  for await (const some of selectLines(folder, all, (path) => damaged.push(path))) {
    if (lines.length === 0) {
      await compressDay(folder, "2026-03-02");
      await rm(join(folder, "2026-03-03.jsonl"));
    }
    lines.push(...some);
  }
  expect(lines.map((line) => line.slice(15, 17))).toEqual(["01", "02", "04"]);
  expect(damaged).toEqual([]);
});

test("a folder that is not there is an error", async () => {
  const folder = join(await createFolder({}), "nowhere");
  await expect(selected(folder, "2026-03-01T00:00:00Z", "2026-03-04T00:00:00Z")).rejects.toThrow("ENOENT");
});

test.each(["2026-03-01.jsonl", "2026-03-01.jsonl.gz"])(
  "a reading of %s that ends early closes its file",
  async (name) => {
    // Compression does not make it so small that it is read at once.
    const records = Array.from({ length: 20_000 }, (): [string, object] => [
      "01:00:00",
      cluster(randomUUID()),
    ]);
    const text = day("2026-03-01", ...records);
    const folder = await createFolder({});
    const path = join(folder, name);
    await writeFile(path, name.endsWith("gz") ? gzipSync(text) : text);
    const isOpen = async () => {
      const descriptors = await readdir("/proc/self/fd");
      const targets = await Promise.all(
        descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => "")),
      );
      return targets.includes(path);
    };
    const all: Selection = { clusters: [], fromMs: 0, toMs: Date.parse("2026-03-02T00:00:00Z") };
    for await (const lines of selectLines(folder, all, () => {})) {
      expect(lines.length).toBeGreaterThan(0);
      expect(await isOpen()).toBe(true);
      break;
    }
    await eventually(async () => expect(await isOpen()).toBe(false));
  },
);
