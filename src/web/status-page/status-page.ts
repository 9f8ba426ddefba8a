import type { IncomingMessage } from "node:http";
import type { FleetDocument } from "../../status/schema.ts";
import { compressed } from "../gzip.ts";
import type { Reply } from "../reply.ts";
import type { Assets } from "./assets.ts";
import { renderPage, type PageFacts } from "./page.ts";
import { readFilter } from "./view/filter.ts";

/** Nothing but our own files, no inline script or style, no frame around us, and no request to any other host. */
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

export interface StatusPageDeps extends Pick<PageFacts, "telemetryPath"> {
  readonly document: () => FleetDocument;
  readonly assets: Assets;
  /** Unix time in milliseconds. */
  readonly wallMs: () => number;
}

/** How the fleet is, for people; narrowed to what the query asks for. */
export function createStatusPage(deps: StatusPageDeps): (request: IncomingMessage) => Promise<Reply> {
  const { document, wallMs, assets, telemetryPath } = deps;
  return async (request) => {
    const filter = readFilter(queryOf(request));
    const facts = { nowMs: wallMs(), filter, telemetryPath, assets: assets.path };
    return compressed(request, replyOf(renderPage(document(), facts).text));
  };
}

function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}

function replyOf(body: string): Reply {
  return {
    status: 200,
    contentType: "text/html; charset=utf-8",
    body,
    headers: {
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    },
  };
}
