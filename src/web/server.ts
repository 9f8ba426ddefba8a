import { createServer, type RequestListener, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { TlsSettings } from "../web-config/web-config.ts";
import { createConnections, type Connections } from "./connections.ts";
import { formatAddress, type ListenAddress } from "./listen-address.ts";
import { createTlsServer } from "./tls-server.ts";

const LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  // Longer than any usual scrape interval, so that Prometheus finds its connection open.
  keepAliveTimeout: 125_000,
  maxHeaderSize: 8 * 1024,
};
/**
 * A client that neither reads nor writes in the middle of an answer is let go after this long, or twice this long where
 * it had begun to read.
 */
const INACTIVITY_TIMEOUT_MS = 15_000;
/** How long answers under way may take at shutdown. */
const DRAIN_TIMEOUT_MS = 3000;

export interface WebServer {
  /** `host:port`, one for each listener. */
  readonly addresses: readonly string[];
  /** Goes by other TLS settings from the next handshake on; without effect on plain HTTP. */
  secure(tls: TlsSettings): void;
  /** Stops listening, lets answers under way finish for a while, and ends every connection. */
  stop(): Promise<void>;
}

export type WebStart =
  | { readonly ok: true; readonly server: WebServer }
  /** `code` of the runtime: EADDRINUSE, EACCES, ENOTFOUND... */
  | { readonly ok: false; readonly address: string; readonly code: string };

/** Serves on every address, or on none: over TLS where settings for it are given, else plain HTTP. */
export async function startWebServer(
  listeners: readonly ListenAddress[],
  handler: RequestListener,
  tls?: TlsSettings,
): Promise<WebStart> {
  const connections = createConnections();
  const servers: (Server | SecureServer)[] = [];
  const secures: ((next: TlsSettings) => void)[] = [];
  for (const address of listeners) {
    const { server, secure } =
      tls === undefined
        ? { server: createServer(LIMITS, handler), secure: () => {} }
        : createTlsServer(LIMITS, handler, tls);
    server.timeout = INACTIVITY_TIMEOUT_MS;
    connections.bound(server);
    const code = await listen(server, address);
    if (code !== undefined) {
      await stop(servers, connections);
      return { ok: false, address: formatAddress(address.host ?? "", address.port), code };
    }
    servers.push(server);
    secures.push(secure);
  }
  return {
    ok: true,
    server: {
      addresses: servers.map(addressOf),
      secure: (next) => {
        for (const secure of secures) secure(next);
      },
      stop: () => stop(servers, connections),
    },
  };
}

/** Resolves to nothing, or to the error's code. */
function listen(server: Server | SecureServer, { host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => resolve(undefined));
  });
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

function addressOf(server: Server | SecureServer): string {
  const address = server.address();
  return typeof address === "object" && address !== null ? formatAddress(address.address, address.port) : "";
}
