import type { Clock } from "../support/clock.ts";

/** How often the event loop is checked. */
const TICK_MS = 50;
/** Maximum time that one turn of the event loop counts: a healthy turn counts fully, a stall hardly. */
const MAX_TURN_MS = 100;
/** No poll runs forever on an overloaded loop: real time, without the longest stall, is at most twice the timeout and this. */
const MAX_EXTRA_MS = 1000;
/**
 * Timers run before sockets are read, so data that arrived by a deadline is read in the next round. The second round is
 * for work that the first one started.
 */
const IO_ROUNDS = 2;

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

      function check(): void {
        const nowMs = clock.monotonicMs();
        const spentMs = attentiveMs(nowMs) - startedAttentiveMs;
        const realMs = nowMs - startedMs;
        const longestStallMs = Math.max(self.longestStallMs, stallMs(nowMs));
        const realLeftMs = 2 * timeoutMs + MAX_EXTRA_MS + longestStallMs - realMs;
        if (spentMs >= timeoutMs) afterRounds(IO_ROUNDS, () => onOver());
        else if (realLeftMs <= 0) afterRounds(IO_ROUNDS, () => onOver(realMs - spentMs));
        else timer = setTimeout(check, Math.min(timeoutMs - spentMs, realLeftMs));
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
