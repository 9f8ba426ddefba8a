import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import pLimit from "p-limit";
import { acceptsGzip, type Reply, compress } from "./reply.ts";

/** Text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A text in both encodings; each is rendered on request. */
export interface MetricsText {
  plain(): Promise<Buffer>;
  gzipped(): Promise<Buffer>;
}

/** 200 with the metrics, compressed if the client accepts gzip. */
export function metricsReply(request: IncomingMessage, text: MetricsText): Promise<Reply> {
  return sharedReply(request, text, METRICS_TYPE);
}

/** 200 with a shared rendering, compressed if the client accepts gzip. */
export async function sharedReply(
  { headers }: IncomingMessage,
  text: MetricsText,
  contentType: string,
): Promise<Reply> {
  const isCompressed = acceptsGzip(headers["accept-encoding"]);
  return {
    status: 200,
    contentType,
    body: isCompressed ? await text.gzipped() : await text.plain(),
    headers: { vary: "accept-encoding", ...(isCompressed ? { "content-encoding": "gzip" } : {}) },
  };
}

/** Requests during rendering share its result, and requests during compression likewise. */
export function createSharedRendering(render: () => Promise<string | Buffer>): MetricsText {
  const plain = shareWhilePending(async () => {
    const text = await render();
    return typeof text === "string" ? Buffer.from(text) : text;
  });
  return { plain, gzipped: shareWhilePending(async () => compress(await plain())) };
}

/** Calls during a pending one share its result. */
function shareWhilePending<T>(work: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => (pending ??= work().finally(() => (pending = undefined)));
}

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
