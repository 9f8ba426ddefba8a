/** So long may work hold up the page at a stretch. */
const SLICE_MS = 25;

/** Does work piece by piece, in its order, and lets the browser breathe between. */
export interface Slices {
  /**
   * Begins at once; what is left of earlier work is dropped. Resolves when all is done, as does what was promised for the
   * earlier work; rejects with the error of the first piece that fails.
   */
  start(jobs: readonly (() => void)[]): Promise<void>;
}

export function createSlices(): Slices {
  let latest: object | undefined;
  let done = Promise.resolve();

  async function run(jobs: readonly (() => void)[], own: object): Promise<void> {
    let untilMs = performance.now() + SLICE_MS;
    for (const job of jobs) {
      // A page that nobody sees holds up nobody, and its timers are slow.
      if (performance.now() >= untilMs && !document.hidden) {
        await breath();
        if (latest !== own) return done;
        untilMs = performance.now() + SLICE_MS;
      }
      job();
    }
  }

  return {
    start: (jobs) => {
      latest = {};
      done = run(jobs, latest);
      return done;
    },
  };
}

function breath(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
