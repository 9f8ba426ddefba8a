import { createFairQueue } from "./fair-queue.ts";

/** Pieces of work that wait, of all clients together. */
const MAX_WAITING = 512;

/** Does work for a page in its turn; `undefined` if too much waits. */
export type DoInTurn = <T>(
  page: string,
  client: string,
  work: () => T | Promise<T>,
) => Promise<T | undefined>;

/**
 * Makes pages one at a time, so that those who ask for them take half of the time at most: each is followed by a pause as
 * long as it has stopped the event loop. Pages have turns, and so have the clients that ask for one.
 */
export function createPageWork(): DoInTurn {
  interface Job {
    /** Starts the work. */
    run(): void;
    refuse(): void;
  }
  const queue = createFairQueue<Job>(MAX_WAITING);
  let isWorking = false;

  async function workAll(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (let job = queue.take(); job !== undefined; job = queue.take()) {
      const startedMs = performance.now();
      job.run();
      // What then goes on in other threads stops nobody.
      await nextTurn();
      await pause(performance.now() - startedMs);
    }
    isWorking = false;
  }

  return (page, client, work) =>
    new Promise((resolve, reject) => {
      const run = (): void => {
        Promise.resolve().then(work).then(resolve, reject);
      };
      queue.add(page, client, { run, refuse: () => resolve(undefined) })?.refuse();
      void workAll();
    });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function pause(ms: number): Promise<void> {
  if (ms >= 1) await new Promise((resolve) => setTimeout(resolve, ms));
}
