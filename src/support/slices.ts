const SLICE_MS = { least: 10, most: 25 };
/** A slice takes at least this part of the time since the work began, so that a busy process finishes the work too. */
const SHARE = 0.03;

/**
 * Calls `work` for each item, one after another, in slices of 10 ms, or up to 25 ms of work that has taken longer than half a
 * second. Everything else that is due goes between them, so that polls do not wait.
 */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void | Promise<void>,
): Promise<void> {
  const beganMs = performance.now();
  let endMs = beganMs + SLICE_MS.least;
  for (const item of items) {
    await work(item);
    if (performance.now() < endMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    const nowMs = performance.now();
    endMs = nowMs + Math.min(Math.max(SHARE * (nowMs - beganMs), SLICE_MS.least), SLICE_MS.most);
  }
}
