import { mkdir, rm } from "node:fs/promises";
import { errorCode, messageOf } from "../support/errors.ts";
import type { Clock } from "../support/clock.ts";
import type { Logger } from "../support/log.ts";
import { beginOf, compressDay, dayFiles, dayOf, expired, type Retention } from "./day-files.ts";
import { ForeignFile, openDay, type DayWriter } from "./day-writer.ts";
import { lockFolder, type Lock } from "./lock.ts";
import { createBounds } from "./bounds.ts";
import { formatRecord, type JournalRecord, type RunRecord } from "./record.ts";

const FOLDER_MODE = 0o700;
/** Lines wait in memory while the disk does not take them. */
const MAX_WAITING_BYTES = 8 * 2 ** 20;
const MAX_DAY_BYTES = 128 * 2 ** 20;
/** The journal is up while its latest write is at most so old. */
const MAX_AGE_MS = 15_000;
const TIDY_MS = 3_600_000;

export interface StorageOptions extends Retention {
  readonly path: string;
}

/** Why a run begins, and what was left out of the one before. */
export type Begin = Pick<RunRecord, "why" | "left">;

/** The instant until which everything was judged, and what was known then. */
export interface Step {
  readonly atMs: number;
  /** Whether the step before was a moment ago. */
  readonly isContinuous: boolean;
  /** A run that begins at a Unix time in milliseconds, and the state of everything then; made in slices. */
  readonly state: (run: Begin, atMs: number) => Promise<readonly JournalRecord[]>;
}

/** Writes records to the files of days, one write at a time. */
export interface Journal {
  /** Keeps a record until the next write. */
  record(record: JournalRecord): void;
  /** Writes what waits, and a mark. Never rejects; while a write hangs, it does nothing. */
  flush(step: Step): Promise<void>;
  /** Ends it, unless a write hangs. */
  stop(): Promise<void>;
  isUp(): boolean;
  bytes(): number;
}

interface Line {
  readonly at: string;
  readonly text: string;
  readonly isIncident: boolean;
}

interface JournalDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createJournal(options: StorageOptions, { clock, logger }: JournalDeps): Journal {
  const { path, retentionBytes } = options;
  const maxDayBytes = Math.min(MAX_DAY_BYTES, retentionBytes);
  let waiting: Line[] = [];
  let waitingBytes = 0;
  /** Something happened that does not wait here. */
  let isLost = false;
  /** Since the state of everything was written. */
  let bounds = createBounds();
  let lock: Lock | undefined;
  let writer: DayWriter | undefined;
  /** The state of everything has to come first; `undefined`: the next lines go on. */
  let owed: RunRecord["why"] | undefined = "start";
  /** The journal is off until a restart: two hosts that write to one file would spoil it. */
  let ending: Error | undefined;
  let busySinceMs: number | undefined;
  let writtenMs = Number.NEGATIVE_INFINITY;
  let failure: string | undefined;
  let closedBytes = 0;
  let tidiedMs = Number.NEGATIVE_INFINITY;

  function keep(record: JournalRecord): void {
    const text = formatRecord(record);
    waitingBytes += text.length;
    waiting.push({ at: record.at, text, isIncident: record.kind === "incident" });
    if (waitingBytes <= MAX_WAITING_BYTES) return;
    [waiting, waitingBytes, isLost] = [[], 0, true];
  }

  function drop(count: number): void {
    waiting = waiting.slice(count);
    waitingBytes = waiting.reduce((sum, { text }) => sum + text.length, 0);
  }

