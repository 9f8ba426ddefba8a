/**
 * Returns a function that runs `work` one at a time. Calls during a run share the next run, so each gets the result of a run that began
 * after the call.
 */
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
