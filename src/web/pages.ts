import type { IncomingMessage } from "node:http";
import { targetOf } from "./paths.ts";
import { compressed, type Reply } from "./reply.ts";
import { sharedReply, createSharedRendering } from "./scrape.ts";

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

/** Serves the HTML that `render` returns for the query; it is not cached. */
export function createStatusPage(
  render: (query: URLSearchParams) => string,
): (request: IncomingMessage) => Promise<Reply> {
  return (request) => {
    const [, ...query] = targetOf(request).split("?");
    return compressed(request, {
      status: 200,
      contentType: "text/html; charset=utf-8",
      body: render(new URLSearchParams(query.join("?"))),
      headers: {
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      },
    });
  };
}

/** Serves the fleet as JSON. */
export function createFleetPage(render: () => Promise<string>): (request: IncomingMessage) => Promise<Reply> {
  const rendering = createSharedRendering(render);
  return async (request) => {
    const reply = await sharedReply(request, rendering, "application/json");
    return { ...reply, headers: { ...reply.headers, "cache-control": "no-store" } };
  };
}
