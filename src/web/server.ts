import { createServer, type RequestListener, type Server } from "node:http";
import { Server as SecureServer } from "node:https";
import type { TLSSocket } from "node:tls";
import type { Checked } from "../config/errors.ts";
import type { Preparation } from "../config/reload.ts";
import { messageOf } from "../support/errors.ts";
import { createConnections } from "./connections.ts";
import { protect } from "./guard.ts";
import { formatAddress, type ListenAddress, listen } from "./listen.ts";
import { underPrefix } from "./paths.ts";
import { createTlsServer, isClientAccepted, renewTls } from "./tls-server.ts";
import { loadWebConfig, UNPROTECTED, type WebConfig } from "./web-config.ts";

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

export interface WebServerOptions {
  readonly handler: RequestListener;
  /** See `underPrefix`; default: none. */
  readonly routePrefix?: string | undefined;
  /** The loaded web configuration; default: plain HTTP without passwords. */
  readonly config?: WebConfig;
  /** The file that it was loaded from. */
  readonly configFile?: string | undefined;
  /** Simultaneous connections of clients; default: 512. */
  readonly maxConnections?: number;
}

export interface WebServer {
  /** Serves on all addresses, or on none after an error. `addresses`: `host:port`, one for each listener. */
  start(listeners: readonly ListenAddress[]): Promise<Checked<{ readonly addresses: readonly string[] }>>;
  /** Loads the web configuration again; nothing changes before `apply`. */
  prepare(): Promise<Preparation>;
  /** Stops listening, waits up to 3 seconds for pending responses, and closes every connection. */
  stop(): Promise<void>;
}

const NEEDS_RESTART = {
  path: "tls_server_config",
  message: "TLS can be turned on or off only by a restart",
};

/** The exporter's web server: over TLS if its configuration has settings for it, else plain HTTP. */
export function createWebServer({
  handler,
  routePrefix = "",
  config = UNPROTECTED,
  configFile,
  maxConnections,
}: WebServerOptions): WebServer {
  let current = config;
  const connections = createConnections(maxConnections);
  const servers: (Server | SecureServer)[] = [];
  // The guard is outermost: paths outside the prefix require a password too.
  const guarded = protect(underPrefix(routePrefix, handler), routePrefix, () => current);

  function create(): Server | SecureServer {
    const server = config.tls === undefined ? createServer(LIMITS) : createTlsServer(LIMITS, config.tls);
    server.timeout = INACTIVITY_TIMEOUT_MS;
    server.on("secureConnection", (socket: TLSSocket) => {
      if (current.tls === undefined || !isClientAccepted(current.tls, socket)) socket.destroy();
    });
    connections.serve(server, guarded);
    return server;
  }

  function apply(next: WebConfig): void {
    for (const server of servers)
      if (server instanceof SecureServer && next.tls !== undefined) renewTls(server, next.tls);
    current = next;
  }

  async function stop(): Promise<void> {
    const closed = servers.map(close);
    connections.drain();
    await Promise.all(closed);
  }

  return {
    start: async (listeners) => {
      const addresses: string[] = [];
      for (const address of listeners) {
        const server = create();
        try {
          addresses.push(formatAddress(await listen(server, address)));
        } catch (error) {
          await stop();
          const file = `--web.listen-address=${formatAddress(address)}`;
          return { ok: false, errors: [{ file, path: "", message: messageOf(error) }] };
        }
        // A connection that cannot be accepted must not end the process.
        server.on("error", () => {});
        servers.push(server);
      }
      return { ok: true, addresses };
    },
    prepare: async () => {
      const next = await loadWebConfig(configFile);
      if (!next.ok) return next;
      const { config: loaded, sources } = next;
      if ((loaded.tls === undefined) !== (current.tls === undefined)) {
        return { ok: false, errors: [{ file: configFile ?? "", ...NEEDS_RESTART }], sources };
      }
      return { ok: true, apply: () => apply(loaded), sources };
    },
    stop,
  };
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
