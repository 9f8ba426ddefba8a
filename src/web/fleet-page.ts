import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FleetDocument } from "../status/schema.ts";
import { isKnownTag } from "./etag.ts";
import { compressed } from "./gzip.ts";
import type { Reply } from "./reply.ts";
import { createSharedRendering } from "./scrape.ts";

/** The document as JSON, to be asked for again and again: 304 while it is what the client has. */
export function createFleetPage(document: () => FleetDocument): (request: IncomingMessage) => Promise<Reply> {
  const rendering = createSharedRendering(async () => `${JSON.stringify(document())}\n`);
  return async (request) => {
    const body = await rendering.plain();
    const etag = `W/"${createHash("sha256").update(body).digest("base64url")}"`;
    const headers = { etag, "cache-control": "no-cache", vary: "accept-encoding" };
    const reply = { status: 200, contentType: "application/json", body, headers };
    const isKnown = isKnownTag(request.headers["if-none-match"], etag);
    return isKnown ? { ...reply, status: 304, body: "" } : compressed(request, reply);
  };
}
