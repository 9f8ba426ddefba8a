import { createServer, type Server } from "node:http";
import { Server as SecureServer } from "node:https";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from "node:tls";
import type { Checked } from "../config/errors.ts";
import type { Loaded } from "../config/sources.ts";
import { startAdminSocket, type RunningSocket } from "./admin-socket.ts";
import { hasName } from "./client-names.ts";
import { createServerConnections } from "./connections.ts";
import { cipherList } from "./go-tls.ts";
import { protect } from "./guard.ts";
import type { Handler } from "./visitor.ts";
import { formatAddress, type ListenAddress, listen } from "./listen.ts";
import { describeListenFailure } from "./listen-failure.ts";
import { createPasswordCheck } from "./password-check.ts";
import { underPrefix } from "./paths.ts";
import {
  loadWebConfig,
  UNPROTECTED,
  verifiesClients,
  type TlsSettings,
  type WebConfig,
} from "./web-config.ts";

const LIMITS = {
  // A client that has closed its side still gets its response.
  allowHalfOpen: true,
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  // This is longer than any usual scrape interval, so that Prometheus keeps its connection.
  keepAliveTimeout: 125_000,
  // As much as Node.js and most proxies allow: single sign-on has long cookies.
  maxHeaderSize: 16 * 1024,
};
/** Every client certificate is accepted at first, see `isClientAccepted`. */
const TLS_LIMITS = { ...LIMITS, handshakeTimeout: 5000, rejectUnauthorized: false };
const LISTEN_FLAG = "--web.listen-address";
const ADMIN_FLAG = "--web.admin-socket";
/** The longest time that pending responses may take at a stop. */
const DRAIN_TIMEOUT_MS = 3000;

export interface WebServerOptions {
  /** The callback of `createPasswordCheck`. */
  readonly onPasswordError: (error: unknown) => void;
  /** The prefix of `underPrefix`; default: none. */
  readonly routePrefix?: string | undefined;
  /** The web configuration; default: plain HTTP without passwords. */
  readonly config?: WebConfig;
  /** The file that `config` was loaded from. */
  readonly configFile?: string | undefined;
  /** The path of the socket for commands on this host; default: none. */
  readonly adminSocket?: string | undefined;
  /** The number of simultaneous connections of clients; default: 512. */
  readonly maxConnections?: number;
}

export interface WebServer {
  /** Serves on all addresses, or on none after an error. `addresses` has `host:port` of each listener, and `unix:PATH` of the socket. */
  start(
    listeners: readonly ListenAddress[],
    handler: Handler,
  ): Promise<Checked<{ readonly addresses: readonly string[] }>>;
  /**
   * Loads the web configuration again. `apply` makes it effective from the next request and handshake on; it throws and changes nothing if
   * OpenSSL rejects the TLS settings.
   */
  prepare(): Promise<Loaded<{ apply(): void }>>;
  /** Stops listening, waits up to 3 seconds for pending responses, and closes every connection. */
  stop(): Promise<void>;
}

