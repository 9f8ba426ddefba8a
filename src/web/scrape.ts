import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import pLimit from "p-limit";
import { acceptsGzip, type Reply, compress } from "./reply.ts";

/** Text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics in the forms in which they may be sent; each is made when it is asked for. */
export interface MetricsText {
  plain(): Promise<Buffer>;
  gzipped(): Promise<Buffer>;
}

/** 200 with the metrics, compressed if the request takes that. */
export function metricsReply(request: IncomingMessage, text: MetricsText): Promise<Reply> {
  return sharedReply(request, text, METRICS_TYPE);
}

/** 200 with a text that requests share, compressed if the request takes that. */
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

/** The text of /metrics. Requests while it is rendered, or compressed, share the result. */
export function createSharedRendering(render: () => Promise<string | Buffer>): MetricsText {
  const plain = shareWhileUnderWay(async () => {
    const text = await render();
    return typeof text === "string" ? Buffer.from(text) : text;
  });
  return { plain, gzipped: shareWhileUnderWay(async () => compress(await plain())) };
}

/** Calls that arrive while one is under way get its result. */
function shareWhileUnderWay<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => (underWay ??= work().finally(() => (underWay = undefined)));
}

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
