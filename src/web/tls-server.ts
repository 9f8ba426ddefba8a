import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from "node:tls";
import { readRequestsSerially, type TakeTurn } from "./serial-connection.ts";
import type { TlsSettings } from "./web-config.ts";

const HANDSHAKE_TIMEOUT_MS = 5000;

/**
 * Serves HTTP/1.1 over TLS. Disconnects a client after the handshake if its certificate is missing or not accepted.
 * `settings`: the current settings; call `renewTls` when they change.
 */
export function createTlsServer(
  limits: ServerOptions,
  handler: RequestListener,
  takeTurn: TakeTurn,
  settings: () => TlsSettings,
): Server {
  // isClientAccepted decides, because the setting can change.
  const options = { ...limits, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, rejectUnauthorized: false };
  const server = createServer(options, handler);
  readRequestsSerially(server, "secureConnection", takeTurn);
  // Before the HTTP server sees the connection.
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (!isClientAccepted(settings(), socket)) socket.destroy();
  });
  renewTls(server, settings());
  return server;
}

/** Takes effect from the next handshake on; open connections stay. Throws if OpenSSL rejects the settings. */
export function renewTls(server: Server, tls: TlsSettings): void {
  const options = toSecureContextOptions(tls);
  server.setSecureContext(options);
  Object.assign(server, {
    // The context that Node 20 and 24 create from the same options ignores allowPartialTrustChain. A version of Node that
    // stores it elsewhere trusts only self-signed roots.
    _sharedCreds: createSecureContext(options),
    // Node reads this at each connection and has no method to set it.
    requestCert: tls.clientAuth !== "NoClientCert",
  });
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
