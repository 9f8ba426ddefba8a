import { systemClock, type Clock } from "../../src/support/clock.ts";

/** The system's clocks, which can leap ahead together, as after a suspend. Timers are not affected. */
export interface LeapingClock extends Clock {
  leap(byMs: number): void;
}

export function createLeapingClock(): LeapingClock {
  let leaptMs = 0;
  return {
    wallMs: () => systemClock.wallMs() + leaptMs,
    monotonicMs: () => systemClock.monotonicMs() + leaptMs,
    leap: (byMs) => void (leaptMs += byMs),
  };
}
