/** The source of time; tests replace it. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch, which jump when the clock is set. Timestamps and cron expressions use them. */
  wallMs(): number;
  /** Returns milliseconds since some fixed instant, which never jump. Due times, deadlines and expiry use them. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Returns seconds, rounded to the microsecond. */
export function toSeconds(ms: number): number {
  return Math.round(ms * 1000) / 1e6;
}

/** An instant by both clocks, in milliseconds: Unix time, which jumps when the clock is set, and monotonic time. */
export interface Instant {
  readonly wallMs: number;
  readonly monotonicMs: number;
}
