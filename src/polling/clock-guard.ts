import type { Clock } from "../support/clock.ts";

const TOLERANCE_MS = 2000;

/**
 * Makes a check that calls `onJump` when wall clock and monotonic clock have parted by more than 2 s since the start or
 * the last call: the clock was set, or the machine slept.
 */
export function createClockGuard(clock: Clock, onJump: (jumpMs: number) => void): () => void {
  const offset = (): number => clock.wallMs() - clock.monotonicMs();
  let baseMs = offset();
  return () => {
    const jumpMs = offset() - baseMs;
    if (Math.abs(jumpMs) <= TOLERANCE_MS) return;
    baseMs += jumpMs;
    onJump(jumpMs);
  };
}
