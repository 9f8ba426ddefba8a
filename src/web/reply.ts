import type { IncomingMessage, ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, contentType: "text/plain; charset=utf-8", body: `${body}\n`, headers };
}

/** Sends a reply, to HEAD without its body. Headers that were set before override the reply's own. */
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
