/** Longest time that work on a large fleet keeps polls waiting. */
const SLICE_MS = 5;

/** Calls `work` for each item, in slices of 5 ms between which everything else that is due goes first. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let endMs = performance.now() + SLICE_MS;
  for (const item of items) {
    work(item);
    if (performance.now() < endMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    endMs = performance.now() + SLICE_MS;
  }
}
