import type { Clock } from "../support/clock.ts";

/** How often it is looked whether the event loop turns. */
const TICK_MS = 50;
/** What counts of one turn of the event loop: all of it on a healthy loop, and little of a stall. */
const MOST_A_TURN_MS = 100;
/**
 * Timers run before sockets are read, so what has arrived by a deadline is read in the round after it. The second round is
 * for what the first one set going.
 */
const IO_ROUNDS = 2;

/**
 * Measures time in which this process attended to its sockets. While the event loop stands still, answers wait in sockets
 * unread: that time must not count against whoever sent them.
 */
export interface Attention {
  /** A deadline that is not running yet. `onOver` is called once at most, and never before `timeoutMs` have passed. */
  deadline(timeoutMs: number, onOver: (overrun: Overrun) => void): Deadline;
}

export interface Deadline {
  /** Lets time count from now on. */
  run(): void;
  /** Time does not count until `run`. */
  rest(): void;
  /** Ends it: `onOver` is not called any more. */
  end(): void;
}

/** How a deadline passed. */
export interface Overrun {
  /**
   * `over`: the event loop attended for `timeoutMs`, and what had arrived by then was read. `late`: it did not, and real
   * time is up. @see nextCheck
   */
  readonly kind: "over" | "late";
  /** How long the event loop stood still meanwhile. */
  readonly stalledMs: number;
}

/** Time that a deadline has used up. */
export interface Spent {
  /** By the monotonic clock. */
  readonly realMs: number;
  /** The part of it that counts. */
  readonly attentiveMs: number;
  /** The longest part, in one piece, that does not count. */
  readonly longestStallMs: number;
}

/**
 * Whether a deadline has passed, or when to look again. No poll runs forever on a loop that hardly turns: real time is
 * bounded by twice the timeout and a second. The longest stall is left out of that, since nothing could be done in it.
 */
export function nextCheck(
  timeoutMs: number,
  { realMs, attentiveMs, longestStallMs }: Spent,
): Overrun["kind"] | number {
  const leftMs = timeoutMs - attentiveMs;
  const realLeftMs = 2 * timeoutMs + 1000 + longestStallMs - realMs;
  if (leftMs <= 0) return "over";
  return realLeftMs <= 0 ? "late" : Math.min(leftMs, realLeftMs);
}

/** Ticks only while a deadline runs. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  const running = new Set<{ stalled(forMs: number): void }>();
  let ticker: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let creditedMs = 0;
  let lastTurnMs = 0;

  function attentiveMs(nowMs: number): number {
    return creditedMs + Math.min(nowMs - lastTurnMs, MOST_A_TURN_MS);
  }
  function unattendedMs(nowMs: number): number {
    return Math.max(0, nowMs - lastTurnMs - MOST_A_TURN_MS);
  }
  /** Timers may fire again and again before sockets are read, immediates do not: they come once a turn, after the reading. */
  function tick(): void {
    turn ??= setImmediate(() => {
      turn = undefined;
      const nowMs = clock.monotonicMs();
      const stallMs = unattendedMs(nowMs);
      if (stallMs > 0) for (const one of running) one.stalled(stallMs);
      creditedMs = attentiveMs(nowMs);
      lastTurnMs = nowMs;
    });
  }
  function start(one: { stalled(forMs: number): void }): void {
    running.add(one);
    if (ticker !== undefined) return;
    lastTurnMs = clock.monotonicMs();
    ticker = setInterval(tick, TICK_MS);
  }
  function stop(one: { stalled(forMs: number): void }): void {
    running.delete(one);
    if (running.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  }

  return {
    deadline: (timeoutMs, onOver) => {
      /** Before the present run. */
      let spent: Spent = { realMs: 0, attentiveMs: 0, longestStallMs: 0 };
      /** What the clocks said when the present run began. */
      let since: { readonly realMs: number; readonly attentiveMs: number } | undefined;
      let timer: NodeJS.Timeout | undefined;
      let round: NodeJS.Immediate | undefined;
      const self = {
        stalled: (forMs: number): void => {
          spent = { ...spent, longestStallMs: Math.max(spent.longestStallMs, forMs) };
        },
      };

      function spentNow(): Spent {
        if (since === undefined) return spent;
        const nowMs = clock.monotonicMs();
        return {
          realMs: spent.realMs + nowMs - since.realMs,
          attentiveMs: spent.attentiveMs + attentiveMs(nowMs) - since.attentiveMs,
          longestStallMs: Math.max(spent.longestStallMs, unattendedMs(nowMs)),
        };
      }
      function check(): void {
        const now = spentNow();
        const next = nextCheck(timeoutMs, now);
        if (typeof next === "number") timer = setTimeout(check, next);
        else afterRounds(IO_ROUNDS, { kind: next, stalledMs: now.realMs - now.attentiveMs });
      }
      function afterRounds(count: number, overrun: Overrun): void {
        round = setImmediate(() => {
          if (count > 1) return afterRounds(count - 1, overrun);
          end();
          onOver(overrun);
        });
      }
      function end(): void {
        clearTimeout(timer);
        clearImmediate(round);
        since = undefined;
        stop(self);
      }
      return {
        run: () => {
          start(self);
          const nowMs = clock.monotonicMs();
          since = { realMs: nowMs, attentiveMs: attentiveMs(nowMs) };
          check();
        },
        rest: () => {
          spent = spentNow();
          end();
        },
        end,
      };
    },
  };
}
