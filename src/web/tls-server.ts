import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext, type TLSSocket } from "node:tls";
import { toSecureContextOptions } from "./web-config/secure-context.ts";
import type { TlsSettings } from "./web-config/web-config.ts";
import { asksForCertificate, isClientAccepted } from "./client-certificates.ts";
import { readRequestsSerially, type TakeTurn } from "./serial-connection.ts";

/** How long a client may take for the handshake. */
const HANDSHAKE_TIMEOUT_MS = 5000;

/** A server over TLS whose settings can change. */
export interface TlsServer {
  readonly server: Server;
  /** From the next handshake on; connections that exist stay. */
  secure(tls: TlsSettings): void;
}

/** Serves HTTP/1.1 over TLS. A client whose certificate is missing or not accepted is dropped after the handshake. */
export function createTlsServer(
  limits: ServerOptions,
  handler: RequestListener,
  initial: TlsSettings,
  takeTurn: TakeTurn,
): TlsServer {
  let current = initial;
  const server = createServer(
    {
      ...limits,
      ...toSecureContextOptions(initial),
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      requestCert: asksForCertificate(initial),
      // Which certificates are accepted is decided below, where it can change.
      rejectUnauthorized: false,
    },
    handler,
  );
  readRequestsSerially(server, "secureConnection", takeTurn);
  // Ahead of HTTP, which then never sees the connection.
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (!isClientAccepted(current, socket)) socket.destroy();
  });
  takeContext(server, initial);
  return {
    server,
    secure: (tls) => {
      server.setSecureContext(toSecureContextOptions(tls));
      takeContext(server, tls);
      // The runtime reads it at each connection and has no call to set it.
      Object.assign(server, { requestCert: asksForCertificate(tls) });
      current = tls;
    },
  };
}

/**
 * Has the server use a context of ours: the one that it makes of the same options ignores `allowPartialTrustChain` (Node
 * 20 and 24). A runtime that keeps its own in another place goes on with that, which trusts self-signed roots alone.
 */
function takeContext(server: Server, tls: TlsSettings): void {
  Object.assign(server, { _sharedCreds: createSecureContext(toSecureContextOptions(tls)) });
}
