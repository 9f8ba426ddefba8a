import type { Instant } from "../../support/clock.ts";
import { beginOf, DAY_MS, type DayFile } from "./day-files.ts";

export interface Retention {
  readonly retentionMs: number;
  readonly retentionBytes: number;
}

/** A cluster takes too much of a day if it has this many times the bytes of an ordinary cluster. */
const TOO_MUCH = 4;

/** The latest instant at which the wall clock was believed. */
export interface Trust extends Instant {
  /** The monotonic instant since which the wall clock is not believed; `undefined` while it is. */
  readonly doubtedMs?: number | undefined;
}

/**
 * Returns whether the wall clock is believed: a clock that jumps forward by more than a day is wrong, as that of a machine that boots
 * before it knows the time, until it says so for 24 hours.
 */
export function trustAt({ wallMs, monotonicMs, doubtedMs }: Trust, now: Instant): Trust {
  const isNear = now.wallMs - wallMs - (now.monotonicMs - monotonicMs) <= DAY_MS;
  const sinceMs = doubtedMs ?? now.monotonicMs;
  if (isNear || now.monotonicMs - sinceMs >= DAY_MS) return now;
  return { wallMs, monotonicMs, doubtedMs: sinceMs };
}

/**
 * Returns the end of the latest day with which a start compares the clock; `undefined` if there is none. Days behind a gap that ended less
 * than two days ago may be by a clock that was wrong already then.
 */
export function latestEnd(days: readonly string[], nowMs: number): number | undefined {
  const begins = days.map(beginOf);
  const isBehindGap = (beginMs: number, nth: number): boolean =>
    nowMs - beginMs < 2 * DAY_MS && beginMs - (begins[nth - 1] ?? beginMs) > DAY_MS;
  const gap = begins.findLastIndex(isBehindGap);
  const last = gap < 0 ? begins.at(-1) : begins[gap - 1];
  return last === undefined ? undefined : last + DAY_MS;
}

/** Returns the files of days that ended longer ago than they are kept, oldest first. */
export function tooOld(
  files: readonly DayFile[],
  nowMs: number,
  { retentionMs }: Retention,
): readonly DayFile[] {
  return files.filter(({ day }) => beginOf(day) + DAY_MS <= nowMs - retentionMs);
}

/** Returns the clusters that take too much of a day, by the bytes of each cluster. */
export function hungry(sizes: ReadonlyMap<string, number>): ReadonlySet<string> {
  const sorted = [...sizes.values()].toSorted((one, other) => one - other);
  const ordinary = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return new Set([...sizes].flatMap(([cluster, bytes]) => (bytes > TOO_MUCH * ordinary ? cluster : [])));
}
