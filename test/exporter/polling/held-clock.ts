import { onTestFinished, vi } from "vitest";
import type { Clock } from "../../../src/support/clock.ts";
import { WALL_MS } from "../../support/observations.ts";

/** Time that moves only on demand: wall clock, monotonic clock and all timers. */
export interface HeldClock extends Clock {
  /** Lets time pass and due timers fire. */
  pass(ms: number): Promise<void>;
  /** Moves only the wall clock. */
  setWall(byMs: number): void;
  /** Lets time pass without timers, as on a blocked event loop. */
  block(ms: number): void;
}

/** Holds the clock at {@link WALL_MS} until the test ends. */
export function holdClock(): HeldClock {
  vi.useFakeTimers({
    now: WALL_MS,
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
  onTestFinished(() => void vi.useRealTimers());
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
