import type { Clock } from "../support/clock.ts";

/** How often the event loop is checked: a deadline is noticed at most this late. */
const TICK_MS = 50;
/** Maximum time that one turn of the event loop counts: a healthy turn counts fully, a stall hardly. */
const MAX_TURN_MS = 100;
/** No poll runs forever on an overloaded loop: real time, without the longest stall, is at most twice the timeout and this. */
const MAX_EXTRA_MS = 1000;

/**
 * Measures attentive time: time in which this process reads its sockets. During a stall of the event loop, answers wait
 * unread in sockets; that time must not count against the peer. With a timeout of 4 s and a stall of 10 s one second after the
 * start, the deadline is not over at 11 s but at about 14 s: the stall counts as a tenth of a second.
 */
export interface Attention {
  /**
   * Starts a deadline, which the returned function ends. `onOver` is called at most once, after everything that arrived by
   * then was read: after `timeoutMs` of attentive time, or with `stalledMs` after so long a stall.
   */
  deadline(timeoutMs: number, onOver: (stalledMs?: number) => void): () => void;
}

interface Deadline {
  readonly timeoutMs: number;
  readonly onOver: (stalledMs?: number) => void;
  readonly startedMs: number;
  readonly startedAttentiveMs: number;
  longestStallMs: number;
}

/** Has a timer only while a deadline runs. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  const running = new Set<Deadline>();
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
    const stalledMs = Math.max(0, nowMs - lastTurnMs - MAX_TURN_MS);
    creditedMs = attentiveMs(nowMs);
    lastTurnMs = nowMs;
    for (const each of running) {
      each.longestStallMs = Math.max(each.longestStallMs, stalledMs);
      const spentMs = creditedMs - each.startedAttentiveMs;
      const realMs = nowMs - each.startedMs;
      if (spentMs >= each.timeoutMs) finish(each);
      else if (realMs >= 2 * each.timeoutMs + MAX_EXTRA_MS + each.longestStallMs)
        finish(each, realMs - spentMs);
    }
  }
  function finish(deadline: Deadline, stalledMs?: number): void {
    end(deadline);
    deadline.onOver(stalledMs);
  }
  function end(deadline: Deadline): void {
    running.delete(deadline);
    if (running.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  }

  return {
    deadline: (timeoutMs, onOver) => {
      const startedMs = clock.monotonicMs();
      if (ticker === undefined) {
        lastTurnMs = startedMs;
        ticker = setInterval(tick, TICK_MS);
      }
      const startedAttentiveMs = attentiveMs(startedMs);
      const deadline = { timeoutMs, onOver, startedMs, startedAttentiveMs, longestStallMs: 0 };
      running.add(deadline);
      return () => end(deadline);
    },
  };
}
