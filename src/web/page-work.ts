import { setImmediate, setTimeout } from "node:timers/promises";
import { createFairQueue } from "./fair-queue.ts";

/** Waiting jobs of all clients. */
const MAX_WAITING = 512;
const MAX_PAUSE_MS = 100;

/** Runs work for a page in its turn; resolves to `undefined` if the queue is full. */
export type DoInTurn = <T>(
  page: string,
  client: string,
  work: () => T | Promise<T>,
) => Promise<T | undefined>;

/**
 * Renders pages one at a time. After each one it pauses for as long as the page took, but at most 100 ms, because what takes
 * longer is done in slices. So pages take at most half of the time. Pages take turns, and so do the clients of a page.
 */
export function createPageWork(): DoInTurn {
  interface Job {
    /** Resolves when the work has ended, however. */
    run(): Promise<void>;
    refuse(): void;
  }
  const queue = createFairQueue<Job>(MAX_WAITING);
  let isWorking = false;

  async function workAll(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (let job = queue.take(); job !== undefined; job = queue.take()) {
      const startedMs = performance.now();
      await job.run();
      const tookMs = performance.now() - startedMs;
      await (tookMs < 1 ? setImmediate() : setTimeout(Math.min(tookMs, MAX_PAUSE_MS)));
    }
    isWorking = false;
  }

  return (page, client, work) =>
    new Promise((resolve, reject) => {
      const run = () => Promise.resolve().then(work).then(resolve, reject);
      queue.add(page, client, { run, refuse: () => resolve(undefined) })?.refuse();
      void workAll();
    });
}
