import { createServer, type RequestListener, type Server } from "node:http";
import { Server as SecureServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { errorCode } from "../support/errors.ts";
import { createConnections, type Connections } from "./connections.ts";
import { formatAddress, type ListenAddress, listen } from "./listen.ts";
import { createTlsServer, isClientAccepted, renewTls } from "./tls-server.ts";
import type { TlsSettings } from "./web-config.ts";

const LIMITS = {
  // A client that has closed its side still gets its response.
  allowHalfOpen: true,
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  // Longer than any usual scrape interval, so that Prometheus keeps its connection.
  keepAliveTimeout: 125_000,
  maxHeaderSize: 8 * 1024,
};
/** A client that neither reads nor writes during a response is disconnected after one or two of these. */
const INACTIVITY_TIMEOUT_MS = 15_000;
/** How long pending responses may take at shutdown. */
const DRAIN_TIMEOUT_MS = 3000;

export interface WebServer {
  /** `host:port`, one for each listener. */
  readonly addresses: readonly string[];
  /** Uses other TLS settings from the next handshake on; without effect on plain HTTP. */
  secure(tls: TlsSettings): void;
  /** Stops listening, waits up to 3 seconds for pending responses, and closes every connection. */
  stop(): Promise<void>;
}

export type WebStart =
  | { readonly ok: true; readonly server: WebServer }
  /** `code`: Node's error code, such as EADDRINUSE. */
  | { readonly ok: false; readonly address: string; readonly code: string };

/** Serves on all addresses, or on none after an error: over TLS if there are settings for it, else plain HTTP. */
export async function startWebServer(
  listeners: readonly ListenAddress[],
  handler: RequestListener,
  tls?: TlsSettings,
  maxConnections?: number,
): Promise<WebStart> {
  const connections = createConnections(maxConnections);
  const servers: (Server | SecureServer)[] = [];
  const addresses: string[] = [];
  let current = tls;
  for (const address of listeners) {
    const server = tls === undefined ? createServer(LIMITS) : createTlsServer(LIMITS, tls);
    server.timeout = INACTIVITY_TIMEOUT_MS;
    server.on("secureConnection", (socket: TLSSocket) => {
      if (current === undefined || !isClientAccepted(current, socket)) socket.destroy();
    });
    connections.serve(server, handler);
    try {
      addresses.push(formatAddress(await listen(server, address)));
    } catch (error) {
      await stop(servers, connections);
      return { ok: false, address: formatAddress(address), code: errorCode(error) ?? String(error) };
    }
    // A connection that cannot be accepted must not end the process.
    server.on("error", () => {});
    servers.push(server);
  }
  return {
    ok: true,
    server: {
      addresses,
      secure: (next) => {
        for (const server of servers) if (server instanceof SecureServer) renewTls(server, next);
        current = next;
      },
      stop: () => stop(servers, connections),
    },
  };
}

async function stop(servers: readonly (Server | SecureServer)[], connections: Connections): Promise<void> {
  const closed = servers.map(close);
  connections.drain();
  await Promise.all(closed);
}

function close(server: Server | SecureServer): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
