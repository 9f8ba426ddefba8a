import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";

import type { Secret } from "../support/secret.ts";
import { type ListenAddress, closeAtOnce, listen, type ListeningAddress } from "../web/listen.ts";
import { createBasicAuth, type ApplianceUser } from "./basic-auth.ts";
import { answerTo, failure, type Answer, type OperationDeps } from "./routes.ts";

export interface ApplianceServerDeps extends OperationDeps {
  readonly listen: ListenAddress;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: Secret };
  readonly users: readonly ApplianceUser[];
  /** Called for a bug in answering a request; the client gets a 500. */
  readonly onBug: (error: unknown) => void;
}

export interface ApplianceServer {
  /** Listens and returns the address; port 0 becomes a free port. Rejects if it cannot listen. */
  start(): Promise<ListeningAddress>;
  /** Closes all connections and resolves when the last one is closed. */
  stop(): Promise<void>;
}

/** Longer than the intervals of most polls, so that connections are kept between them. */
const KEEP_ALIVE_MS = 65_000;

const UNAUTHORIZED = failure(401, "credentials are missing or wrong", {
  "www-authenticate": 'Basic realm="management API", charset="UTF-8"',
});

/**
 * A server of the management API over HTTPS with Basic authentication. Throws if certificate and key do not match.
 *
 * @see management API 4, 5
 */
export function createApplianceServer(deps: ApplianceServerDeps): ApplianceServer {
  const isAllowed = createBasicAuth(deps.users);
  async function answer(
    { headers: { authorization }, method = "", url = "" }: IncomingMessage,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (!isAllowed(authorization)) return UNAUTHORIZED;
    try {
      return await answerTo(deps, method, url, signal);
    } catch (error) {
      deps.onBug(error);
      return failure(500, "internal error");
    }
  }
  const tls = { cert: deps.tls.cert, key: deps.tls.key.reveal() };
  const server = createServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const disconnected = new AbortController();
    response.once("close", () => disconnected.abort());
    void answer(request, disconnected.signal).then((made) => send(response, made));
  });
  return {
    start: () => listen(server, deps.listen),
    stop: () => closeAtOnce(server),
  };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    ...headers,
  });
  response.end(body);
}
