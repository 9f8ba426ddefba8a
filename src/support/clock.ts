/** The source of time; tests replace it. */
export interface Clock {
  /** Milliseconds since the Unix epoch; jumps when the clock is set. Timestamps and cron expressions use it. */
  wallMs(): number;
  /** Milliseconds since some fixed instant; never jumps. Due times, deadlines and expiry use it. */
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
