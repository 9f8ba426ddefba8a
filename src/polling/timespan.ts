/** A poll from start to end, by the monotonic clock. */
export interface Timespan {
  readonly startedMs: number;
  readonly endedMs: number;
  /** To the microsecond; the digits behind are noise. */
  readonly durationSeconds: number;
}

export function timespan(startedMs: number, endedMs: number): Timespan {
  return { startedMs, endedMs, durationSeconds: Math.round((endedMs - startedMs) * 1000) / 1e6 };
}
