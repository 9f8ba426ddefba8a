/**
 * Runs `work` one at a time; calls that arrive while it runs share one run that follows, so that each call is answered
 * by a run that began after it. Each run waits for `gather` first, while which more calls may come to share it.
 */
export function coalesce<T>(
  work: () => Promise<T>,
  gather: () => Promise<unknown> = () => Promise.resolve(),
): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;

  return () => {
    next ??= running.then(gather).then(() => {
      next = undefined;
      const run = work();
      running = run.catch(() => {});
      return run;
    });
    return next;
  };
}
