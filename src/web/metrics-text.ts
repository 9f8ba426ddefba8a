import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { Reply } from "./reply.ts";

/** Text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const gzipBytes = promisify(gzip);

/** Metrics in the forms in which they may be sent; each is made when it is asked for. */
export interface MetricsText {
  plain(): Promise<Buffer>;
  gzipped(): Promise<Buffer>;
}

/** 200 with the metrics, compressed where the request takes that. */
export async function metricsReply({ headers }: IncomingMessage, text: MetricsText): Promise<Reply> {
  const isCompressed = acceptsGzip(headers["accept-encoding"]);
  return {
    status: 200,
    contentType: METRICS_TYPE,
    body: isCompressed ? await text.gzipped() : await text.plain(),
    headers: { vary: "accept-encoding", ...(isCompressed ? { "content-encoding": "gzip" } : {}) },
  };
}

/** Quickly rather than well. */
export function compress(bytes: Buffer | string): Promise<Buffer> {
  return gzipBytes(bytes, { level: constants.Z_BEST_SPEED });
}

/** Whether an Accept-Encoding header takes gzip; `*` stands for it where it is not named. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  const named =
    codings.find((coding) => /^(x-)?gzip\b/.test(coding)) ?? codings.find((coding) => coding.startsWith("*"));
  return named !== undefined && /^[^;]+(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*))?$/.test(named.replaceAll(" ", ""));
}
