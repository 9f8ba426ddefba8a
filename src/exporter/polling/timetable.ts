import type { OperationTiming } from "../config/config.ts";
import type { Clock } from "../../support/clock.ts";
import { createSchedule, usualGapMs, type Schedule } from "../../support/schedule.ts";
import {
  endOfScheduled,
  expiresAtMs,
  firstDueMs,
  longestWaitMs,
  nextOnGrid,
  phaseFraction,
  type End,
} from "./instants.ts";

const HEARTBEAT_MS = 1000;
/** A timer is set so far ahead of its due time: more than a heartbeat, so that a late heartbeat delays nothing. */
const LOOKAHEAD_MS = 1500;
/** The wall clock was set, or the machine slept, if the clocks diverge by more than this. */
const TOLERANCE_MS = 2000;
/** No more missed instants are counted, which takes more than a second: a process may be stopped for weeks. */
const MOST_MISSED = 200_000;

export interface TimetableDeps<Entry> {
  readonly clock: Clock;
  /** The entry is due, since `dueMs`, monotonic. Must return at once. */
  readonly onDue: (entry: Entry, dueMs: number) => void;
  /** `count` instants of the entry were missed, because the process was blocked. */
  readonly onMissed: (entry: Entry, count: number) => void;
  readonly onClockJump: (jumpMs: number) => void;
  /** The time zone of schedules, of the IANA database; default: that of the process. */
  readonly timeZone?: string;
}

/**
 * Reports due entries: intervals by the monotonic clock, cron expressions by the wall clock. A new entry is due once within a
 * second. Instants of a schedule that the wall clock jumped over are neither due nor missed.
 */
export interface Timetable<Entry> {
  /**
   * Adds an entry, or changes its timing. One that is due as before keeps its instants. Entries with the same phase key and
   * timing are due at the same instants.
   */
  put(entry: Entry, phaseKey: string, timing: OperationTiming): void;
  remove(entry: Entry): void;
  /** The monotonic instant, `fromMs` or later, at which the entry is due next; `undefined` if it is not there. */
  nextDueMs(entry: Entry, fromMs: number): number | undefined;
  /** The interval, or the usual gap of a schedule. */
  gapMs(timing: OperationTiming): number;
  /** The end of a result that counts from the monotonic instant `fromMs`. */
  endOf(timing: OperationTiming, fromMs: number): End;
  /** The monotonic instant at which the first of all entries is due next; infinite if there are none. */
  soonestMs(): number;
  /** The monotonic instant of the last heartbeat. */
  lastTickMs(): number;
  stop(): void;
}

interface Scheduled<Entry> {
  readonly entry: Entry;
  readonly phaseKey: string;
  /** The hash of the key, which is kept to be compared. @see phaseFraction */
  readonly phase: number;
  readonly timing: OperationTiming;
  /** Whether it was not due yet: the first time is not one of its regular instants. */
  isFirst: boolean;
  /** The instant is one of the clock that the timing follows. */
  dueMs: number;
  timer: NodeJS.Timeout | undefined;
}

/** A schedule of the local time, and its next instants after `fromMs` by the wall clock. */
interface Cron {
  readonly schedule: Schedule;
  readonly fromMs: number;
  readonly firstMs: number;
  readonly secondMs: number;
  readonly usualGapMs: number;
  /** The instants until now that were missed since one that was due: entries of one expression miss the same. */
  missed?: Missed;
}

interface Missed {
  readonly dueMs: number;
  readonly latestMs: number;
  readonly count: number;
}

