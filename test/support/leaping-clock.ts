import { systemClock, type Clock } from "../../src/support/clock.ts";

/** The system's clocks, and both can leap ahead at once, as on a machine that sleeps. Timers do not notice. */
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
