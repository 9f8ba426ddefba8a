import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

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
  const body = typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body;
  response.writeHead(reply.status, {
    "content-type": reply.contentType,
    "content-length": body.length,
    "x-content-type-options": "nosniff",
    ...reply.headers,
    ...response.getHeaders(),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

const gzipBytes = promisify(gzip);

/** Compresses fast rather than small. */
export function compress(bytes: Buffer | string): Promise<Buffer> {
  return gzipBytes(bytes, { level: constants.Z_BEST_SPEED });
}

/** Whether an Accept-Encoding header accepts gzip, by name or by `*`. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  const named =
    codings.find((coding) => /^(x-)?gzip\b/.test(coding)) ?? codings.find((coding) => coding.startsWith("*"));
  return named !== undefined && /^[^;]+(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*))?$/.test(named.replaceAll(" ", ""));
}

/** The reply, compressed if the client accepts gzip. */
export async function compressed({ headers }: IncomingMessage, reply: Reply): Promise<Reply> {
  const varying = { ...reply, headers: { ...reply.headers, vary: "accept-encoding" } };
  if (!acceptsGzip(headers["accept-encoding"])) return varying;
  return {
    ...varying,
    body: await compress(reply.body),
    headers: { ...varying.headers, "content-encoding": "gzip" },
  };
}
