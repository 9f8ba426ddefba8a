interface EventuallyOptions {
  /** Reached only on failure, which it then explains; default: three quarters of the time that a test has. */
  readonly timeoutMs?: number;
  /** Time between two attempts; default: a quarter of the time that has passed, 20 ms to 250 ms. */
  readonly everyMs?: number;
}

/** A long wait is not for an instant, and what it waits for needs the processors that attempts take. */
function pauseMs(passedMs: number): number {
  return Math.min(250, Math.max(20, passedMs / 4));
}

let testTimeoutMs = 120_000;

/** From now on, the default is less than this, so that a failure tells what it waited for. */
export function setTestTimeout(timeoutMs: number): void {
  testTimeoutMs = timeoutMs;
}

/** Repeats `check` until it does not throw; rejects with its last error after `timeoutMs`. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 0.75 * testTimeoutMs, everyMs }: EventuallyOptions = {},
): Promise<T> {
  const sinceMs = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() - sinceMs > timeoutMs) throw error;
    }
    const pause = everyMs ?? pauseMs(performance.now() - sinceMs);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
