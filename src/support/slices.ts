/** How long work on a large fleet keeps polls waiting, in milliseconds. */
const SLICE_MS = { least: 5, most: 25 };

/**
 * Calls `work` for each item, in slices between which everything else that is due goes first. A slice takes 5 ms; if everything
 * else took longer, as long as that, but at most 25 ms, so that a busy process gets the work done too.
 */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let endMs = performance.now() + SLICE_MS.least;
  for (const item of items) {
    work(item);
    const endedMs = performance.now();
    if (endedMs < endMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    const nowMs = performance.now();
    endMs = nowMs + Math.min(Math.max(nowMs - endedMs, SLICE_MS.least), SLICE_MS.most);
  }
}
