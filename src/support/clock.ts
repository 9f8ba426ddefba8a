/** The source of time; tests replace it. */
export interface Clock {
  /** Milliseconds since the Unix epoch; jumps when the clock is set. Only for timestamps and cron expressions. */
  wallMs(): number;
  /** Milliseconds since some fixed instant; never jumps. For due times, deadlines and expiry. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Rounded to the microsecond. */
export function toSeconds(ms: number): number {
  return Math.round(ms * 1000) / 1e6;
}
