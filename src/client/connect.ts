import { once } from "node:events";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as startTls, type SecureContext } from "node:tls";
import type { ProxyConfig, TlsClientConfig } from "../config/config.ts";
import type { Clock } from "../support/clock.ts";
import { urlHost } from "../support/address.ts";
import { describeCertificate, peerProblem, type PresentedCertificate } from "./certificate.ts";
import { ConnectionError, isLocalError, isLookupError, type Stage } from "./errors.ts";
import { openTunnel } from "./proxy.ts";

/** Observes one attempt to connect; can end it at any stage by destroying its sockets. */
export interface AttemptWatcher {
  stage(stage: Stage): void;
  /** Called for every socket of the attempt as soon as it exists. */
  socket(socket: Socket): void;
}

/** Makes the connections to one appliance. */
export interface Connector {
  /**
   * Connects once. Never settles if the watcher ends it.
   *
   * @throws ConnectionError with its reason, or an error of Node.js with its code
   */
  connect(watcher: AttemptWatcher): Promise<Connected>;
  /** The certificate of the latest full handshake, trusted or not. */
  certificate(): PresentedCertificate | undefined;
}

export interface Connected {
  readonly socket: Socket;
  /** The monotonic instant at which its peer must be verified again; without TLS, never. */
  readonly verifiedUntilMs: number;
}

export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  readonly proxy: ProxyConfig | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: { readonly config: TlsClientConfig; readonly context: SecureContext } | undefined;
  readonly lookup: LookupFunction;
  readonly clock: Clock;
}

/** A full handshake. */
interface Handshake {
  readonly certificate: PresentedCertificate | undefined;
  /** The end of its validity for connections and sessions. */
  readonly verifiedUntilMs: number;
}

/** With polls up to five minutes apart, a reported certificate is at most an hour old. */
const MAX_VERIFIED_MS = 55 * 60_000;

/**
 * How long one address may take before the next address of the same name is tried in parallel. The default of Node.js,
 * 250 ms, is too short for slow networks.
 */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1000;

/**
 * Connects to one appliance: name lookup, TCP, tunnel, TLS. Reports each stage to the watcher. Keeps the TLS session of
 * this appliance only, so that a new connection resumes it.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { host, port, proxy, tls, lookup, clock } = options;
  /** The session with a trusted peer. */
  let resumable: (Handshake & { readonly session: Buffer }) | undefined;
  let presented: PresentedCertificate | undefined;

  /** Opens a TCP connection to the appliance or its proxy. */
  async function dial(watcher: AttemptWatcher): Promise<Socket> {
    const target = proxy ?? { host, port };
    const connecting = proxy === undefined ? "connect" : "proxy";
    watcher.stage(isIP(target.host) === 0 ? "lookup" : connecting);
    const socket = connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      keepAlive: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
      lookup: (hostname, lookupOptions, callback) =>
        lookup(hostname, lookupOptions, (error, address, family) => {
          if (error === null) watcher.stage(connecting);
          callback(error, address, family);
        }),
    });
    watcher.socket(socket);
    try {
      await once(socket, "connect");
      return socket;
    } catch (error) {
      if (proxy === undefined || isLookupError(error) || isLocalError(error)) throw error;
      throw new ConnectionError("proxy", "the proxy is unreachable", error);
    }
  }

  /** TLS over a connected socket, with a peer that is trusted. */
  async function secure(raw: Socket, watcher: AttemptWatcher): Promise<Connected> {
    if (tls === undefined) return { socket: raw, verifiedUntilMs: Number.POSITIVE_INFINITY };
    watcher.stage("tls");
    const nowMs = clock.monotonicMs();
    const before = resumable !== undefined && nowMs < resumable.verifiedUntilMs ? resumable : undefined;
    const name = tls.config.serverName ?? host;
    const secured = startTls({
      socket: raw,
      host: name,
      // SNI allows no address (RFC 6066, 3); the certificate is checked against `host` then.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      secureContext: tls.context,
      ALPNProtocols: ["http/1.1"],
      // An untrusted peer's certificate is reported too.
      rejectUnauthorized: false,
      ...(before === undefined ? {} : { session: before.session }),
    });
    watcher.socket(secured);
    let offered: Buffer | undefined;
    let remember = (session: Buffer): void => void (offered = session);
    secured.on("session", (session) => remember(session));
    // An alert can also come later: TLS 1.3 rejects client certificates after the handshake. Destroying the socket with
    // the error passes the reason to undici.
    secured.once("error", (error) => secured.destroy(error));
    await once(secured, "secureConnect");
    // The peer presents no certificate on a resumed session; the one of the full handshake applies.
    const { certificate, verifiedUntilMs }: Handshake =
      before !== undefined && secured.isSessionReused()
        ? before
        : {
            certificate: describeCertificate(secured.getPeerX509Certificate()),
            // At random, so that a fleet does not renew all its handshakes at once.
            verifiedUntilMs: nowMs + MAX_VERIFIED_MS * (1 - Math.random() / 2),
          };
    presented = certificate ?? presented;
    const problem = peerProblem(secured, certificate, tls.config);
    if (problem !== undefined) {
      resumable = undefined;
      secured.destroy();
      throw new ConnectionError("tls", problem);
    }
    // Only now: the session of an untrusted peer must not be resumed.
    remember = (session) => void (resumable = { session, certificate, verifiedUntilMs });
    if (offered !== undefined) remember(offered);
    return { socket: secured, verifiedUntilMs };
  }

  return {
    connect: async (watcher) => {
      const raw = await dial(watcher);
      if (proxy !== undefined) await openTunnel(raw, `${urlHost(host)}:${port}`, proxy);
      const connected = await secure(raw, watcher);
      watcher.stage("connected");
      return connected;
    },
    certificate: () => presented,
  };
}
