import type { Clock } from "./clock.ts";

/** Often enough to come before the second's timer that would otherwise walk through all the time skipped. */
const CHECK_INTERVAL_MS = 100;
const TOLERANCE_MS = 2000;

/**
 * Calls `onJump` when wall clock and monotonic clock have parted by more than 2 s since the start or the last call:
 * the clock was set, or the machine slept. Returns what ends the watch.
 */
export function guardClock(clock: Clock, onJump: (jumpMs: number) => void): () => void {
  const offset = (): number => clock.wallMs() - clock.monotonicMs();
  let baseMs = offset();
  const timer = setInterval(() => {
    const jumpMs = offset() - baseMs;
    if (Math.abs(jumpMs) <= TOLERANCE_MS) return;
    baseMs += jumpMs;
    onJump(jumpMs);
  }, CHECK_INTERVAL_MS);
  return () => clearInterval(timer);
}
