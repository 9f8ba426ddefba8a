/** So long may work hold up the page at a stretch. */
const SLICE_MS = 25;

/** Does work piece by piece, in its order, and lets the browser breathe between. */
export interface Slices {
  /** Begins at once; what is left of earlier work is dropped. */
  start(jobs: readonly (() => void)[]): void;
}

export function createSlices(): Slices {
  let timer: number | undefined;
  function run(jobs: readonly (() => void)[], from: number): void {
    const untilMs = performance.now() + SLICE_MS;
    let next = from;
    while (next < jobs.length && performance.now() < untilMs) {
      jobs[next]?.();
      next += 1;
    }
    if (next < jobs.length) timer = setTimeout(run, 0, jobs, next);
  }
  return {
    start: (jobs) => {
      clearTimeout(timer);
      run(jobs, 0);
    },
  };
}
