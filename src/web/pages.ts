import type { IncomingMessage } from "node:http";
import { createSharedBody, replyWith, type Reply } from "./reply.ts";

/** Only the exporter's own files: no inline script or style, no framing, no request to another host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const NOT_CACHED = { "cache-control": "no-store" };

export type Page = (request: IncomingMessage) => Reply | Promise<Reply>;

/** The status page. */
export function statusPageReply(request: IncomingMessage, html: string): Promise<Reply> {
  return replyWith(
    request,
    "text/html; charset=utf-8",
    createSharedBody(async () => html),
    {
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "referrer-policy": "no-referrer",
      ...NOT_CACHED,
    },
  );
}

/** Serves something about the fleet as JSON. */
export function createFleetPage(render: () => Promise<string | Buffer>): Page {
  const body = createSharedBody(render);
  return (request) => replyWith(request, "application/json", body, NOT_CACHED);
}

/** Serves the metrics. */
export function createMetricsPage(
  render: () => Promise<string | Buffer>,
): (request: IncomingMessage) => Promise<Reply> {
  const body = createSharedBody(render);
  return (request) => replyWith(request, METRICS_TYPE, body);
}
