import type { Clock } from "../../support/clock.ts";

/** A deadline is noticed at most this late. */
const TICK_MS = 50;
/** The longest time that counts for one turn of the event loop: a healthy turn counts fully, a stall hardly. */
const MAX_TURN_MS = 100;

/**
 * Measures attentive time: time in which this process reads its sockets. During a stall of the event loop, answers wait
 * unread in sockets; that time must not count against the peer.
 */
export interface Attention {
  /**
   * Starts a deadline, which the returned function ends. Calls `onOver` once, after `timeoutMs` of attentive time, when
   * everything that arrived by then was read.
   */
  deadline(timeoutMs: number, onOver: () => void): () => void;
}

/** Creates a measure of attentive time, which has a timer only while a deadline runs. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  /** Each of these functions ends one deadline if it has passed. */
  const checks = new Set<() => void>();
  let ticker: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let creditedMs = 0;
  let lastTurnMs = 0;

  function attentiveMs(nowMs: number): number {
    return creditedMs + Math.min(nowMs - lastTurnMs, MAX_TURN_MS);
  }
  /**
   * Timers can fire repeatedly before sockets are read. Immediates run once a turn, after reading; the second one runs
   * after the work that the first reading started.
   */
  function tick(): void {
    turn ??= setImmediate(() => setImmediate(endTurn));
  }
  function endTurn(): void {
    turn = undefined;
    const nowMs = clock.monotonicMs();
    creditedMs = attentiveMs(nowMs);
    lastTurnMs = nowMs;
    for (const check of checks) check();
  }

  return {
    deadline: (timeoutMs, onOver) => {
      const nowMs = clock.monotonicMs();
      if (ticker === undefined) {
        lastTurnMs = nowMs;
        ticker = setInterval(tick, TICK_MS);
      }
      const overAtMs = attentiveMs(nowMs) + timeoutMs;
      const end = (): void => {
        checks.delete(check);
        if (checks.size > 0) return;
        clearInterval(ticker);
        ticker = undefined;
      };
      const check = (): void => {
        if (creditedMs < overAtMs) return;
        end();
        onOver();
      };
      checks.add(check);
      return end;
    },
  };
}
