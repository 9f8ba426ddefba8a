import { isDeepStrictEqual } from "node:util";
import type { OperationTiming } from "../config/config.ts";
import type { Clock } from "../support/clock.ts";
import { dueAfterFirstMs, firstDueMs, takeDue, turnFromMs } from "./schedule.ts";
import { createSchedules } from "./schedules.ts";

const HEARTBEAT_MS = 1000;
/** How far ahead of its due time a timer is set: more than a heartbeat, so that a late heartbeat delays nothing. */
const LOOKAHEAD_MS = 1500;

/** A recurring poll. */
export interface TimetableEntry {
  readonly key: string;
  /** What is polled; with another subject the entry restarts. */
  readonly subject: string;
  /** Entries with the same phase key and timing are due at the same instants. */
  readonly phaseKey: string;
  readonly timing: OperationTiming;
  /** Whether the first poll is made at once or waits for `release`. */
  readonly first: "at_once" | "on_release";
}

export interface TimetableDeps {
  readonly clock: Clock;
  /** The entry is due, since `dueMs`, monotonic. Must return at once. */
  readonly onDue: (key: string, dueMs: number) => void;
  /** `count` instants of the entry were missed, because the process was blocked. */
  readonly onMissed: (key: string, count: number) => void;
  readonly onClockJump: (jumpMs: number) => void;
}

/** Reports due entries: intervals by the monotonic clock, cron expressions by the wall clock. */
export interface Timetable {
  /** Sets the entries. Unchanged entries keep their instants. */
  set(entries: readonly TimetableEntry[]): void;
  /** Starts a waiting entry now; returns whether it was waiting. */
  release(key: string): boolean;
  /** Makes an entry due now, in addition to its regular instants. */
  dueNow(key: string): void;
  /**
   * The monotonic instant, `fromMs` or later, at which the entry is due next; `undefined` if none is planned yet. `fromMs`
   * if the next instant of a schedule is before it.
   */
  nextDueMs(key: string, fromMs: number): number | undefined;
  /** Two intervals, or the time until the second next instant of a schedule. */
  twoGapsMs(timing: OperationTiming): number;
  /** The monotonic instant of the last heartbeat. */
  lastTickMs(): number;
  stop(): void;
}

interface Slot {
  readonly entry: TimetableEntry;
  /**
   * `waiting` for its release; `first`: due once at `dueMs`, outside its grid; `regular`: due at `dueMs` and every interval
   * after that, or at the instants of its schedule.
   */
  state: "waiting" | "first" | "regular";
  dueMs: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

export function startTimetable({ clock, onDue, onMissed, onClockJump }: TimetableDeps): Timetable {
  const slots = new Map<string, Slot>();
  let lastTickMs = clock.monotonicMs();

  const heartbeat = setInterval(beat, HEARTBEAT_MS);
  const schedules = createSchedules({
    clock,
    lookaheadMs: LOOKAHEAD_MS,
    onDue: (expression, dueMs, missed) => {
      for (const { entry, state } of slots.values()) {
        if (state === "regular" && expressionOf(entry.timing) === expression)
          report(entry.key, dueMs, missed);
      }
    },
    onClockJump,
  });

  function report(key: string, dueMs: number, missed: number): void {
    if (missed > 0) onMissed(key, missed);
    onDue(key, dueMs);
  }

  function beat(): void {
    lastTickMs = clock.monotonicMs();
    schedules.beat();
    for (const slot of slots.values()) arm(slot);
  }

  function arm(slot: Slot): void {
    if (slot.dueMs === undefined || slot.timer !== undefined) return;
    const inMs = slot.dueMs - clock.monotonicMs();
    if (inMs < LOOKAHEAD_MS) slot.timer = setTimeout(() => fire(slot), Math.max(0, inMs));
  }

  function fire(slot: Slot): void {
    slot.timer = undefined;
    if (slot.dueMs === undefined) return;
    const { timing, key } = slot.entry;
    if (slot.state === "first" || timing.kind === "schedule") {
      begin(slot, slot.dueMs);
      return;
    }
    const due = takeDue(slot.dueMs, timing.intervalMs, clock.monotonicMs());
    slot.dueMs = due.nextDueMs;
    report(key, due.dueMs, due.missed);
    arm(slot);
  }

  function begin(slot: Slot, dueMs: number): void {
    const { timing, key, phaseKey } = slot.entry;
    slot.state = "regular";
    slot.dueMs = timing.kind === "interval" ? dueAfterFirstMs(phaseKey, timing.intervalMs, dueMs) : undefined;
    onDue(key, dueMs);
    arm(slot);
  }

  function add(entry: TimetableEntry, nowMs: number): void {
    const waits = entry.first === "on_release";
    const dueMs = waits ? undefined : firstDueMs(entry.phaseKey, nowMs);
    const slot: Slot = { entry, state: waits ? "waiting" : "first", dueMs, timer: undefined };
    slots.set(entry.key, slot);
    arm(slot);
  }

  function drop(slot: Slot): void {
    clearTimeout(slot.timer);
    slots.delete(slot.entry.key);
  }

  return {
    set: (entries) => {
      const nowMs = clock.monotonicMs();
      const wanted = new Map(entries.map((entry) => [entry.key, entry]));
      for (const slot of slots.values()) {
        if (!isDeepStrictEqual(wanted.get(slot.entry.key), slot.entry)) drop(slot);
      }
      schedules.set(new Set(entries.flatMap(({ timing }) => expressionOf(timing) ?? [])));
      for (const entry of entries) if (!slots.has(entry.key)) add(entry, nowMs);
    },
    release: (key) => {
      const slot = slots.get(key);
      if (slot?.state !== "waiting") return false;
      begin(slot, clock.monotonicMs());
      return true;
    },
    dueNow: (key) => onDue(key, clock.monotonicMs()),
    nextDueMs: (key, fromMs) => {
      const slot = slots.get(key);
      if (slot === undefined) return undefined;
      const { dueMs, entry, state } = slot;
      if (dueMs !== undefined) {
        return entry.timing.kind === "interval" ? turnFromMs(dueMs, entry.timing.intervalMs, fromMs) : dueMs;
      }
      if (state === "waiting" || entry.timing.kind === "interval") return undefined;
      const [nextMs] = schedules.nextMs(entry.timing.expression, 1);
      return nextMs && Math.max(fromMs, nextMs - clock.wallMs() + clock.monotonicMs());
    },
    twoGapsMs: (timing) => {
      if (timing.kind === "interval") return 2 * timing.intervalMs;
      const [, second] = schedules.nextMs(timing.expression, 2);
      return second === undefined ? 0 : second - clock.wallMs();
    },
    lastTickMs: () => lastTickMs,
    stop: () => {
      clearInterval(heartbeat);
      schedules.set(new Set());
      for (const slot of slots.values()) drop(slot);
    },
  };
}

function expressionOf(timing: OperationTiming): string | undefined {
  return timing.kind === "schedule" ? timing.expression : undefined;
}
