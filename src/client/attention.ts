import type { Clock } from "../support/clock.ts";

/** How often the event loop is checked. */
const TICK_MS = 50;
/** Maximum time that one turn of the event loop counts: a healthy turn counts fully, a stall hardly. */
const MAX_TURN_MS = 100;
/**
 * Timers run before sockets are read, so data that arrived by a deadline is read in the next round. The second round is
 * for work that the first one started.
 */
const IO_ROUNDS = 2;

/**
 * Measures attentive time: time in which this process reads its sockets. During a stall of the event loop, answers wait
 * unread in sockets; that time must not count against the peer.
 */
export interface Attention {
  /** Creates a stopped deadline. `onOver` is called at most once, and never before `timeoutMs` have passed. */
  deadline(timeoutMs: number, onOver: (overrun: Overrun) => void): Deadline;
}

export interface Deadline {
  /** Starts or resumes counting. */
  run(): void;
  /** Stops counting until `run`. */
  pause(): void;
  /** Cancels the deadline: `onOver` is no longer called. */
  end(): void;
}

/** How a deadline passed. */
export interface Overrun {
  /**
   * `over`: `timeoutMs` of attentive time have passed, and everything that arrived by then was read. `late`: real time
   * is up first. @see nextCheck
   */
  readonly kind: "over" | "late";
  /** How long the event loop stalled meanwhile. */
  readonly stalledMs: number;
}

/** Time that a deadline has used up. */
export interface Spent {
  /** By the monotonic clock. */
  readonly realMs: number;
  /** The part that counts. */
  readonly attentiveMs: number;
  /** The longest contiguous part that does not count. */
  readonly longestStallMs: number;
}

/**
 * Whether a deadline has passed, or in how many milliseconds to check again. No poll runs forever on an overloaded loop:
 * real time, without the longest stall, is bounded by twice the timeout plus one second.
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

/** Has a timer only while a deadline runs. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  const running = new Set<{ stalled(forMs: number): void }>();
  let ticker: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let creditedMs = 0;
  let lastTurnMs = 0;

  function attentiveMs(nowMs: number): number {
    return creditedMs + Math.min(nowMs - lastTurnMs, MAX_TURN_MS);
  }
  function unattendedMs(nowMs: number): number {
    return Math.max(0, nowMs - lastTurnMs - MAX_TURN_MS);
  }
  /** Timers can fire repeatedly before sockets are read. Immediates run once a turn, after reading. */
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
      /** Before the current run. */
      let spent: Spent = { realMs: 0, attentiveMs: 0, longestStallMs: 0 };
      /** The clocks at the start of the current run. */
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
        pause: () => {
          spent = spentNow();
          end();
        },
        end,
      };
    },
  };
}
