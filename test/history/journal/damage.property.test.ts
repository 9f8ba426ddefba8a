import * as fc from "fast-check";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { DamagedLines, sealed } from "../../../src/history/journal/lines.ts";
import { formatRecord, type JournalRecord } from "../../../src/history/journal/record.ts";
import { readHistory } from "../../../src/history/report/month-report.ts";
import type { RangeHistory } from "../../../src/history/report/history.ts";
import type { Span } from "../../../src/history/report/spans.ts";
import { alive, group, lost, run, START, website } from "../report/records.ts";
import { folderPath } from "./support.ts";

const DAY_SECONDS = 86_400;
const RANGE = { fromMs: START, toMs: START + 2 * DAY_SECONDS * 1000 };
const NAMES = ["2026-10-01.jsonl", "2026-10-02.jsonl"] as const;
const GROUP = ["one_master", "no_master", "split_brain", "changing", "unknown", "gone", undefined];
const WEBSITE = ["up", "down", "unknown", "gone", undefined];

type RecordAt = (seconds: number) => JournalRecord;

const record: fc.Arbitrary<RecordAt> = fc.oneof(
  fc.constantFrom(...GROUP).map((state) => (at: number) => group(at, state, "192.0.2.1")),
  fc.constantFrom(...GROUP).map((state) => (at: number) => group(at, state, "192.0.2.2")),
  fc.constantFrom(...WEBSITE).map((state) => (at: number) => website(at, state)),
  fc.constant(alive),
  { weight: 1, arbitrary: fc.constant(lost) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("start" as const, "gap" as const).map((why) => (at: number) => run(at, why)),
  },
);

/** The lines of two days. The second one goes on from the first, with the state of everything. */
const days = fc
  .tuple(...NAMES.map(() => fc.array(fc.tuple(fc.integer({ min: 2, max: 3000 }), record), { maxLength: 24 })))
  .map((both) =>
    both.map((steps, day) => {
      let at = day * DAY_SECONDS;
      const records = steps.flatMap(([seconds, recordAt]) => {
        at += seconds;
        const one = recordAt(at);
        // A run ends with a mark.
        return one.kind === "run" ? [alive(at - 1), one] : [one];
      });
      const begin = run(day * DAY_SECONDS, day === 0 ? "start" : "day");
      return [begin, ...records, alive((day + 1) * DAY_SECONDS)];
    }),
  );

/** What damage does to the bytes of a file, at a place from 0 to 1. */
const damage = fc.record({
  day: fc.integer({ min: 0, max: 1 }),
  kind: fc.constantFrom("flip", "zero", "remove", "repeat", "cut", "line"),
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 900 }),
  bit: fc.integer({ min: 0, max: 7 }),
});

function damaged(
  bytes: Buffer,
  { kind, place, length, bit }: typeof damage extends fc.Arbitrary<infer Of> ? Of : never,
): Buffer {
  if (bytes.length === 0) return bytes;
  const at = Math.min(bytes.length - 1, Math.floor(place * bytes.length));
  const end = Math.min(bytes.length, at + length);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(end)];
  switch (kind) {
    case "flip": {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at);
      return copy;
    }
    case "zero":
      return Buffer.concat([head, Buffer.alloc(end - at), tail]);
    case "remove":
      return Buffer.concat([head, tail]);
    case "repeat":
      return Buffer.concat([head, bytes.subarray(at, end), bytes.subarray(at)]);
    case "cut":
      return head;
    case "line": {
      const from = bytes.lastIndexOf("\n", at) + 1;
      const to = bytes.indexOf("\n", from) + 1;
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    }
    default:
      return kind satisfies never;
  }
}

async function read(folder: string): Promise<{ history: RangeHistory; count: number }> {
  let count = 0;
  const history = await readHistory(folder, RANGE, {
    onDay: () => {},
    onDamaged: (_, error) => void (count += error instanceof DamagedLines ? error.count : 1),
  });
  return { history, count };
}

function isUp({ band }: Span): boolean {
  return band === "up" || band === "impaired";
}

/** Whether a span lies within the others, which are in order. */
function isWithin({ fromMs, toMs }: Span, others: readonly Span[]): boolean {
  let reachedMs = fromMs;
  for (const other of others) if (other.fromMs <= reachedMs && other.toMs > reachedMs) reachedMs = other.toMs;
  return reachedMs >= toMs;
}

test.each(["plain", "compressed"])(
  "after any damage of a %s file, nothing that was down or unknown is up",
  async (form) => {
    const folder = await folderPath();
    await mkdir(folder);
    await fc.assert(
      fc.asyncProperty(days, fc.array(damage, { minLength: 1, maxLength: 3 }), async (both, damages) => {
        const texts = both.map((records) =>
          Buffer.from(records.map((each, nth) => `${sealed(formatRecord(each), nth)}\n`).join("")),
        );
        const packed = form === "plain" ? texts : texts.map((text) => gzipSync(text));
        const names = NAMES.map((name) => join(folder, form === "plain" ? name : `${name}.gz`));
        const write = (contents: readonly Buffer[]) =>
          Promise.all(names.map((path, nth) => writeFile(path, contents[nth] ?? "")));
        await write(packed);
        const whole = await read(folder);
        expect(whole.count).toBe(0);
        const broken = packed.map((bytes, day) =>
          damages.filter((each) => each.day === day).reduce(damaged, bytes),
        );
        await write(broken);
        const { history } = await read(folder);
        for (const [key, { known }] of history.subjects) {
          const before = (whole.history.subjects.get(key)?.known ?? []).filter(isUp);
          for (const span of known.filter(isUp))
            expect([key, span, isWithin(span, before)]).toEqual([key, span, true]);
        }
      }),
      { numRuns: Number(process.env["DAMAGE_RUNS"] ?? 200) },
    );
  },
);

test("a flipped bit is counted and named with its line, and ends what is known until the next begin of a run", async () => {
  const folder = await folderPath();
  await mkdir(folder);
  const path = join(folder, NAMES[0]);
  const records = [run(0, "start"), group(0, "one_master"), group(60, "no_master"), alive(600)];
  await writeFile(path, records.map((each, nth) => `${sealed(formatRecord(each), nth)}\n`).join(""));
  const bytes = await readFile(path);
  const place = bytes.indexOf("no_master");
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  await writeFile(path, bytes);
  const messages: string[] = [];
  const history = await readHistory(folder, RANGE, {
    onDay: () => {},
    onDamaged: (_, error) => void messages.push(String(error)),
  });
  expect(messages).toEqual(["Error: damaged or missing: line 3"]);
  // The group was up until the last instant that is known.
  expect([...history.subjects.values()].flatMap(({ known }) => known)).toEqual([]);
});
