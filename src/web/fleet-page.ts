import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FleetDocument } from "../status/schema.ts";
import { isKnownTag } from "./etag.ts";
import { acceptsGzip, compress } from "./gzip.ts";
import type { Reply } from "./reply.ts";
import { createSharedRendering } from "./scrape.ts";

/** The document as JSON, to be asked for again and again: 304 while it is what the client has. */
export function createFleetPage(document: () => FleetDocument): (request: IncomingMessage) => Promise<Reply> {
  const rendering = createSharedRendering(async () => `${JSON.stringify(document())}\n`);
  return async ({ headers }) => {
    const plain = await rendering.plain();
    const etag = `W/"${createHash("sha256").update(plain).digest("base64url")}"`;
    const reply = {
      status: 200,
      contentType: "application/json",
      headers: { etag, "cache-control": "no-cache", vary: "accept-encoding" },
    };
    if (isKnownTag(headers["if-none-match"], etag)) return { ...reply, status: 304, body: "" };
    if (!acceptsGzip(headers["accept-encoding"])) return { ...reply, body: plain };
    return {
      ...reply,
      body: await compress(plain),
      headers: { ...reply.headers, "content-encoding": "gzip" },
    };
  };
}
