/** Where time comes from; tests hold it still. */
export interface Clock {
  /** Milliseconds since the Unix epoch; jumps when somebody sets the clock. For timestamps and cron expressions alone. */
  wallMs(): number;
  /** Milliseconds since some fixed instant; never jumps. For due times, deadlines and expiry. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** To the microsecond; the digits behind are noise. */
export function toSeconds(ms: number): number {
  return Math.round(ms * 1000) / 1e6;
}
