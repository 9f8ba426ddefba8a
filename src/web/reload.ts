import type { IncomingMessage } from "node:http";
import type { ReloadResult } from "../config/reload.ts";
import { text, type Reply } from "./reply.ts";

/** The server does not wait for a request body. */
const CLOSE = { connection: "close", "cache-control": "no-store" };

/**
 * Reloads on POST and PUT and reports the result: 200, or 500 with the errors; 403 if it is not enabled, or if a web page
 * sent the request.
 *
 * @see https://prometheus.io/docs/prometheus/latest/management_api/#reload
 */
export async function reloadReply(
  request: Pick<IncomingMessage, "method" | "headers">,
  reload: (() => Promise<ReloadResult>) | undefined,
): Promise<Reply> {
  const { method } = request;
  if (method !== "POST" && method !== "PUT")
    return text(405, "Only POST and PUT are served", { allow: "POST, PUT", ...CLOSE });
  if (reload === undefined)
    return text(403, "Reloading over HTTP is not enabled; --web.enable-lifecycle enables it", CLOSE);
  if (isFromWebPage(request))
    return text(403, "Web pages cannot reload: the request has an Origin or Sec-Fetch-Site header", CLOSE);
  const result = await reload();
  return result.ok ? text(200, "Reloaded", CLOSE) : text(500, result.errors.join("\n"), CLOSE);
}

/**
 * Whether a browser sent this for a web page. The status page never reloads, so no origin is allowed: after DNS rebinding,
 * a foreign page has the exporter's address as its origin.
 *
 * @see https://fetch.spec.whatwg.org/#origin-header and https://www.w3.org/TR/fetch-metadata/
 */
function isFromWebPage({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}
