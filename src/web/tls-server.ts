import type { ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type TLSSocket } from "node:tls";
import type { TlsSettings } from "./web-config.ts";

const HANDSHAKE_TIMEOUT_MS = 5000;

/** Serves HTTP/1.1 over TLS. Accepts every client certificate, see `isClientAccepted`. */
export function createTlsServer(limits: ServerOptions, tls: TlsSettings): Server {
  const options = { ...limits, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, rejectUnauthorized: false };
  const server = createServer(options);
  renewTls(server, tls);
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

/** Whether a client may continue after the handshake. Decided here and not by Node, because the setting can change. */
export function isClientAccepted({ clientAuth }: TlsSettings, socket: TLSSocket): boolean {
  const hasCertificate = socket.getPeerX509Certificate() !== undefined;
  if (!hasCertificate) return !clientAuth.startsWith("Require");
  return !clientAuth.includes("Verify") || socket.authorized;
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
