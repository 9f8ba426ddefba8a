import type { IncomingMessage } from "node:http";
import { acceptsGzip } from "./gzip.ts";
import type { Reply } from "./reply.ts";

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
