import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from "node:tls";
import { readRequestsSerially, type TakeTurn } from "./serial-connection.ts";
import type { TlsSettings } from "./web-config.ts";

const HANDSHAKE_TIMEOUT_MS = 5000;

/** A TLS server whose settings can change. */
export interface TlsServer {
  readonly server: Server;
  /** Takes effect from the next handshake on; open connections stay. */
  secure(tls: TlsSettings): void;
}

/** Serves HTTP/1.1 over TLS. Disconnects a client after the handshake if its certificate is missing or not accepted. */
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
      // isClientAccepted decides, because the setting can change.
      rejectUnauthorized: false,
    },
    handler,
  );
  readRequestsSerially(server, "secureConnection", takeTurn);
  // Before the HTTP server sees the connection.
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (!isClientAccepted(current, socket)) socket.destroy();
  });
  useContext(server, initial);
  return {
    server,
    secure: (tls) => {
      server.setSecureContext(toSecureContextOptions(tls));
      useContext(server, tls);
      // Node reads this at each connection and has no method to set it.
      Object.assign(server, { requestCert: tls.clientAuth !== "NoClientCert" });
      current = tls;
    },
  };
}

/** Whether a client may continue after the handshake. */
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
    // OpenSSL supports TLS 1.0 and 1.1 at this level only.
    ciphers: isOld ? `${DEFAULT_CIPHERS}:@SECLEVEL=0` : DEFAULT_CIPHERS,
    honorCipherOrder: true,
    // Every certificate in the file is trusted, root or not.
    ...(clientCa === undefined ? {} : { ca: clientCa, allowPartialTrustChain: true }),
    // Session resumption requires a name.
    sessionIdContext: "appliance-exporter",
  };
}

/**
 * Replaces the server's context: the one that Node 20 and 24 create from the same options ignores `allowPartialTrustChain`.
 * A version of Node that stores it elsewhere trusts only self-signed roots.
 */
function useContext(server: Server, tls: TlsSettings): void {
  Object.assign(server, { _sharedCreds: createSecureContext(toSecureContextOptions(tls)) });
}
