import type { Clock } from "./clock.ts";

/** How often the event loop is looked at. */
const TICK_MS = 50;
/** What counts of the time between two ticks: all of it on a healthy loop, and little of a stall. */
const MOST_BETWEEN_TICKS_MS = 100;
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

/** Time that a deadline has used up: real time, by the monotonic clock, and the part of it that counts. */
export interface Spent {
  readonly realMs: number;
  readonly attentiveMs: number;
}

/**
 * Whether a deadline has passed, or when to look again. Real time is bounded too, by twice the timeout and a second, so that
 * no poll runs forever on a loop that hardly turns.
 */
export function nextCheck(timeoutMs: number, { realMs, attentiveMs }: Spent): Overrun["kind"] | number {
  const leftMs = timeoutMs - attentiveMs;
  const realLeftMs = 2 * timeoutMs + 1000 - realMs;
  if (leftMs <= 0) return "over";
  return realLeftMs <= 0 ? "late" : Math.min(leftMs, realLeftMs);
}

/** Ticks only while a deadline runs, and never keeps the process alive by it. */
export function createAttention(clock: Pick<Clock, "monotonicMs">): Attention {
  const running = new Set<object>();
  let ticker: NodeJS.Timeout | undefined;
  let creditedMs = 0;
  let lastTickMs = 0;

  function attentiveMs(nowMs: number): number {
    return creditedMs + Math.min(nowMs - lastTickMs, MOST_BETWEEN_TICKS_MS);
  }
  function tick(): void {
    const nowMs = clock.monotonicMs();
    creditedMs = attentiveMs(nowMs);
    lastTickMs = nowMs;
  }
  function started(deadline: object): void {
    running.add(deadline);
    if (ticker !== undefined) return;
    lastTickMs = clock.monotonicMs();
    ticker = setInterval(tick, TICK_MS).unref();
  }
  function stopped(deadline: object): void {
    running.delete(deadline);
    if (running.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  }
  /** Both clocks, now. */
  function read(): Spent {
    const realMs = clock.monotonicMs();
    return { realMs, attentiveMs: attentiveMs(realMs) };
  }

  return {
    deadline: (timeoutMs, onOver) => {
      /** Before the present run. */
      let spent: Spent = { realMs: 0, attentiveMs: 0 };
      let since: Spent | undefined;
      let timer: NodeJS.Timeout | undefined;
      let round: NodeJS.Immediate | undefined;

      function spentNow(): Spent {
        if (since === undefined) return spent;
        const now = read();
        return {
          realMs: spent.realMs + now.realMs - since.realMs,
          attentiveMs: spent.attentiveMs + now.attentiveMs - since.attentiveMs,
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
          deadline.end();
          onOver(overrun);
        });
      }
      const deadline: Deadline = {
        run: () => {
          started(deadline);
          since = read();
          check();
        },
        rest: () => {
          spent = spentNow();
          deadline.end();
        },
        end: () => {
          clearTimeout(timer);
          clearImmediate(round);
          since = undefined;
          stopped(deadline);
        },
      };
      return deadline;
    },
  };
}
