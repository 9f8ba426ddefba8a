import type { IncomingMessage, ServerResponse } from "node:http";
import { groupBy } from "../../support/group-by.ts";
import { piecesOf, type SizedText } from "../../support/long-text.ts";
import { createTurns } from "../../support/turns.ts";
import { clientOf } from "./connections.ts";

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer | SizedText;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, contentType: "text/plain; charset=utf-8", body: `${body}\n`, headers };
}

export const NOT_CACHED = { "cache-control": "no-store" };
/** These headers close the connection, since the server does not wait for the body of a request. */
export const CLOSE = { connection: "close", ...NOT_CACHED };

/**
 * Refuses requests of web pages. The status page changes nothing, so no origin is allowed. After DNS rebinding, a foreign page has the
 * exporter's address as its origin. @see https://fetch.spec.whatwg.org/#origin-header and https://www.w3.org/TR/fetch-metadata/
 */
export function refusePages({ headers }: IncomingMessage, what: string): Reply | undefined {
  return headers.origin === undefined && headers["sec-fetch-site"] === undefined
    ? undefined
    : text(403, `Web pages cannot ${what}: the request has an Origin or Sec-Fetch-Site header`, CLOSE);
}

export const BUSY = text(503, "Too many requests at once", { "retry-after": "1" });

/** Writes the head and returns the body, which is empty for HEAD. Headers that were set before override the reply's headers. */
function begin(request: IncomingMessage, response: ServerResponse, reply: Reply): SizedText {
  const { status, contentType, headers, body } = reply;
  const isShort = typeof body === "string" || Buffer.isBuffer(body);
  const whole = isShort ? { texts: [body], bytes: Buffer.byteLength(body) } : body;
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": whole.bytes,
    ...headers,
    ...response.getHeaders(),
  });
  return request.method === "HEAD" ? NOTHING : whole;
}

const NOTHING: SizedText = { texts: [], bytes: 0 };

/** Sends a short reply at once. */
export function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  for (const piece of begin(request, response, reply).texts) response.write(piece);
  response.end();
}

const PIECE_BYTES = 64 * 1024;
/** The longest time for writing to all clients in one turn of the event loop. */
const WRITING_MS = 2;
/** The maximum size of the bodies being sent together, without the largest one. A body that several responses share counts once. */
const MAX_SENT_BYTES = 64 * 2 ** 20;

interface Sending {
  readonly client: string;
  readonly body: SizedText;
}

/**
 * Sends replies in pieces, few of them in each turn of the event loop, since fast clients would keep the process writing until they have
 * everything. A response ends when everything is written, so a server that stops does not mistake its connection for an idle one. If the
 * bodies being sent exceed 64 MiB, aborts responses of the client that keeps most of them in memory, the oldest first. The largest body
 * does not count: the scrape of a large fleet may exceed the limit by itself.
 */
export function createOutgoing(maxBytes = MAX_SENT_BYTES) {
  /** The responses that are being sent, oldest first. */
  const pending = new Map<ServerResponse, Sending>();
  const turnOf = createTurns(WRITING_MS);

  function limit(): void {
    const largest = largestOf(pending.values());
    const others = [...pending].filter(([, { body }]) => body !== largest);
    if (bytesOf(others) <= maxBytes) return;
    const byClient = groupBy(others, ([, { client }]) => client);
    const [most = []] = [...byClient.values()].toSorted((one, other) => bytesOf(other) - bytesOf(one));
    for (const [oldest] of most.slice(0, 1)) {
      pending.delete(oldest);
      oldest.destroy();
    }
    limit();
  }

  return async (request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> => {
    if (response.destroyed) return;
    const body = begin(request, response, reply);
    const client = clientOf(request.socket.remoteAddress);
    pending.set(response, { client, body });
    response.once("close", () => pending.delete(response));
    limit();
    let isFirst = true;
    for (const piece of piecesOf(body.texts, PIECE_BYTES)) {
      if (!isFirst) await turnOf(client);
      isFirst = false;
      if (response.destroyed) return;
      await new Promise((resolve) => response.write(piece, resolve));
    }
    response.end();
  };
}

/** Returns the largest body; the latest one of equal bodies. */
function largestOf(sendings: Iterable<Sending>): SizedText | undefined {
  const bodies = Array.from(sendings, ({ body }) => body);
  return bodies.toSorted((one, other) => one.bytes - other.bytes).at(-1);
}

/** Returns the bytes of all bodies. A body that several responses share counts once. */
function bytesOf(responses: Iterable<readonly [ServerResponse, Sending]>): number {
  const bodies = new Set(Array.from(responses, ([, { body }]) => body));
  return [...bodies].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Whether an Accept-Encoding header names gzip. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header = ""): boolean {
  return header
    .split(",")
    .some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*)\s*)?$/i.test(coding));
}
