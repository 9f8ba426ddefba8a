import { nextOnGrid, phaseFraction } from "../../src/exporter/polling/instants.ts";

/** An operation that is due at every instant of its grid. */
export interface Turn {
  readonly key: string;
  /** @see TimetableEntry.phaseKey */
  readonly phaseKey: string;
  readonly intervalMs: number;
}

/** The exporter's counters at one instant of its monotonic clock. */
export interface Sample {
  readonly atMs: number;
  /** The numbers of ended polls, by the key of their turn. */
  readonly polls: ReadonlyMap<string, number>;
  /** The number of skipped polls of all operations, as counted by the exporter. */
  readonly skipped: number;
  /** The number of polls of all operations that began more than a second late, as counted by the exporter. */
  readonly begunLate: number;
}

/** The numbers of classified instants. */
export interface InstantCounts {
  readonly due: number;
  /** Instants that were polled, but whose poll ended after a later instant. */
  readonly late: number;
  /** Instants that were not polled, and that the exporter counted as skipped. */
  readonly skipped: number;
  readonly lost: number;
}

/** The time from one instant of a turn to the next, or to a later one without a sample in between. */
interface Window {
  readonly instants: number;
  readonly before: Reading;
}

/** An ended window; `owed` is the number of its instants without an ended poll. */
interface Account extends Window {
  readonly owed: number;
  readonly late: number;
  /** The number of windows that have ended since. */
  readonly age: number;
}

interface Reading {
  readonly polls: number;
  readonly skipped: number;
  readonly begunLate: number;
}

interface TurnState {
  readonly turn: Turn;
  nextMs: number;
  window: Window | undefined;
  /** Windows that are not classified yet, oldest first. */
  accounts: readonly Account[];
  last: Reading;
}

/** Tolerance for comparing two clocks; no poll ends this close to its next instant. */
const TOLERANCE_MS = 100;
/** The number of windows that a poll may be late: if polls begin in time, and if the machine is overloaded. */
const PATIENCE = { inTime: 1, busy: 6 };

/**
 * Counts the instants of each turn from `fromMs` on, and those without a poll. An instant is polled if a poll ended before
 * the next instant, or if the following windows contain a surplus of polls: one window if polls begin in time, more if
 * they begin late. An extra poll affects only the window in which it ends. Other instants are lost, unless the exporter
 * counted a skip meanwhile.
 */
export function createInstantCounter(turns: readonly Turn[], fromMs: number) {
  const states = turns.map((turn): TurnState => ({
    turn,
    nextMs: nextOnGrid(phaseFraction(turn.phaseKey), turn.intervalMs, fromMs),
    window: undefined,
    accounts: [],
    last: { polls: 0, skipped: 0, begunLate: 0 },
  }));
  const total = { due: 0, late: 0, skipped: 0, lost: 0 };

  function judge({ instants, before, owed, late }: Account, now: Reading): void {
    const skipped = Math.min(owed, now.skipped - before.skipped);
    total.due += instants;
    total.late += late;
    total.skipped += skipped;
    total.lost += owed - skipped;
  }

  function close(state: TurnState, window: Window): void {
    const missing = window.instants - (state.last.polls - window.before.polls);
    const settled = settle(state.accounts, Math.max(0, -missing));
    const isRipe = ({ age, owed, before }: Account): boolean =>
      owed === 0 || age >= (state.last.begunLate > before.begunLate ? PATIENCE.busy : PATIENCE.inTime);
    for (const account of settled.filter(isRipe)) judge(account, state.last);
    state.accounts = [
      ...settled.filter((account) => !isRipe(account)),
      { ...window, owed: Math.max(0, missing), late: 0, age: 0 },
    ];
  }

  return {
    /** Adds a sample. The calls must be in chronological order, several times per interval. */
    add: ({ atMs, polls, skipped, begunLate }: Sample): void => {
      for (const state of states) {
        const instants = passed(state, atMs);
        if (instants > 0 && state.window !== undefined) close(state, state.window);
        if (instants > 0) state.window = { instants, before: state.last };
        state.nextMs += instants * state.turn.intervalMs;
        state.last = { polls: polls.get(state.turn.key) ?? 0, skipped, begunLate };
      }
    },
    counts: (): InstantCounts => total,
  };
}

/** Advances by one window, whose surplus of polls counts for the longest owed instants. */
function settle(accounts: readonly Account[], surplus: number): readonly Account[] {
  let left = surplus;
  return accounts.map((account) => {
    const paid = Math.min(account.owed, left);
    left -= paid;
    return { ...account, owed: account.owed - paid, late: account.late + paid, age: account.age + 1 };
  });
}

/** Returns the number of instants of the turn that have passed but are not counted yet. */
function passed({ turn, nextMs }: TurnState, atMs: number): number {
  return Math.max(0, Math.ceil((atMs + TOLERANCE_MS - nextMs) / turn.intervalMs));
}
