interface EventuallyOptions {
  /** Reached only on failure; default: 2 min. */
  readonly timeoutMs?: number;
  /** Time between two attempts; default: 20 ms. */
  readonly everyMs?: number;
}

/** Repeats `check` until it does not throw; rejects with its last error after `timeoutMs`. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 120_000, everyMs = 20 }: EventuallyOptions = {},
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
