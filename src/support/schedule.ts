import { createTask, parse } from "node-cron";
import { createTimeFormat } from "./time-zone.ts";

/** The instants at which a cron expression is due by the clocks of a time zone: Unix times in milliseconds, of whole seconds. */
export interface Schedule {
  /** Returns the first instant after this one; infinite if there is none within 40 years. */
  nextMs(afterMs: number): number;
  /** Returns the latest instant from `fromMs` to `toMs`, both included; `undefined` if there is none. */
  latestMs(fromMs: number, toMs: number): number | undefined;
  /** Returns the longest gap of those that begin within a year, and the first of several. */
  longestGap(afterMs: number): Gap;
}

/** The time between two instants in a row. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 29 February is a Monday again after 40 years, if the century between is no leap year. */
const HORIZON_DAYS = 40 * 366;
const YEAR_DAYS = 366;
/** The usual gap is the median of so many. */
const GAPS = 10;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * Returns the instants of a valid node-cron expression of six fields. `timeZone` is a name of the IANA database; without it, the zone of
 * the process counts. The rule for hours in which clocks are changed:
 *
 * - The schedule is due when clocks show a time that matches the expression.
 * - A time that clocks show twice counts at its first showing. It counts at the second too if the expression also matches a time at most an
 *   hour before or after it: what is due each second, minute or hour goes on, and what is due once a day is due once.
 * - A time that clocks skip is the instant without the clock change. Two times that become one instant count once. @see RFC 5545, 3.3.5
 */
export function createSchedule(expression: string, timeZone?: string): Schedule {
  const calendar = calendarOf(expression);
  const segmentAt = segmentsOf(timeZone);

  function firstFrom(earliestMs: number): number {
    const endMs = earliestMs + HORIZON_DAYS * DAY_MS;
    let fromMs = earliestMs;
    while (fromMs < endMs) {
      const segment = segmentAt(fromMs);
      const foundMs = firstIn(segment, calendar, fromMs);
      if (foundMs < segment.untilMs) return foundMs;
      // Times shown in the last day of a segment may be shown again in the next one. No clock change moves other instants by two days.
      const isLastDay = segment.untilMs - fromMs <= DAY_MS;
      fromMs = isLastDay ? segment.untilMs : Math.max(segment.untilMs, foundMs - 2 * DAY_MS);
    }
    return NEVER;
  }

  const nextMs = (afterMs: number): number => firstFrom(Math.floor(afterMs / SECOND_MS + 1) * SECOND_MS);

  function latestMs(fromMs: number, toMs: number): number | undefined {
    let low = Math.ceil(fromMs / SECOND_MS) - 1;
    let high = Math.floor(toMs / SECOND_MS);
    if (nextMs(low * SECOND_MS) > toMs) return undefined;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (nextMs(middle * SECOND_MS) > toMs) high = middle;
      else low = middle;
    }
    return nextMs(low * SECOND_MS);
  }

  return {
    nextMs,
    latestMs,
    longestGap: (afterMs) => {
      const { fromMs, toMs } = calendar.longestGap(afterMs + segmentAt(afterMs).offsetMs);
      const shownMs = (fromMs + toMs) / 2;
      const withinMs = shownMs - segmentAt(shownMs).offsetMs;
      const beginMs = latestMs(withinMs - (toMs - fromMs) - DAY_MS, withinMs);
      return { fromMs: beginMs ?? withinMs, toMs: nextMs(withinMs) };
    },
  };
}

/** Returns the median of the next ten gaps; infinite if there are not as many. */
export function usualGapMs({ nextMs }: Pick<Schedule, "nextMs">, afterMs: number): number {
  const instants = [nextMs(afterMs)];
  for (let nth = 0; nth < GAPS; nth += 1) instants.push(nextMs(instants.at(-1) ?? NEVER));
  if (instants.includes(NEVER)) return NEVER;
  const gapsMs = instants.slice(1).map((ms, nth) => ms - (instants[nth] ?? ms));
  const [low = NEVER, high = NEVER] = gapsMs.toSorted((a, b) => a - b).slice(GAPS / 2 - 1);
  return (low + high) / 2;
}

