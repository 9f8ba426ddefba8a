import { CURRENT_FOR_MS } from "../view/freshness.ts";

/**
 * Tells an answer that was made for a question from the copy of an earlier one, which a cache that leaves queries aside, or
 * a worker of the browser's, may give for ever: the time that it says it was made at stands still, while that of the
 * questions goes on. `serverMs`: by its Date header, and without one it is taken for what it seems. `askedMs`: when the
 * question was asked, by the browser's monotonic clock.
 */
export function createCopyTest(): (serverMs: number | undefined, askedMs: number) => boolean {
  let latest: { readonly serverMs: number | undefined; readonly seenMs: number } | undefined;
  return (serverMs, askedMs) => {
    if (serverMs === undefined || serverMs !== latest?.serverMs) {
      latest = { serverMs, seenMs: performance.now() };
      return false;
    }
    return askedMs - latest.seenMs > CURRENT_FOR_MS;
  };
}
