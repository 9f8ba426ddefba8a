interface EventuallyOptions {
  /** Reached only on failure, which it then explains; default: three quarters of the time that a test has. */
  readonly timeoutMs?: number;
  /** Time between two attempts; default: 20 ms. */
  readonly everyMs?: number;
}

let testTimeoutMs = 120_000;

/** From now on, the default is less than this, so that a failure tells what it waited for. */
export function setTestTimeout(timeoutMs: number): void {
  testTimeoutMs = timeoutMs;
}

/** Repeats `check` until it does not throw; rejects with its last error after `timeoutMs`. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 0.75 * testTimeoutMs, everyMs = 20 }: EventuallyOptions = {},
): Promise<T> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