/** Creates the exporter's web server: over TLS if its configuration has settings for it, else plain HTTP. */
export function createWebServer({
  onPasswordError,
  routePrefix = "",
  config = UNPROTECTED,
  configFile,
  adminSocket,
  maxConnections,
}: WebServerOptions): WebServer {
  let current = config;
  const connections = createServerConnections(maxConnections);
  const servers: Server[] = [];
  const check = createPasswordCheck(onPasswordError);
  let admin: RunningSocket | undefined;

  function create(guarded: Handler): Server {
    const server = config.tls === undefined ? createServer(LIMITS) : new SecureServer(TLS_LIMITS);
    renewTls(server, config);
    server.on("secureConnection", (socket: TLSSocket) => {
      if (current.tls === undefined || !isClientAccepted(current.tls, socket)) socket.destroy();
    });
    connections.serve(server, guarded);
    return server;
  }

  function apply(next: WebConfig): void {
    for (const server of servers) renewTls(server, next);
    current = next;
  }

  async function stop(): Promise<void> {
    const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
    connections.drain();
    const timer = setTimeout(() => {
      for (const server of servers) server.closeAllConnections();
    }, DRAIN_TIMEOUT_MS);
    await Promise.all([...closed, admin?.stop()]);
    clearTimeout(timer);
  }

  return {
    start: async (listeners, handler) => {
      // The guard is outermost: paths outside the prefix require a password too.
      const guarded = protect(underPrefix(routePrefix, handler), routePrefix, () => current, check);
      const addresses: string[] = [];
      for (const address of listeners) {
        const server = create(guarded);
        try {
          addresses.push(formatAddress(await listen(server, address)));
        } catch (error) {
          await stop();
          const message = await describeListenFailure(error, address, (other) => `${LISTEN_FLAG}=${other}`);
          const file = `${LISTEN_FLAG}=${formatAddress(address)}`;
          return { ok: false, errors: [{ file, path: "", message }] };
        }
        // A reload may have come by an earlier listener.
        renewTls(server, current);
        // A connection that cannot be accepted must not end the process.
        server.on("error", () => {});
        servers.push(server);
      }
      if (adminSocket === undefined) return { ok: true, addresses };
      const local = await startAdminSocket(adminSocket, handler);
      if (local.ok) {
        admin = local;
        return { ok: true, addresses: [...addresses, `unix:${adminSocket}`] };
      }
      await stop();
      const file = `${ADMIN_FLAG}=${adminSocket}`;
      return { ok: false, errors: [{ file, path: "", message: local.message }] };
    },
    prepare: async () => {
      const next = await loadWebConfig(configFile);
      if (!next.ok) return next;
      const { config: loaded, sources } = next;
      if ((loaded.tls === undefined) === (current.tls === undefined))
        return { ok: true, apply: () => apply(loaded), sources };
      const message = "TLS can be turned on or off only by a restart";
      return { ok: false, errors: [{ file: configFile ?? "", path: "tls_server_config", message }], sources };
    },
    stop,
  };
}

/** Renews the TLS settings from the next handshake on; open connections stay. Throws if OpenSSL rejects the settings. */
function renewTls(server: Server, { tls }: WebConfig): void {
  if (tls === undefined || !(server instanceof SecureServer)) return;
  const { cert, key, clientCa, clientAuth, minVersion, maxVersion, ciphers, curves, prefersOwnCiphers } = tls;
  const isOld = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  const list = ciphers === undefined ? DEFAULT_CIPHERS : cipherList(ciphers);
  const options: SecureContextOptions = {
    cert,
    key: key.reveal(),
    minVersion,
    maxVersion,
    // OpenSSL supports TLS 1.0 and 1.1 at this security level only.
    ciphers: isOld ? `${list}:@SECLEVEL=0` : list,
    ...(curves && { ecdhCurve: curves.join(":") }),
    honorCipherOrder: prefersOwnCiphers,
    // Every certificate in the file is trusted, root or not, and the authorities of Node.js are not.
    ca: clientCa ?? [],
    allowPartialTrustChain: true,
    // Session resumption requires a name.
    sessionIdContext: "appliance-exporter",
  };
  server.setSecureContext(options);
  // Node has no methods to set these two properties, which it reads at each connection.
  Object.assign(server, {
    // The context that setSecureContext creates ignores allowPartialTrustChain.
    _sharedCreds: createSecureContext(options),
    requestCert: clientAuth !== "NoClientCert",
  });
}

/** Whether a client may continue after the handshake. Node.js cannot decide this, because the setting can change. */
function isClientAccepted({ clientAuth, allowedNames }: TlsSettings, socket: TLSSocket): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return !clientAuth.startsWith("Require");
  if (allowedNames !== undefined && !hasName(certificate, allowedNames)) return false;
  return !verifiesClients(clientAuth) || socket.authorized;
}
