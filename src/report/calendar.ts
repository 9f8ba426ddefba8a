import type { TimeRange } from "../journal/day-files.ts";

const DAY_MS = 86_400_000;

/** The dates of a time zone. Times are Unix times in milliseconds. */
export interface Calendar {
  readonly timeZone: string;
  /** From the first instant of a month, `2026-10`, to the first one of the next. */
  monthOf(month: string): TimeRange;
  /** The instants at which the dates of a month begin. */
  daysOf(month: string): readonly number[];
  /** `2026-10-25 02:30:00 +01:00`: the hour that is there twice when clocks are set back has two offsets. */
  format(ms: number): string;
}

/** The calendar of a time zone of the IANA database; `undefined` if there is none of this name. */
export function createCalendar(timeZone: string): Calendar | undefined {
  const formatter = formatterOf(timeZone);
  if (formatter === undefined) return undefined;

  const format = (ms: number): string => {
    const { year, month, day, hour, minute, second, timeZoneName = "" } = partsOf(formatter, ms);
    const offset = timeZoneName.replace("GMT", "") || "+00:00";
    return `${year}-${month}-${day} ${hour}:${minute}:${second} ${offset}`;
  };

  /** The first instant of a date: midnight, or what follows where clocks skip it. */
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

function formatterOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      timeZoneName: "longOffset",
    });
  } catch {
    return undefined;
  }
}

type Parts = Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>>;

function partsOf(formatter: Intl.DateTimeFormat, ms: number): Parts {
  return Object.fromEntries(formatter.formatToParts(ms).map(({ type, value }) => [type, value]));
}

function monthAfter(month: string): string {
  const [first = ""] = datesOf(month);
  return new Date(Date.parse(first) + 31 * DAY_MS).toISOString().slice(0, "2026-10".length);
}

/** `2026-10-01` and those that follow. */
function datesOf(month: string): readonly string[] {
  const firstMs = Date.parse(`${month}-01`);
  const dates = Array.from({ length: 31 }, (_, nth) => new Date(firstMs + nth * DAY_MS).toISOString());
  return dates.map((date) => date.slice(0, "2026-10-01".length)).filter((date) => date.startsWith(month));
}
