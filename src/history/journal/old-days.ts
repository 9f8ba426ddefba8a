import { rm } from "node:fs/promises";
import type { Clock } from "../../support/clock.ts";
import { messageOf } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import {
  compressDay,
  dayFiles,
  dayOf,
  pathOf,
  removeTemporary,
  sizesIn,
  withoutClusters,
  type DayFile,
} from "./day-files.ts";
import { hungry, latestEnd, tooOld, trustAt, type Retention, type Trust } from "./retention.ts";

/** The days of a folder that are over. */
export interface OldDays {
  /** Compresses the files, and makes room beyond the limits of age and size, once an hour. Never rejects. */
  tidy(nowMs: number): Promise<void>;
  /** Makes the next `tidy` do its work at once, since a day is over. */
  due(): void;
  /** Returns the bytes of the files, since they were tidied. */
  bytes(): number;
}

const EVERY_MS = 3_600_000;
/** The most files that one hour removes, and the most in which it looks for clusters that take too much. */
const MAX_REMOVED = 3;
const MAX_LOOKED_AT = 24;

export interface OldDaysDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Pick<Logger, "info" | "warn">;
}

export function createOldDays(path: string, retention: Retention, { clock, logger }: OldDaysDeps): OldDays {
  const createdMs = clock.monotonicMs();
  let trust: Trust | undefined;
  let totalBytes = 0;
  let tidiedMs = Number.NEGATIVE_INFINITY;
  let isTidying = false;
  /** The files of days without a cluster that takes too much. */
  const lookedAt = new Set<string>();

  function failed(at: string, error: unknown): void {
    const fields = { path: at, detail: messageOf(error) };
    logger.warn(fields, "old days of the journal cannot be compressed or removed");
  }

  /** Returns the files of days that are over. */
  async function closed(today: string): Promise<readonly DayFile[]> {
    return (await dayFiles(path)).filter(({ day }) => day < today);
  }

  async function tidyNow(nowMs: number): Promise<void> {
    const today = dayOf(nowMs);
    await removeTemporary(path);
    for (const { day, isCompressed } of await closed(today))
      if (!isCompressed)
        await compressDay(path, day).catch((error: unknown) => failed(pathOf(path, day), error));
    if (isBelieved(nowMs, await closed(today))) await makeRoom(nowMs, today);
    totalBytes = sumOf((await dayFiles(path)).filter(({ day }) => day !== today));
  }

  /** Whether the wall clock is believed. The first time, it is compared with the latest day before. */
  function isBelieved(nowMs: number, files: readonly DayFile[]): boolean {
    const now = { wallMs: nowMs, monotonicMs: clock.monotonicMs() };
    const days = files.map(({ day }) => day);
    const before = trust ?? { wallMs: latestEnd(days, nowMs) ?? nowMs, monotonicMs: createdMs };
    trust = trustAt(before, now);
    return trust.doubtedMs === undefined;
  }

  async function makeRoom(nowMs: number, today: string): Promise<void> {
    const old = tooOld(await closed(today), nowMs, retention).slice(0, MAX_REMOVED);
    for (const file of old) await remove(file, "too old");
    // Days with a cluster that takes too much are larger than others, wherever they are.
    const largest = (await closed(today))
      .filter(({ path: at }) => !lookedAt.has(at))
      .toSorted((one, other) => other.bytes - one.bytes);
    let isShrunk = false;
    for (const file of largest.slice(0, MAX_LOOKED_AT)) {
      if (!(await isTooLarge())) return;
      isShrunk = (await shrink(file)) || isShrunk;
    }
    // Another hour looks at more days before any is removed.
    if (isShrunk) return;
    for (const file of (await closed(today)).slice(0, MAX_REMOVED - old.length))
      if (await isTooLarge()) await remove(file, "too large together");
  }

  async function isTooLarge(): Promise<boolean> {
    return sumOf(await dayFiles(path)) > retention.retentionBytes;
  }

  /** Takes from a day the lines of the clusters that have most; returns whether there were such. */
  async function shrink({ day, path: at, isCompressed }: DayFile): Promise<boolean> {
    lookedAt.add(at);
    if (!isCompressed) return false;
    try {
      const greedy = hungry(await sizesIn(path, day));
      if (greedy.size === 0) return false;
      await withoutClusters(path, day, greedy);
      const clusters = [...greedy].slice(0, 5);
      logger.info({ path: at, clusters }, "a day of the journal without its largest clusters");
      return true;
    } catch (error) {
      failed(at, error);
      return false;
    }
  }

  async function remove({ path: at }: DayFile, detail: string): Promise<void> {
    try {
      await rm(at);
      logger.info({ path: at, detail }, "a day of the journal was removed");
    } catch (error) {
      failed(at, error);
    }
  }

  return {
    tidy: async (nowMs) => {
      if (isTidying || clock.monotonicMs() - tidiedMs < EVERY_MS) return;
      isTidying = true;
      tidiedMs = clock.monotonicMs();
      await tidyNow(nowMs).catch((error: unknown) => failed(path, error));
      isTidying = false;
    },
    due: () => {
      tidiedMs = Number.NEGATIVE_INFINITY;
    },
    bytes: () => totalBytes,
  };
}

function sumOf(files: readonly DayFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
