import { createTask, type ScheduledTask } from "node-cron";
import type { OperationTiming } from "../config/config.ts";
import type { Clock } from "../support/clock.ts";
import { firstDueMs, nextOnGrid, phaseFraction } from "./pace.ts";

const HEARTBEAT_MS = 1000;
/** A timer is set so far ahead of its due time: more than a heartbeat, so that a late heartbeat delays nothing. */
const LOOKAHEAD_MS = 1500;
/** The wall clock was set, or the machine slept, if the clocks diverge by more than this. */
const TOLERANCE_MS = 2000;
const NEVER = Number.POSITIVE_INFINITY;

export interface TimetableDeps<Entry> {
  readonly clock: Clock;
  /** The entry is due, since `dueMs`, monotonic. Must return at once. */
  readonly onDue: (entry: Entry, dueMs: number) => void;
  /** `count` instants of the entry were missed, because the process was blocked. */
  readonly onMissed: (entry: Entry, count: number) => void;
  readonly onClockJump: (jumpMs: number) => void;
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
  /** The interval, or half of the time until the second next instant of a schedule. */
  gapMs(timing: OperationTiming): number;
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

/** A cron expression in the wall clock's local time. */
interface Cron {
  /** Never started: its timer would iterate over the whole time by which a clock is set forward. */
  readonly task: ScheduledTask;
  readonly fromMs: number;
  /** The next two instants after `fromMs`, by the wall clock. */
  readonly runs: readonly [number, number];
}

export function startTimetable<Entry extends object>(deps: TimetableDeps<Entry>): Timetable<Entry> {
  const { clock, onDue, onMissed, onClockJump } = deps;
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

  function runsAfter(expression: string, nowMs: number): Cron["runs"] {
    const known = crons.get(expression);
    if (known !== undefined && nowMs >= known.fromMs && nowMs < known.runs[0]) return known.runs;
    const task = known?.task ?? createTask(expression, () => undefined);
    const [first = NEVER, second = NEVER] = task.getNextRuns(2).map((date) => date.getTime());
    crons.set(expression, { task, runs: [first, second], fromMs: nowMs });
    return [first, second];
  }

  /** The interval, or the time between the next two instants of a schedule. */
  function spacingMs(timing: OperationTiming, nowMs: number): number {
    if (timing.kind === "interval") return timing.intervalMs;
    const [first, second] = runsAfter(timing.expression, nowMs);
    return second - first;
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
      scheduled.dueMs = scheduled.isFirst ? firstDueMs(phase, nowMs) : runsAfter(timing.expression, nowMs)[0];
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
      const eachMs = spacingMs(timing, nowMs);
      const missed = Math.max(0, Math.floor((nowMs - scheduled.dueMs) / eachMs));
      const dueMs = scheduled.dueMs + missed * eachMs;
      // The first poll is outside the grid, and the next one not right after it.
      scheduled.dueMs =
        timing.kind === "interval"
          ? nextOnGrid(phase, timing.intervalMs, Math.max(nowMs, dueMs + timing.intervalMs / 2))
          : runsAfter(timing.expression, nowMs)[0];
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
      return timing.kind === "interval" ? nextOnGrid(phase, timing.intervalMs, fromMs) : fromMs;
    },
    gapMs: (timing) => {
      if (timing.kind === "interval") return timing.intervalMs;
      const nowMs = clock.wallMs();
      return (runsAfter(timing.expression, nowMs)[1] - nowMs) / 2;
    },
    lastTickMs: () => lastTickMs,
    stop: () => {
      clearInterval(heartbeat);
      for (const { timer } of entries.values()) clearTimeout(timer);
      entries.clear();
      for (const { task } of crons.values()) void task.destroy();
    },
  };
}

function rhythmOf(timing: OperationTiming): number | string {
  return timing.kind === "interval" ? timing.intervalMs : timing.expression;
}
