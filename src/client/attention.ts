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
  /**
   * Starts a deadline. `onOver` is called at most once, never before `timeoutMs` have passed, and never after the
   * function that is returned was called; that one returns how much of `timeoutMs` is left.
   */
  deadline(timeoutMs: number, onOver: (overrun: Overrun) => void): EndDeadline;
}

export type EndDeadline = () => number;

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
  /** Deadlines that run, with the longest stall of each. */
  const running = new Set<{ longestStallMs: number }>();
  let ticker: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let creditedMs = 0;
  let lastTurnMs = 0;

  function attentiveMs(nowMs: number): number {
    return creditedMs + Math.min(nowMs - lastTurnMs, MAX_TURN_MS);
  }
  function stallMs(nowMs: number): number {
    return Math.max(0, nowMs - lastTurnMs - MAX_TURN_MS);
  }
  /** Timers can fire repeatedly before sockets are read. Immediates run once a turn, after reading. */
  function tick(): void {
    turn ??= setImmediate(() => {
      turn = undefined;
      const nowMs = clock.monotonicMs();
      const stalledMs = stallMs(nowMs);
      for (const one of running) one.longestStallMs = Math.max(one.longestStallMs, stalledMs);
      creditedMs = attentiveMs(nowMs);
      lastTurnMs = nowMs;
    });
  }

  return {
    deadline: (timeoutMs, onOver) => {
      const startedMs = clock.monotonicMs();
      if (ticker === undefined) {
        lastTurnMs = startedMs;
        ticker = setInterval(tick, TICK_MS);
      }
      const startedAttentiveMs = attentiveMs(startedMs);
      const self = { longestStallMs: 0 };
      running.add(self);
      let timer: NodeJS.Timeout | undefined;
      let round: NodeJS.Immediate | undefined;

      function spent(): Spent {
        const nowMs = clock.monotonicMs();
        return {
          realMs: nowMs - startedMs,
          attentiveMs: attentiveMs(nowMs) - startedAttentiveMs,
          longestStallMs: Math.max(self.longestStallMs, stallMs(nowMs)),
        };
      }
      function check(): void {
        const now = spent();
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
      function end(): number {
        const leftMs = timeoutMs - spent().attentiveMs;
        clearTimeout(timer);
        clearImmediate(round);
        running.delete(self);
        if (running.size === 0) {
          clearInterval(ticker);
          ticker = undefined;
        }
        return leftMs;
      }
      check();
      return end;
    },
  };
}
