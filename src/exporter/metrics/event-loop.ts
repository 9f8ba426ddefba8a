import { monitorEventLoopDelay, type Histogram } from "node:perf_hooks";

/** Statistics of the event loop's delays, in seconds. */
export interface Delays {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stddev: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** The shortest time of which there are statistics, except after the start. */
export const WINDOW_MS = 60_000;

/**
 * Watches the event loop. Returns a function that returns its delays in the latest minute or two, since the start if that is later, for each
 * reader the same; `undefined` while there is none. Two histograms count each delay, and in turn one of them begins anew each minute, so
 * reading empties none.
 */
export function watchEventLoop(monitor: () => Histogram = startMonitor): () => Delays | undefined {
  let [older, newer] = [monitor(), monitor()];
  setInterval(() => {
    [older, newer] = [newer, older];
    newer.reset();
  }, WINDOW_MS).unref();
  return () => {
    const { count, min, max, mean, stddev } = older;
    if (count === 0) return undefined;
    const [p50, p90, p99] = [older.percentile(50), older.percentile(90), older.percentile(99)];
    return {
      min: toSeconds(min),
      max: toSeconds(max),
      mean: toSeconds(mean),
      stddev: toSeconds(stddev),
      p50: toSeconds(p50),
      p90: toSeconds(p90),
      p99: toSeconds(p99),
    };
  };
}

function toSeconds(nanoseconds: number): number {
  return nanoseconds / 1e9;
}

function startMonitor() {
  const histogram = monitorEventLoopDelay();
  histogram.enable();
  return histogram;
}

/** Returns how many seconds the next turn of the event loop takes to begin. */
export async function nextTurnSeconds(): Promise<number> {
  const fromMs = performance.now();
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  return (performance.now() - fromMs) / 1000;
}
