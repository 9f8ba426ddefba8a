import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isKnownTag } from "./etag.ts";
import { acceptsGzip, compress } from "./gzip.ts";
import type { Reply } from "./reply.ts";
import { createSharedRendering } from "./scrape.ts";

/** What follows from a rendering, for all who share it. */
interface Forms {
  readonly etag: string;
  gzipped: Promise<Buffer> | undefined;
}

/** The fleet's document as JSON, to be asked for again and again: 304 while it is what the client has. */
export function createFleetPage(render: () => Promise<string>): (request: IncomingMessage) => Promise<Reply> {
  const rendering = createSharedRendering(render);
  const forms = new WeakMap<Buffer, Forms>();
  return async ({ headers }) => {
    const plain = await rendering.plain();
    const known = forms.get(plain) ?? { etag: etagOf(plain), gzipped: undefined };
    forms.set(plain, known);
    const { etag } = known;
    const reply = {
      contentType: "application/json",
      headers: { etag, "cache-control": "no-cache", vary: "accept-encoding" },
    };
    if (isKnownTag(headers["if-none-match"], etag)) return { ...reply, status: 304, body: "" };
    if (!acceptsGzip(headers["accept-encoding"])) return { ...reply, status: 200, body: plain };
    const body = await (known.gzipped ??= compress(plain));
    return { ...reply, status: 200, body, headers: { ...reply.headers, "content-encoding": "gzip" } };
  };
}

function etagOf(bytes: Buffer): string {
  return `W/"${createHash("sha256").update(bytes).digest("base64url")}"`;
}
