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

const LIMITS = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  handshakeTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
};
const MAX_CONNECTIONS = 256;

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
  const { cert, key } = deps.tls;
  const server = createServer({ ...LIMITS, cert, key: key.reveal() }, (request, response) => {
    if (isAllowed(request.headers.authorization)) void respond(request, response, deps);
    else send(response, UNAUTHORIZED);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return {
    start: () => listen(server, deps.listen),
    stop: () => closeAtOnce(server),
  };
}

async function respond(
  { method = "", url = "" }: IncomingMessage,
  response: ServerResponse,
  deps: ApplianceServerDeps,
): Promise<void> {
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  try {
    send(response, await answerTo(deps, method, url, disconnected.signal));
  } catch (error) {
    send(response, failure(500, "internal error"));
    deps.onBug(error);
  }
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": bytes.length,
    "cache-control": "no-store",
    ...headers,
  });
  response.end(bytes);
}
