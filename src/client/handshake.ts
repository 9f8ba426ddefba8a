import { isIP, type Socket } from "node:net";
import { connect, type SecureContext, type TLSSocket } from "node:tls";
import type { AttemptWatcher } from "./attempt.ts";
import { ConnectionError } from "./connection-error.ts";

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
  watcher: AttemptWatcher,
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
  watcher.socket(secured);
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
