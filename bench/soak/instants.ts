import { nextOnGrid } from "../../src/polling/schedule.ts";

/** An operation that is due at every instant of its grid. */
export interface Turn {
  readonly key: string;
  /** @see TimetableEntry.phaseKey */
  readonly phaseKey: string;
  readonly intervalMs: number;
}

/** What the exporter's counters said at one moment of its own monotonic clock. */
export interface Sighting {
  readonly atMs: number;
  /** Polls that have ended, by the key of their turn. */
  readonly polls: ReadonlyMap<string, number>;
  /** Polls that were due and not made, of all operations, by the exporter's own count. */
  readonly skipped: number;
}

/** Instants that have been judged. */
export interface InstantCounts {
  readonly due: number;
  /** Their poll ended after the next instant only. */
  readonly late: number;
  /** Not made, and counted so by the exporter. */
  readonly skipped: number;
  readonly lost: number;
}

/** From one instant of a turn to the next; to a later one where nothing was seen in between. */
interface Window {
  readonly instants: number;
  readonly before: Reading;
}

interface Reading {
  readonly polls: number;
  readonly skipped: number;
}

interface TurnState {
  readonly turn: Turn;
  nextMs: number;
  window: Window | undefined;
  /** The window before, with as many instants as no poll has ended for in it. */
  previous: (Window & { readonly owed: number }) | undefined;
  last: Reading;
}

/** Two clocks are not compared more closely than this; no poll ends so short before its next instant. */
const TOLERANCE_MS = 100;

/**
 * Counts the instants of each turn from `fromMs` on, and those for which no poll was made. An instant has its poll if one
 * ended before the next instant, or two before the one after that: polls out of turn neither hide a loss nor make one, but
 * in the very window in which they end. What is left is lost, unless the exporter counted a skip in these two windows.
 */
export function createInstantCounter(turns: readonly Turn[], fromMs: number) {
  const states = turns.map((turn): TurnState => ({
    turn,
    nextMs: nextOnGrid(turn.phaseKey, turn.intervalMs, fromMs),
    window: undefined,
    previous: undefined,
    last: { polls: 0, skipped: 0 },
  }));
  const total = { due: 0, late: 0, skipped: 0, lost: 0 };

  /** Two windows after it began, it is known what became of the previous one's instants. */
  function judge({ instants, before, owed }: Window & { readonly owed: number }, late: number, now: Reading) {
    const skipped = Math.min(owed - late, now.skipped - before.skipped);
    total.due += instants;
    total.late += late;
    total.skipped += skipped;
    total.lost += owed - late - skipped;
  }

  function close(state: TurnState, window: Window): void {
    const missing = window.instants - (state.last.polls - window.before.polls);
    const { previous } = state;
    if (previous !== undefined) judge(previous, Math.min(previous.owed, Math.max(0, -missing)), state.last);
    state.previous = { ...window, owed: Math.max(0, missing) };
  }

  return {
    /** To be told in the order of time, several times an interval. */
    see: ({ atMs, polls, skipped }: Sighting): void => {
      for (const state of states) {
        const instants = passed(state, atMs);
        if (instants > 0 && state.window !== undefined) close(state, state.window);
        if (instants > 0) state.window = { instants, before: state.last };
        state.nextMs += instants * state.turn.intervalMs;
        state.last = { polls: polls.get(state.turn.key) ?? 0, skipped };
      }
    },
    counts: (): InstantCounts => total,
  };
}

/** How many instants of the turn have passed that were not counted yet. */
function passed({ turn, nextMs }: TurnState, atMs: number): number {
  return Math.max(0, Math.ceil((atMs + TOLERANCE_MS - nextMs) / turn.intervalMs));
}
