import type { TimeRange } from "../journal/day-files.ts";
import { createTimeFormat, isTimeZone } from "../../support/time-zone.ts";

const DAY_MS = 86_400_000;

/** The dates of a time zone. Times are Unix times in milliseconds. */
export interface Calendar {
  readonly timeZone: string;
  /** Returns the time from the first instant of a month, `2026-10`, to the first one of the next. */
  monthOf(month: string): TimeRange;
  /** Returns the instants at which the dates of a month begin. */
  daysOf(month: string): readonly number[];
  /** @see createTimeFormat */
  format(ms: number): string;
}

/** Returns the calendar of a time zone of the IANA database; `undefined` if there is none of this name. */
export function createCalendar(timeZone: string): Calendar | undefined {
  if (!isTimeZone(timeZone)) return undefined;
  const format = createTimeFormat(timeZone);

  /** Returns the first instant of a date: midnight, or the instant that follows where clocks skip midnight. */
  const beginOf = (date: string): number => {
    const midnightMs = Date.parse(`${date}T00:00:00Z`);
    let [beforeMs, afterMs] = [midnightMs - DAY_MS, midnightMs + DAY_MS];
    while (afterMs - beforeMs > 1) {
      const middleMs = Math.floor((beforeMs + afterMs) / 2);
      if (format(middleMs) < date) beforeMs = middleMs;
      else afterMs = middleMs;
    }
    return afterMs;
  };

  return {
    timeZone,
    format,
    monthOf: (month) => ({ fromMs: beginOf(`${month}-01`), toMs: beginOf(`${monthAfter(month)}-01`) }),
    daysOf: (month) => datesOf(month).map(beginOf),
  };
}

function monthAfter(month: string): string {
  const [first = ""] = datesOf(month);
  return new Date(Date.parse(first) + 31 * DAY_MS).toISOString().slice(0, "2026-10".length);
}

/** Returns `2026-10-01` and the dates that follow. */
function datesOf(month: string): readonly string[] {
  const firstMs = Date.parse(`${month}-01`);
  const dates = Array.from({ length: 31 }, (_, nth) => new Date(firstMs + nth * DAY_MS).toISOString());
  return dates.map((date) => date.slice(0, "2026-10-01".length)).filter((date) => date.startsWith(month));
}
