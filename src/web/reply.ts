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

/** A body in both encodings; each is made on request. */
export interface SharedBody {
  plain(): Promise<Buffer>;
  gzipped(): Promise<Buffer>;
}

/** Requests during rendering share its result, and those during joining or compression that one. */
export function createSharedBody(render: () => Promise<string | LongText>): SharedBody {
  const rendered = shareWhilePending(async () => {
    const body = await render();
    return typeof body === "string" ? { lists: [[body]], length: body.length } : body;
  });
  return {
    plain: shareWhilePending(async () => joined(await rendered())),
    gzipped: shareWhilePending(async () => compressed(await rendered())),
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

/** 200 with the body, compressed if the client accepts gzip. */
export async function replyWith(
  { headers: { "accept-encoding": accepted } }: IncomingMessage,
  contentType: string,
  { plain, gzipped }: SharedBody,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const isCompressed = acceptsGzip(accepted);
  return {
    status: 200,
    contentType,
    body: await (isCompressed ? gzipped() : plain()),
    headers: {
      vary: "accept-encoding",
      ...headers,
      ...(isCompressed ? { "content-encoding": "gzip" } : {}),
    },
  };
}