/** The times that match an expression. Local times are as if clocks showed UTC: no time is skipped, and every day has 24 hours. */
interface MatchingTimes {
  /** Returns the first time that is this one or later; infinite if there is none within 40 years. */
  from(localMs: number): number;
  /** @see Schedule.longestGap */
  longestGap(localMs: number): Gap;
}

function calendarOf(expression: string): MatchingTimes {
  const { hour, minute, second, month } = parse(expression);
  const [hours, minutes, seconds] = [ascending(hour), ascending(minute), ascending(second)];
  const firstMs = timeMs(hours[0], minutes[0], seconds[0]);
  const lastMs = timeMs(hours.at(-1), minutes.at(-1), seconds.at(-1));
  const task = createTask(expression, () => undefined, { timezone: "UTC" });
  // The task runs nothing, and a destroyed task still matches.
  void task.destroy();
  let latest = { dayMs: Number.NaN, isOn: false };

  function isOn(dayMs: number): boolean {
    if (!month.includes(new Date(dayMs).getUTCMonth() + 1)) return false;
    // Most questions in a row are about one day.
    if (latest.dayMs !== dayMs) latest = { dayMs, isOn: task.match(new Date(dayMs + firstMs)) };
    return latest.isOn;
  }

  /** Returns the first time of a day that is this one or later, in milliseconds after midnight; infinite if there is none. */
  function inDay(ms: number): number {
    const [h, m, s] = [Math.floor(ms / HOUR_MS), Math.floor(ms / 60_000) % 60, (ms / SECOND_MS) % 60];
    const exactHour = hours.includes(h);
    const exactMinute = exactHour && minutes.includes(m);
    const laterSecond = exactMinute ? seconds.find((each) => each >= s) : undefined;
    if (laterSecond !== undefined) return timeMs(h, m, laterSecond);
    const laterMinute = exactHour ? minutes.find((each) => each > m) : undefined;
    if (laterMinute !== undefined) return timeMs(h, laterMinute, seconds[0]);
    const laterHour = hours.find((each) => each > h);
    return laterHour === undefined ? NEVER : timeMs(laterHour, minutes[0], seconds[0]);
  }

  function from(localMs: number): number {
    const todayMs = Math.floor(localMs / DAY_MS) * DAY_MS;
    const todaysMs = inDay(localMs - todayMs);
    if (todaysMs < NEVER && isOn(todayMs)) return todayMs + todaysMs;
    for (let nth = 1; nth <= HORIZON_DAYS; nth += 1) {
      const dayMs = todayMs + nth * DAY_MS;
      if (isOn(dayMs)) return dayMs + firstMs;
    }
    return NEVER;
  }

  /** Returns the longest gap within a day, in milliseconds after midnight. */
  function longestInDay(): Gap {
    let longest = { fromMs: firstMs, toMs: firstMs };
    for (const fromMs of endsOfRuns()) {
      const toMs = inDay(fromMs + SECOND_MS);
      if (toMs < NEVER && toMs - fromMs > lengthMs(longest)) longest = { fromMs, toMs };
    }
    return longest;
  }

  /** Returns the times of a day before gaps of different kinds: each second of the first minute, and the last second of each minute. */
  function endsOfRuns(): readonly number[] {
    const last = seconds.at(-1);
    return [
      ...seconds.map((each) => timeMs(hours[0], minutes[0], each)),
      ...hours.flatMap((h) => minutes.map((m) => timeMs(h, m, last))),
    ];
  }

  return {
    from,
    longestGap: (localMs) => {
      const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
      let dayMs = dayOf(from(localMs));
      const nextMs = dayOf(from(dayMs + DAY_MS));
      const inOneDay = longestInDay();
      let longest = { fromMs: nextMs + inOneDay.fromMs, toMs: nextMs + inOneDay.toMs };
      const endMs = localMs + YEAR_DAYS * DAY_MS;
      while (dayMs < endMs) {
        const gap = { fromMs: dayMs + lastMs, toMs: from(dayMs + DAY_MS) };
        if (lengthMs(gap) > lengthMs(longest)) longest = gap;
        dayMs = dayOf(gap.toMs);
      }
      return longest;
    },
  };
}

