import type { Clock } from "../support/clock.ts";

/** How often the event loop is checked. */
const TICK_MS = 50;
/** Maximum time that one turn of the event loop counts: a healthy turn counts fully, a stall hardly. */
const MAX_TURN_MS = 100;
/** No poll runs forever on an overloaded loop: after stalls of this length together its deadline passes. */
const MAX_STALLED_MS = 60_000;
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
   * Starts a deadline, which the returned function ends. `onOver` is called at most once, after everything that arrived by
   * then was read: after `timeoutMs` of attentive time, or with `stalledMs` after so long a stall.
   */
  deadline(timeoutMs: number, onOver: (stalledMs?: number) => void): () => void;
}

/** Has a timer only while a deadline runs. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  const running = new Set<symbol>();
  let ticker: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let creditedMs = 0;
  let lastTurnMs = 0;

  function attentiveMs(nowMs: number): number {
    return creditedMs + Math.min(nowMs - lastTurnMs, MAX_TURN_MS);
  }
  /** Timers can fire repeatedly before sockets are read. Immediates run once a turn, after reading. */
  function tick(): void {
    turn ??= setImmediate(() => {
      turn = undefined;
      const nowMs = clock.monotonicMs();
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
      const self = Symbol("deadline");
      running.add(self);
      let timer: NodeJS.Timeout | undefined;
      let round: NodeJS.Immediate | undefined;

      function check(): void {
        const nowMs = clock.monotonicMs();
        const spentMs = attentiveMs(nowMs) - startedAttentiveMs;
        const stalledMs = nowMs - startedMs - spentMs;
        if (spentMs >= timeoutMs) afterRounds(IO_ROUNDS, () => onOver());
        else if (stalledMs >= MAX_STALLED_MS) afterRounds(IO_ROUNDS, () => onOver(stalledMs));
        else timer = setTimeout(check, timeoutMs - spentMs);
      }
      function afterRounds(count: number, over: () => void): void {
        round = setImmediate(() => {
          if (count > 1) return afterRounds(count - 1, over);
          end();
          over();
        });
      }
      function end(): void {
        clearTimeout(timer);
        clearImmediate(round);
        running.delete(self);
        if (running.size > 0) return;
        clearInterval(ticker);
        ticker = undefined;
      }
      check();
      return end;
    },
  };
}
