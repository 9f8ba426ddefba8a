import { vi } from "vitest";

import type { Clock } from "../../src/support/clock.ts";
import { WALL_MS } from "../support/observations.ts";

/** Time that stands still until it is moved: wall clock, monotonic clock and every timer. */
export interface HeldClock extends Clock {
  /** Lets time pass, and everything happen that is due meanwhile. */
  pass(ms: number): Promise<void>;
  /** Sets the wall clock by so much; nothing else moves. */
  setWall(byMs: number): void;
  /** Time passes in which no timer can fire: the event loop is blocked. */
  block(ms: number): void;
}

/** Holds the clock at {@link WALL_MS}; `vi.useRealTimers()` lets it go. */
export function holdClock(): HeldClock {
  vi.useFakeTimers({
    now: WALL_MS,
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
  const startMs = performance.now();
  let blockedMs = 0;
  return {
    wallMs: () => Date.now(),
    monotonicMs: () => performance.now() - startMs + blockedMs,
    pass: async (ms) => void (await vi.advanceTimersByTimeAsync(ms)),
    setWall: (byMs) => void vi.setSystemTime(Date.now() + byMs),
    block: (ms) => {
      blockedMs += ms;
      vi.setSystemTime(Date.now() + ms);
    },
  };
}