export function lengthMs({ fromMs, toMs }: Gap): number {
  return toMs - fromMs;
}

function ascending(values: readonly number[]): readonly number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}

function timeMs(hour = 0, minute = 0, second = 0): number {
  return ((hour * 60 + minute) * 60 + second) * SECOND_MS;
}

/** A time in which the clocks of a zone show Unix time plus an offset. */
interface Segment {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
  /** The offset before; the same one unless clocks were changed at the beginning. */
  readonly earlierMs: number;
}

/** Returns the first instant that is `fromMs` or later, by the clocks of a segment; it may be after the segment's end. */
function firstIn(segment: Segment, { from }: MatchingTimes, fromMs: number): number {
  const { offsetMs, earlierMs } = segment;
  const changedMs = segment.fromMs + earlierMs;
  const untilMs = segment.fromMs + offsetMs;
  if (changedMs < untilMs) {
    // These times were skipped.
    const skippedMs = fromMs + earlierMs < untilMs ? from(fromMs + earlierMs) : NEVER;
    const shownMs = from(fromMs + offsetMs);
    return Math.min(shownMs - offsetMs, skippedMs < untilMs ? skippedMs - earlierMs : NEVER);
  }
  let shownMs = from(fromMs + offsetMs);
  // These times are shown again.
  while (shownMs < changedMs && !goesOn(shownMs, from)) shownMs = from(shownMs + SECOND_MS);
  return shownMs - offsetMs;
}

/** Whether a schedule is due again at most an hour before or after a time. */
function goesOn(shownMs: number, from: MatchingTimes["from"]): boolean {
  return from(shownMs - HOUR_MS) < shownMs || from(shownMs + SECOND_MS) <= shownMs + HOUR_MS;
}

/** A segment without a clock change ends after this time, and the next one goes on. */
const SEGMENT_DAYS = 60;
const DAYS_AFTER = Array.from({ length: SEGMENT_DAYS }, (_, nth) => nth + 1);

/** Returns a function that returns the segment of a zone with an instant. It keeps the latest segments. */
function segmentsOf(timeZone: string | undefined): (ms: number) => Segment {
  const format = createTimeFormat(timeZone);
  const shownLength = "2026-10-25 02:30:00".length;
  const offsetAt = (ms: number): number => Date.parse(`${format(ms).slice(0, shownLength)}Z`) - ms;
  let known: readonly Segment[] = [];

  /** Returns the first second with the offset of `toMs`, where clocks are changed once between both. */
  function changeBetween(fromMs: number, toMs: number): number {
    let [before, after] = [fromMs / SECOND_MS, toMs / SECOND_MS];
    const offsetMs = offsetAt(toMs);
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle * SECOND_MS) === offsetMs) after = middle;
      else before = middle;
    }
    return after * SECOND_MS;
  }

  /** Clocks are never changed by more than a day. So a day after the beginning, no change before it matters. */
  function segmentOf(ms: number): Segment {
    const secondMs = Math.floor(ms / SECOND_MS) * SECOND_MS;
    const offsetMs = offsetAt(secondMs);
    const isOther = (days: number): boolean => offsetAt(secondMs + days * DAY_MS) !== offsetMs;
    const before = [-1, -2].find(isOther);
    const after = DAYS_AFTER.find(isOther);
    const changeAt = (days: number): number =>
      changeBetween(secondMs + days * DAY_MS, secondMs + (days + 1) * DAY_MS);
    const fromMs = before === undefined ? secondMs - DAY_MS : changeAt(before);
    const untilMs = secondMs + SEGMENT_DAYS * DAY_MS;
    return {
      fromMs,
      untilMs: after === undefined ? untilMs : changeAt(after - 1),
      offsetMs,
      earlierMs: before === undefined ? offsetMs : offsetAt(fromMs - SECOND_MS),
    };
  }

  return (ms) => {
    const found = known.find(({ fromMs, untilMs }) => ms >= fromMs && ms < untilMs);
    if (found !== undefined) return found;
    const made = segmentOf(ms);
    known = [made, ...known].slice(0, 4);
    return made;
  };
}
