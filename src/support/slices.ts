const SLICE_MS = { least: 10, most: 25 };
/** A slice takes at least this part of the time since the slice before, so that a busy process finishes the work too. */
const SHARE = 0.5;

/**
 * Calls `work` for each item, one after another, in slices of 10 ms, or up to 25 ms if everything else between two slices takes long. Other
 * due work runs between the slices, so that polls do not wait.
 */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  monotonicMs: () => number = () => performance.now(),
): Promise<void> {
  let endMs = monotonicMs() + SLICE_MS.least;
  for (const item of items) {
    work(item);
    const endedMs = monotonicMs();
    if (endedMs < endMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    const nowMs = monotonicMs();
    endMs = nowMs + Math.min(Math.max(SHARE * (nowMs - endedMs), SLICE_MS.least), SLICE_MS.most);
  }
}
