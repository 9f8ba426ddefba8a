/** A measurement and its comparison. */
export interface Measurement {
  readonly name: string;
  readonly measured: string;
  /** The measurement of a comparable program in the same run, or "none". */
  readonly peer: string;
  readonly ratio: string;
  readonly goal: string;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Calls `look` ten times a second until it returns a value; rejects after `timeoutMs`. */
export async function until<T>(look: () => Promise<T | undefined>, timeoutMs: number): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > endMs) throw new Error(`not seen within ${timeoutMs} ms`);
    await sleep(100);
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
