/** Runs `work` one at a time. Calls during a run share the next one: each gets the result of a run that began after it. */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;

  return () => {
    next ??= running.then(() => {
      next = undefined;
      const run = work();
      running = run.catch(() => {});
      return run;
    });
    return next;
  };
}
