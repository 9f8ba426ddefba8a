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
  /** Polls that began more than a second late, of all operations, by the same. */
  readonly begunLate: number;
}

/** Instants that have been judged. */
export interface InstantCounts {
  readonly due: number;
  /** Their poll ended after a later instant only. */
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

/** A window that has ended, and how many of its instants no poll has ended for yet. */
interface Account extends Window {
  readonly owed: number;
  readonly late: number;
  /** Windows that have ended since. */
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
  /** Of those not judged yet, the oldest first. */
  accounts: readonly Account[];
  last: Reading;
}

/** Two clocks are not compared more closely than this; no poll ends so short before its next instant. */
const TOLERANCE_MS = 100;
/** How many windows a late poll may take: where polls begin in time, and where the machine has no time for them. */
const PATIENCE = { inTime: 1, busy: 6 };

/**
 * Counts the instants of each turn from `fromMs` on, and those for which no poll was made. An instant has its poll if one
 * ended before the next instant, or one too many in the window after that: polls out of turn neither hide a loss nor make
 * one, but in the very window in which they end. Where polls begin late, one may follow the other an interval late for
 * long, and more windows are waited for. What is left is lost, unless the exporter counted a skip meanwhile.
 */
export function createInstantCounter(turns: readonly Turn[], fromMs: number) {
  const states = turns.map((turn): TurnState => ({
    turn,
    nextMs: nextOnGrid(turn.phaseKey, turn.intervalMs, fromMs),
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
    /** To be told in the order of time, several times an interval. */
    see: ({ atMs, polls, skipped, begunLate }: Sighting): void => {
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

/** One window later: polls too many in it are those that were owed longest. */
function settle(accounts: readonly Account[], surplus: number): readonly Account[] {
  let left = surplus;
  return accounts.map((account) => {
    const paid = Math.min(account.owed, left);
    left -= paid;
    return { ...account, owed: account.owed - paid, late: account.late + paid, age: account.age + 1 };
  });
}

/** How many instants of the turn have passed that were not counted yet. */
function passed({ turn, nextMs }: TurnState, atMs: number): number {
  return Math.max(0, Math.ceil((atMs + TOLERANCE_MS - nextMs) / turn.intervalMs));
}
