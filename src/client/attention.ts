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
   * Starts a deadline. Calls `onOver` at most once: when `timeoutMs` of attentive time have passed, and everything that
   * arrived by then was read. Returns a function that cancels it.
   */
  deadline(timeoutMs: number, onOver: () => void): EndDeadline;
}

/** Returns how much of the timeout is left. */
export type EndDeadline = () => number;

/** Has a timer only while a deadline runs. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  let running = 0;
  let ticker: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let creditedMs = 0;
  let lastTurnMs = 0;

  function attentiveMs(): number {
    return creditedMs + Math.min(clock.monotonicMs() - lastTurnMs, MAX_TURN_MS);
  }
  /** Timers can fire repeatedly before sockets are read. Immediates run once a turn, after reading. */
  function tick(): void {
    turn ??= setImmediate(() => {
      turn = undefined;
      creditedMs = attentiveMs();
      lastTurnMs = clock.monotonicMs();
    });
  }
  function start(): void {
    running += 1;
    if (running > 1) return;
    lastTurnMs = clock.monotonicMs();
    ticker = setInterval(tick, TICK_MS);
  }
  function stop(): void {
    running -= 1;
    if (running === 0) clearInterval(ticker);
  }

  return {
    deadline: (timeoutMs, onOver) => {
      start();
      const endsMs = attentiveMs() + timeoutMs;
      let isEnded = false;
      let timer: NodeJS.Timeout | undefined;
      let round: NodeJS.Immediate | undefined;

      function check(): void {
        const leftMs = endsMs - attentiveMs();
        if (leftMs > 0) timer = setTimeout(check, leftMs);
        else afterRounds(IO_ROUNDS);
      }
      function afterRounds(count: number): void {
        round = setImmediate(() => {
          if (count > 1) return afterRounds(count - 1);
          end();
          onOver();
        });
      }
      function end(): number {
        const leftMs = endsMs - attentiveMs();
        clearTimeout(timer);
        clearImmediate(round);
        if (!isEnded) stop();
        isEnded = true;
        return leftMs;
      }
      check();
      return end;
    },
  };
}
