import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from "node:tls";
import { readRequestsSerially, type TakeTurn } from "./serial-connection.ts";
import type { TlsSettings } from "./web-config.ts";

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
      requestCert: initial.clientAuth !== "NoClientCert",
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
  useContext(server, initial);
  return {
    server,
    secure: (tls) => {
      server.setSecureContext(toSecureContextOptions(tls));
      useContext(server, tls);
      // The runtime reads it at each connection and has no call to set it.
      Object.assign(server, { requestCert: tls.clientAuth !== "NoClientCert" });
      current = tls;
    },
  };
}

/** Whether a client whose handshake is over may go on. */
function isClientAccepted({ clientAuth }: TlsSettings, socket: TLSSocket): boolean {
  const hasCertificate = socket.getPeerX509Certificate() !== undefined;
  switch (clientAuth) {
    case "NoClientCert":
    case "RequestClientCert":
      return true;
    case "RequireAnyClientCert":
      return hasCertificate;
    case "VerifyClientCertIfGiven":
      return !hasCertificate || socket.authorized;
    case "RequireAndVerifyClientCert":
      return hasCertificate && socket.authorized;
    default:
      return clientAuth satisfies never;
  }
}

function toSecureContextOptions({ cert, key, clientCa, minVersion }: TlsSettings): SecureContextOptions {
  const isOld = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  return {
    cert,
    key: key.reveal(),
    minVersion,
    // OpenSSL speaks TLS 1.0 and 1.1 at no other level.
    ciphers: isOld ? `${DEFAULT_CIPHERS}:@SECLEVEL=0` : DEFAULT_CIPHERS,
    honorCipherOrder: true,
    // Every certificate in the file is trusted, root or not.
    ...(clientCa === undefined ? {} : { ca: clientCa, allowPartialTrustChain: true }),
    // Sessions are resumed only in a context that is named.
    sessionIdContext: "appliance-exporter",
  };
}

/**
 * Makes the server use a context of ours: the one that it makes of the same options ignores `allowPartialTrustChain` (Node
 * 20 and 24). A runtime that keeps its own in another place goes on with that, which trusts self-signed roots alone.
 */
function useContext(server: Server, tls: TlsSettings): void {
  Object.assign(server, { _sharedCreds: createSecureContext(toSecureContextOptions(tls)) });
}
