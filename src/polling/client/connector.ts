import { isIP, type Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { TlsClientConfig } from "../../config/config.ts";
import type { Clock } from "../clock.ts";
import type { AttemptWatcher } from "./attempt.ts";
import { ConnectionError } from "./connection-error.ts";
import { dial } from "./dial.ts";
import { handshake } from "./handshake.ts";
import type { Lookup } from "./lookup.ts";
import { describeCertificate, peerProblem } from "./peer-verification.ts";
import { openTunnel, type Proxy } from "./proxy.ts";

/**
 * Connects once.
 *
 * @throws ConnectionError with its reason, or the runtime's error with its code
 */
export type Connector = (watcher: AttemptWatcher) => Promise<Socket>;

export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  readonly proxy: Proxy | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: { readonly config: TlsClientConfig; readonly context: SecureContext } | undefined;
  readonly lookup: Lookup;
  readonly clock: Clock;
}

/**
 * The way to one appliance: name look-up, TCP, tunnel, TLS, each told to the watcher. It remembers the TLS session of
 * this appliance, and of this appliance alone, so that a new connection resumes it.
 */
export function createConnector({ host, port, proxy, tls, lookup, clock }: ConnectorOptions): Connector {
  let session: Buffer | undefined;

  async function secure(raw: Socket, watcher: AttemptWatcher): Promise<Socket> {
    if (tls === undefined) return raw;
    watcher.stage("tls");
    const name = tls.config.serverName ?? host;
    const remember = (fresh: Buffer): void => void (session = fresh);
    const secured = await handshake(raw, { name, context: tls.context, session, remember }, watcher);
    const peer = secured.getPeerX509Certificate();
    const certificate = peer === undefined ? undefined : describeCertificate(peer);
    if (certificate !== undefined) watcher.certificate(certificate);
    const problem = peerProblem(secured, certificate, tls.config, clock.wallMs());
    if (problem === undefined) return secured;
    session = undefined;
    secured.destroy();
    throw new ConnectionError("tls", problem);
  }

  return async (watcher) => {
    const raw = await dial(proxy ?? { host, port }, { lookup, isProxy: proxy !== undefined }, watcher);
    if (proxy !== undefined) {
      await openTunnel(raw, isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`, proxy);
    }
    const socket = await secure(raw, watcher);
    watcher.stage("connected");
    return socket;
  };
}
