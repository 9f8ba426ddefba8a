import type { X509Certificate } from "node:crypto";
import { isIP, type Socket } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";
import { ConnectionError } from "./errors.ts";

export interface HandshakeOptions {
  /** The name or address that the certificate must match. */
  readonly name: string;
  readonly context: SecureContext;
  /** The session to resume, if any. */
  readonly session: Buffer | undefined;
  /** Called with each session that the peer offers for resumption. */
  readonly remember: (session: Buffer) => void;
}

export interface Secured {
  readonly socket: TLSSocket;
  /** The certificate of a full handshake. */
  readonly certificate: () => X509Certificate | undefined;
}

/**
 * TLS over a connected socket. The caller must verify the certificate before it sends anything: an untrusted certificate
 * is reported too.
 *
 * @throws an error of Node.js
 */
export function handshake(
  socket: Socket,
  { name, context, session, remember }: HandshakeOptions,
  onSocket: (socket: Socket) => void,
): Promise<Secured> {
  let certificate: X509Certificate | undefined;
  // The runtime's method removes the certificate from the chain, so a second call finds none.
  const presented = (): X509Certificate | undefined => (certificate ??= secured.getPeerX509Certificate());
  const secured: TLSSocket = connect({
    socket,
    host: name,
    // SNI allows no address (RFC 6066, 3); the certificate is checked against `host` then.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    secureContext: context,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: false,
    checkServerIdentity: (host) => identityError(presented(), host),
    ...(session === undefined ? {} : { session }),
  });
  // The runtime would convert the whole chain to objects for this check: a tenth of the cost of a connection.
  Object.defineProperty(secured, "getPeerCertificate", { value: () => ({}) });
  onSocket(secured);
  secured.on("session", remember);
  return new Promise((resolve, reject) => {
    secured.once("error", (error) => {
      // An alert can also come later: TLS 1.3 rejects client certificates after the handshake. Destroying the socket with
      // the error passes the reason to undici.
      secured.destroy(error);
      reject(error);
    });
    secured.once("secureConnect", () => resolve({ socket: secured, certificate: presented }));
    secured.once("close", () => reject(new ConnectionError("connect", "the connection attempt was aborted")));
  });
}

/** As the runtime's own check: host names by SAN, or by subject if there is none; addresses by SAN only. @see RFC 9525, 6 */
function identityError(certificate: X509Certificate | undefined, host: string): Error | undefined {
  const match = isIP(host) === 0 ? certificate?.checkHost(host) : certificate?.checkIP(host);
  if (match !== undefined) return undefined;
  return Object.assign(new Error(`the certificate is not for ${host}`), {
    code: "ERR_TLS_CERT_ALTNAME_INVALID",
  });
}

/** With polls up to five minutes apart, a reported certificate is at most an hour old. */
const PERIOD_MS = 55 * 60_000;

/**
 * The number of the 55-minute period that contains `monotonicMs`. A full handshake is valid for connections and sessions
 * of its own period only. `phase`, from 0 up to 1, shifts the periods of one appliance, so that a fleet does not renew
 * all its handshakes at once.
 */
export function handshakePeriod(phase: number, monotonicMs: number): number {
  return Math.floor(monotonicMs / PERIOD_MS - phase);
}

/** Returns the secure context for a TLS configuration. */
export type SecureContexts = (tls: TlsClientConfig) => SecureContext;

/** More than a fleet needs in practice; the least recently used are dropped, so that reloads do not leak. */
const MAX_CONTEXTS = 64;

/**
 * One secure context for each distinct TLS configuration. Parsing a long list of authorities blocks for tens of
 * milliseconds, and a fleet usually shares one.
 */
export function createSecureContexts(): SecureContexts {
  const contexts = new Map<string, SecureContext>();
  return (tls) => {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key?.reveal(), tls.minVersion]);
    const known = contexts.get(key) ?? makeContext(tls);
    contexts.delete(key);
    contexts.set(key, known);
    const [oldest] = contexts.keys();
    if (contexts.size > MAX_CONTEXTS && oldest !== undefined) contexts.delete(oldest);
    return known;
  };
}

function makeContext({ ca, cert, key, minVersion }: TlsClientConfig): SecureContext {
  const isLegacy = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  return createSecureContext({
    // As in Go and curl: every certificate in the file is trusted, root or not.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
    ...(minVersion === undefined ? {} : { minVersion }),
    // OpenSSL 3 allows TLS below 1.2 only at its lowest security level.
    ...(isLegacy ? { ciphers: "DEFAULT@SECLEVEL=0" } : {}),
  });
}
