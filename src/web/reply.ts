import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { compressed, joined, toBuffer, type LongText } from "../support/long-text.ts";

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, contentType: "text/plain; charset=utf-8", body: `${body}\n`, headers };
}

/** Sends a reply, without its body for HEAD. Headers set before override those of the reply. */
export function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const body = toBuffer(reply.body);
  response.writeHead(reply.status, {
    "content-type": reply.contentType,
    "content-length": body.length,
    "x-content-type-options": "nosniff",
    ...reply.headers,
    ...response.getHeaders(),
  });
  if (request.method === "HEAD") response.end();
  else if (body.length <= PIECE_BYTES) response.end(body);
  else void endInPieces(response, body);
}

const PIECE_BYTES = 64 * 1024;

/** One piece at a time, and other work between them: a fast client would keep the process writing until it has everything. */
async function endInPieces(response: ServerResponse, body: Buffer): Promise<void> {
  for (let at = 0; at < body.length && !response.destroyed; at += PIECE_BYTES) {
    await new Promise((resolve) => response.write(body.subarray(at, at + PIECE_BYTES), resolve));
    await setImmediate();
  }
  response.end();
}

/** Total size of the bodies being sent; a body that several responses share counts once. */
const MAX_SENT_BYTES = 64 * 2 ** 20;

/** `send`, but if all bodies being sent exceed 64 MiB, aborts the oldest responses, which slow clients keep in memory. */
export function createOutgoing(maxBytes = MAX_SENT_BYTES): typeof send {
  /** Oldest first. */
  const pending = new Map<ServerResponse, Buffer>();

  function bytes(): number {
    return [...new Set(pending.values())].reduce((sum, { length }) => sum + length, 0);
  }

  return (request, response, reply) => {
    if (response.destroyed) return;
    const body = toBuffer(reply.body);
    pending.set(response, body);
    response.once("close", () => pending.delete(response));
    for (const [oldest] of pending) {
      if (pending.size === 1 || bytes() <= maxBytes) break;
      pending.delete(oldest);
      oldest.destroy();
    }
    send(request, response, { ...reply, body });
  };
}

/**
 * 200 with what `render` makes, compressed if the client accepts gzip. Requests during rendering share its result, and those
 * during joining or compression that one.
 */
export function compressible(
  contentType: string,
  headers: Reply["headers"],
  render: () => Promise<string | LongText>,
): (request: Pick<IncomingMessage, "headers">) => Promise<Reply> {
  const rendered = shareWhilePending(async () => {
    const body = await render();
    return typeof body === "string" ? [body] : body;
  });
  const plain = shareWhilePending(async () => joined(await rendered()));
  const gzipped = shareWhilePending(async () => compressed(await rendered()));
  return async (request) => {
    const isCompressed = acceptsGzip(request.headers["accept-encoding"]);
    const encoding = isCompressed ? { "content-encoding": "gzip" } : {};
    return {
      status: 200,
      contentType,
      body: await (isCompressed ? gzipped() : plain()),
      headers: { vary: "accept-encoding", ...headers, ...encoding },
    };
  };
}

/** Calls during a pending one share its result. */
function shareWhilePending<T>(work: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => (pending ??= work().finally(() => (pending = undefined)));
}

/** Whether an Accept-Encoding header names gzip. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header = ""): boolean {
  return header
    .split(",")
    .some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*)\s*)?$/i.test(coding));
}