  async function openFolder(): Promise<void> {
    if (ending !== undefined) throw ending;
    try {
      await mkdir(path, { mode: FOLDER_MODE });
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    lock ??= await lockFolder(path);
    if (!(await lock.isHeld())) throw new ForeignFile(path, "replaced");
  }

  /** Ends the file of a day that is over: everything was judged until midnight. */
  async function endDay(old: DayWriter, midnight: string, midnightMs: number): Promise<void> {
    const last = waiting.filter(({ at }) => at < midnight);
    await old.append(last.map(({ text }) => text).join(""), markOf(midnightMs));
    drop(last.length);
  }

  async function turnDay({ atMs, isContinuous }: Step): Promise<number> {
    const day = dayOf(atMs);
    if (writer === undefined || writer.day === day) return atMs;
    const midnightMs = beginOf(day);
    const goesOn = owed === undefined && isContinuous && day > writer.day;
    if (goesOn) await endDay(writer, new Date(midnightMs).toISOString(), midnightMs);
    owed ??= goesOn ? "day" : "gap";
    await writer.close();
    [writer, tidiedMs] = [undefined, Number.NEGATIVE_INFINITY];
    return goesOn ? midnightMs : atMs;
  }

  async function write(step: Step): Promise<void> {
    await openFolder();
    if (isLost) owed ??= "gap";
    isLost = false;
    const beginMs = await turnDay(step);
    writer ??= await openDay(path, dayOf(step.atMs));
    if (writer.bytes() >= maxDayBytes) throw new Error(`the file of today is full (${maxDayBytes} bytes)`);
    const count = waiting.length;
    const isWhole = owed === undefined || owed === "day";
    const later = waiting.filter(({ isIncident }) => isWhole || isIncident);
    const state = owed === undefined ? [] : await beginRun(owed, step, beginMs);
    const text = [...state.map(formatRecord), ...later.map((each) => each.text)].join("");
    await writer.append(text, markOf(step.atMs));
    drop(count);
    owed = undefined;
  }

  /** The state of everything makes up for what was left out. */
  function beginRun(why: RunRecord["why"], { state }: Step, atMs: number): Promise<readonly JournalRecord[]> {
    const left = bounds.left() || undefined;
    bounds = createBounds();
    return state({ why, left }, atMs);
  }

  /** Removes the days that are too old or too many, and compresses the others. */
  async function tidy(nowMs: number): Promise<void> {
    tidiedMs = clock.monotonicMs();
    const today = dayOf(nowMs);
    try {
      for (const file of expired(await dayFiles(path), nowMs, options)) await rm(file.path);
      for (const { day, isCompressed } of await dayFiles(path))
        if (!isCompressed && day < today) await compressDay(path, day);
      const closed = (await dayFiles(path)).filter(({ day }) => day !== today);
      closedBytes = closed.reduce((sum, { bytes }) => sum + bytes, 0);
    } catch (error) {
      logger.warn(
        { path, detail: messageOf(error) },
        "old days of the journal cannot be compressed or removed",
      );
    }
  }

  function failed(detail: string): void {
    if (detail !== failure) logger.warn({ path, detail }, "the journal cannot be written");
    failure = detail;
  }

  function succeeded(nowMs: number): void {
    if (failure !== undefined) logger.info({ path }, "the journal is written again");
    failure = undefined;
    writtenMs = nowMs;
  }

  /** A file that is not as it was left is opened again; what was not confirmed in time is a gap. */
  async function recover(error: unknown): Promise<void> {
    if (owed === "day") owed = "gap";
    if (!(error instanceof ForeignFile)) return;
    owed ??= "gap";
    if (error.change === "shared") ending = error;
    const old = writer;
    // The lock is not released: by its path it would remove the one of another exporter.
    [lock, writer] = [undefined, undefined];
    await old?.close();
  }

  return {
    record: (record) => {
      const admitted = bounds.admit(record);
      if (admitted !== undefined) keep(admitted);
    },
    flush: async (step) => {
      const nowMs = clock.monotonicMs();
      isLost ||= !step.isContinuous;
      if (busySinceMs !== undefined) {
        if (nowMs - busySinceMs > MAX_AGE_MS) failed("the file system does not answer");
        return;
      }
      busySinceMs = nowMs;
      try {
        await write(step);
        succeeded(clock.monotonicMs());
        if (nowMs - tidiedMs >= TIDY_MS) void tidy(step.atMs);
      } catch (error) {
        failed(messageOf(error));
        await recover(error).catch(() => {});
      } finally {
        busySinceMs = undefined;
      }
    },
    stop: async () => {
      if (busySinceMs !== undefined) return;
      await writer?.close();
      lock?.release();
    },
    isUp: () => clock.monotonicMs() - writtenMs <= MAX_AGE_MS,
    bytes: () => closedBytes + (writer?.bytes() ?? 0),
  };
}

function markOf(ms: number): string {
  return formatRecord({ at: new Date(ms).toISOString(), kind: "alive" });
}