export function startTimetable<Entry extends object>(deps: TimetableDeps<Entry>): Timetable<Entry> {
  const { clock, onDue, onMissed, onClockJump, timeZone } = deps;
  const entries = new Map<Entry, Scheduled<Entry>>();
  const crons = new Map<string, Cron>();
  let lastTickMs = clock.monotonicMs();
  let wallOffsetMs = clock.wallMs() - lastTickMs;

  const heartbeat = setInterval(() => {
    lastTickMs = clock.monotonicMs();
    checkWallClock();
    // Not with an iterator, which would make an object for each of many thousand entries.
    entries.forEach(arm);
  }, HEARTBEAT_MS);

  const nowBy = ({ kind }: OperationTiming): number =>
    kind === "interval" ? clock.monotonicMs() : clock.wallMs();

  /** The monotonic instant of an instant by the clock that the timing follows. */
  const monotonic = ({ kind }: OperationTiming, atMs: number): number =>
    kind === "interval" ? atMs : atMs - clock.wallMs() + clock.monotonicMs();

  function cronAt(expression: string, nowMs: number): Cron {
    const known = crons.get(expression);
    if (known !== undefined && nowMs >= known.fromMs && nowMs < known.firstMs) return known;
    const schedule = known?.schedule ?? createSchedule(expression, timeZone);
    const cron = { schedule, fromMs: nowMs, ...upcoming(schedule, nowMs) };
    crons.set(expression, cron);
    return cron;
  }

  /** Returns the latest instant until `nowMs`, and the number of those since `dueMs` that were missed before it. */
  function missedBy({ timing, dueMs }: Scheduled<Entry>, nowMs: number): Omit<Missed, "dueMs"> {
    if (timing.kind === "interval") {
      const count = Math.max(0, Math.floor((nowMs - dueMs) / timing.intervalMs));
      return { latestMs: dueMs + count * timing.intervalMs, count };
    }
    const cron = cronAt(timing.expression, nowMs);
    if (cron.missed?.dueMs !== dueMs) cron.missed = { dueMs, ...missedIn(cron.schedule, dueMs, nowMs) };
    return cron.missed;
  }

  /** Computes the instants of all schedules again after a jump of the wall clock. */
  function checkWallClock(): void {
    const jumpMs = clock.wallMs() - clock.monotonicMs() - wallOffsetMs;
    if (Math.abs(jumpMs) <= TOLERANCE_MS) return;
    wallOffsetMs += jumpMs;
    const nowMs = clock.wallMs();
    for (const scheduled of entries.values()) {
      const { timing, phase } = scheduled;
      if (timing.kind === "interval") continue;
      const { firstMs, usualGapMs: gapMs } = cronAt(timing.expression, nowMs);
      // The latest result of a schedule that rests says when it goes on by the clock as it was. So it is due once, as at the start.
      scheduled.isFirst ||= firstMs - nowMs > longestWaitMs(gapMs);
      scheduled.dueMs = scheduled.isFirst ? firstDueMs(phase, nowMs) : firstMs;
      clearTimeout(scheduled.timer);
      scheduled.timer = undefined;
      arm(scheduled);
    }
    onClockJump(jumpMs);
  }

  function arm(scheduled: Scheduled<Entry>): void {
    const inMs = scheduled.dueMs - nowBy(scheduled.timing);
    if (scheduled.timer === undefined && inMs < LOOKAHEAD_MS)
      scheduled.timer = setTimeout(() => fire(scheduled), Math.max(0, inMs));
  }

  function fire(scheduled: Scheduled<Entry>): void {
    const { timing, phase } = scheduled;
    scheduled.timer = undefined;
    // First: no instant is due if the clock was set forward past it or back before it.
    if (timing.kind === "schedule") checkWallClock();
    const nowMs = nowBy(timing);
    if (timing.kind === "interval" || scheduled.dueMs <= nowMs) {
      // The latest of the missed instants is due, and lateness is measured from there; earlier ones are only counted.
      const { latestMs: dueMs, count } = missedBy(scheduled, nowMs);
      // The first poll of a schedule is at none of its instants, and stands for one that has passed meanwhile.
      const missed = timing.kind === "schedule" && scheduled.isFirst ? Math.max(0, count - 1) : count;
      // The first poll is outside the grid, and the next one not right after it.
      scheduled.dueMs =
        timing.kind === "interval"
          ? nextOnGrid(phase, timing.intervalMs, Math.max(nowMs, dueMs + timing.intervalMs / 2))
          : cronAt(timing.expression, nowMs).firstMs;
      scheduled.isFirst = false;
      if (missed > 0) onMissed(scheduled.entry, missed);
      onDue(scheduled.entry, monotonic(timing, dueMs));
    }
    arm(scheduled);
  }

  return {
    put: (entry, phaseKey, timing) => {
      const known = entries.get(entry);
      if (known?.phaseKey === phaseKey && rhythmOf(known.timing) === rhythmOf(timing)) return;
      clearTimeout(known?.timer);
      const phase = phaseFraction(phaseKey);
      const dueMs = firstDueMs(phase, nowBy(timing));
      const scheduled = { entry, phaseKey, phase, timing, isFirst: true, dueMs, timer: undefined };
      entries.set(entry, scheduled);
      arm(scheduled);
    },
    remove: (entry) => {
      clearTimeout(entries.get(entry)?.timer);
      entries.delete(entry);
    },
    nextDueMs: (entry, fromMs) => {
      const scheduled = entries.get(entry);
      if (scheduled === undefined) return undefined;
      const { timing, phase } = scheduled;
      const dueMs = monotonic(timing, scheduled.dueMs);
      if (dueMs >= fromMs) return dueMs;
      if (timing.kind === "interval") return nextOnGrid(phase, timing.intervalMs, fromMs);
      const nowMs = clock.wallMs();
      const { schedule } = cronAt(timing.expression, nowMs);
      return monotonic(timing, schedule.nextMs(fromMs - clock.monotonicMs() + nowMs - 1));
    },
    gapMs: (timing) => {
      if (timing.kind === "interval") return timing.intervalMs;
      return cronAt(timing.expression, clock.wallMs()).usualGapMs;
    },
    endOf: (timing, fromMs) => {
      const { timeoutMs } = timing;
      if (timing.kind === "interval")
        return { expiresAtMs: expiresAtMs(fromMs, timing.intervalMs, timeoutMs) };
      const nowMs = clock.wallMs();
      const wallMs = fromMs - clock.monotonicMs() + nowMs;
      const cron = cronAt(timing.expression, nowMs);
      // A backoff may end after further instants.
      const next = wallMs < cron.firstMs ? cron : upcoming(cron.schedule, wallMs);
      return endOfScheduled(
        fromMs,
        {
          firstMs: monotonic(timing, next.firstMs),
          secondMs: monotonic(timing, next.secondMs),
          usualGapMs: next.usualGapMs,
          firstUnixMs: next.firstMs,
        },
        timeoutMs,
      );
    },
    soonestMs: () => {
      let soonestMs = Number.POSITIVE_INFINITY;
      for (const { timing, dueMs } of entries.values())
        soonestMs = Math.min(soonestMs, monotonic(timing, dueMs));
      return soonestMs;
    },
    lastTickMs: () => lastTickMs,
    stop: () => {
      clearInterval(heartbeat);
      for (const { timer } of entries.values()) clearTimeout(timer);
      entries.clear();
    },
  };
}

function upcoming(schedule: Schedule, afterMs: number): Pick<Cron, "firstMs" | "secondMs" | "usualGapMs"> {
  const firstMs = schedule.nextMs(afterMs);
  return { firstMs, secondMs: schedule.nextMs(firstMs), usualGapMs: usualGapMs(schedule, afterMs) };
}

function missedIn({ nextMs, latestMs }: Schedule, dueMs: number, nowMs: number): Omit<Missed, "dueMs"> {
  let count = 0;
  for (let ms = nextMs(dueMs); ms <= nowMs && count < MOST_MISSED; ms = nextMs(ms)) count += 1;
  return { latestMs: latestMs(dueMs + 1, nowMs) ?? dueMs, count };
}

function rhythmOf(timing: OperationTiming): number | string {
  return timing.kind === "interval" ? timing.intervalMs : timing.expression;
}
