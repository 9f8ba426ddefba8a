import { isIP, type Socket } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { TlsClientConfig } from "../config/config.ts";
import { ConnectionError } from "./errors.ts";

export interface HandshakeOptions {
  /** The name or address that the certificate is to be for. */
  readonly name: string;
  readonly context: SecureContext;
  /** To resume; `undefined` the first time. */
  readonly session: Buffer | undefined;
  /** Takes each session the peer offers for resumption. */
  readonly remember: (session: Buffer) => void;
}

/**
 * TLS over a connected socket. The certificate has not been judged when this resolves: it is to be looked at even if it
 * is refused, and nothing of ours was sent yet.
 *
 * @throws the runtime's error
 */
export function handshake(
  socket: Socket,
  { name, context, session, remember }: HandshakeOptions,
  onSocket: (socket: Socket) => void,
): Promise<TLSSocket> {
  const secured = connect({
    socket,
    host: name,
    // An address is no name for SNI (RFC 6066, 3); the certificate is checked against `host` then.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    secureContext: context,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: false,
    ...(session === undefined ? {} : { session }),
  });
  onSocket(secured);
  secured.on("session", remember);
  return new Promise((resolve, reject) => {
    secured.once("error", (error) => {
      // An alert may also come later: TLS 1.3 refuses client certificates after the handshake. Ending the socket with it
      // keeps undici from seeing a mere end of the connection, and the reason from being lost.
      secured.destroy(error);
      reject(error);
    });
    secured.once("secureConnect", () => resolve(secured));
    secured.once("close", () => reject(new ConnectionError("connect", "the connection was given up")));
  });
}

/** Shorter than an hour, so that with polls up to five minutes apart no certificate that is reported is older than that. */
const PERIOD_MS = 55 * 60_000;

/**
 * The number of the period of 55 minutes that `monotonicMs` belongs to. A full handshake vouches for connections and
 * sessions of its own period alone. `phase`, from 0 up to 1: where in that time the periods of one appliance begin, so
 * that a fleet does not renew all its handshakes at once.
 */
export function handshakePeriod(phase: number, monotonicMs: number): number {
  return Math.floor(monotonicMs / PERIOD_MS - phase);
}

/** Gives the secure context of a TLS configuration. */
export type SecureContexts = (tls: TlsClientConfig) => SecureContext;

/** More than a fleet has in practice; those used last are kept, so that reloads leave nothing behind. */
const MAX_CONTEXTS = 64;

/**
 * One secure context for each distinct TLS configuration: parsing a long list of authorities blocks for tens of
 * milliseconds, and a fleet mostly shares one.
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
    // As in Go and curl: whatever stands in the file is trusted, root or not.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: key.reveal() }),
    ...(minVersion === undefined ? {} : { minVersion }),
    // OpenSSL 3 speaks TLS below 1.2 at its lowest security level alone.
    ...(isLegacy ? { ciphers: "DEFAULT@SECLEVEL=0" } : {}),
  });
}
