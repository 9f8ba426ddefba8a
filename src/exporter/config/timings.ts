/** The blocks of `polling`, and their built-in values. */
export const TIMINGS = {
  vrrp: { intervalMs: 5_000, timeoutMs: 4_000 },
  websites: { intervalMs: 30_000, timeoutMs: 20_000 },
  discovery: { intervalMs: 300_000, timeoutMs: 20_000 },
} as const;

export type TimingName = keyof typeof TIMINGS;

/** Returns a value for each block of `polling`. */
export function byTiming<T>(make: (name: TimingName) => T): Readonly<Record<TimingName, T>> {
  return { vrrp: make("vrrp"), websites: make("websites"), discovery: make("discovery") };
}
