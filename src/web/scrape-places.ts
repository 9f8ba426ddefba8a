import type { Socket } from "node:net";
import pLimit from "p-limit";

/** Scrapes that wait for their text at once. One that is being sent is not counted: a slow reader keeps nobody out. */
const MAX_SCRAPES = 100;
/** Of these, for connections that scraped within the last second; the others of them wait. So nobody keeps others out. */
const MAX_REPEATED = 50;
const REPEATED_MS = 1000;

/** Scrapes for a connection as soon as it has a place; `undefined` if there is none. */
export type ScrapeInPlace = <T>(socket: Socket, scrape: () => Promise<T>) => Promise<T | undefined>;

/** Bounds the scrapes under way. */
export function createScrapePlaces(): ScrapeInPlace {
  let taken = 0;
  const repeated = pLimit(MAX_REPEATED);
  /** When the latest scrape of a connection was over. */
  const latest = new WeakMap<Socket, number>();

  async function takePlace<T>(socket: Socket, scrape: () => Promise<T>): Promise<T | undefined> {
    if (taken >= MAX_SCRAPES || socket.destroyed) return undefined;
    taken += 1;
    return scrape().finally(() => (taken -= 1));
  }
  return async (socket, scrape) => {
    const sinceMs = performance.now() - (latest.get(socket) ?? Number.NEGATIVE_INFINITY);
    const isRepeated = sinceMs < REPEATED_MS;
    const result = await (isRepeated ? repeated(() => takePlace(socket, scrape)) : takePlace(socket, scrape));
    latest.set(socket, performance.now());
    return result;
  };
}
