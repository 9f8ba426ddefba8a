import type { Socket } from "node:net";
import pLimit from "p-limit";

/** Scrapes that wait for the metrics at the same time. Sending does not count, so a slow reader takes no place. */
const MAX_SCRAPES = 100;
/** Places for connections that scraped within the last second, so that no client takes all places. */
const MAX_REPEATED = 50;
const REPEATED_MS = 1000;

/** Scrapes when the connection gets a place; resolves to `undefined` if all places are taken. */
export type ScrapeInPlace = <T>(socket: Socket, scrape: () => Promise<T>) => Promise<T | undefined>;

/** Limits simultaneous scrapes. */
export function createScrapePlaces(): ScrapeInPlace {
  let taken = 0;
  const repeated = pLimit(MAX_REPEATED);
  /** When the latest scrape of a connection ended. */
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
