import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { ProxyConfig, TlsClientConfig } from "../config/config.ts";
import type { Clock } from "../support/clock.ts";
import { describeCertificate, peerProblem, type PresentedCertificate } from "./certificate.ts";
import { ConnectionError, isLocalError, isLookupError, type Stage } from "./errors.ts";
import { openTunnel } from "./proxy.ts";
import { handshake, handshakePeriod } from "./tls.ts";

/** Observes one attempt to connect; can end it at any stage by destroying its sockets. */
export interface AttemptWatcher {
  stage(stage: Stage): void;
  /** Called for every socket of the attempt as soon as it exists. */
  socket(socket: Socket): void;
}

/** Makes the connections to one appliance. */
export interface Connector {
  /**
   * Connects once.
   *
   * @throws ConnectionError with its reason, or an error of Node.js with its code
   */
  connect(watcher: AttemptWatcher): Promise<Socket>;
  /** The certificate of the latest full handshake, trusted or not. */
  certificate(): PresentedCertificate | undefined;
  /** The number of the current period, in which a full handshake is valid. @see handshakePeriod */
  period(): number;
}

export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  readonly proxy: ProxyConfig | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: { readonly config: TlsClientConfig; readonly context: SecureContext } | undefined;
  readonly lookup: LookupFunction;
  readonly clock: Clock;
  /** Shifts the periods, from 0 up to 1. */
  readonly phase: number;
}

/**
 * Connects to one appliance: name lookup, TCP, tunnel, TLS. Reports each stage to the watcher. Keeps the TLS session of
 * this appliance only, so that a new connection resumes it.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { host, port, proxy, tls, lookup, clock, phase } = options;
  let resumable: Resumable | undefined;
  let presented: PresentedCertificate | undefined;

  /** Without TLS there is nothing to verify again. */
  function currentPeriod(): number {
    return tls === undefined ? 0 : handshakePeriod(phase, clock.monotonicMs());
  }

  async function secure(raw: Socket, watcher: AttemptWatcher): Promise<Socket> {
    if (tls === undefined) return raw;
    watcher.stage("tls");
    const period = currentPeriod();
    const before = resumable?.period === period ? resumable : undefined;
    let offered: Buffer | undefined;
    let keep = (session: Buffer): void => void (offered = session);
    const name = tls.config.serverName ?? host;
    const { socket: secured, certificate: shown } = await handshake(
      raw,
      { name, context: tls.context, session: before?.session, remember: (session) => keep(session) },
      (socket) => watcher.socket(socket),
    );
    // The peer presents no certificate on a resumed session; the one of the full handshake applies.
    const certificate = secured.isSessionReused() ? before?.certificate : describeCertificate(shown());
    presented = certificate ?? presented;
    const problem = peerProblem(secured, certificate, tls.config);
    if (problem !== undefined) {
      resumable = undefined;
      secured.destroy();
      throw new ConnectionError("tls", problem);
    }
    // Only now: the session of an untrusted peer must not be resumed.
    keep = (session) => void (resumable = { session, certificate, period });
    if (offered !== undefined) keep(offered);
    return secured;
  }

  async function connectOnce(watcher: AttemptWatcher): Promise<Socket> {
    const raw = await dial(proxy ?? { host, port }, { lookup, isProxy: proxy !== undefined }, watcher);
    if (proxy !== undefined) {
      await openTunnel(raw, isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`, proxy);
    }
    const socket = await secure(raw, watcher);
    watcher.stage("connected");
    return socket;
  }

  return { connect: connectOnce, certificate: () => presented, period: currentPeriod };
}

/** A TLS session with a trusted peer, and the certificate and period of its full handshake. */
interface Resumable {
  readonly session: Buffer;
  readonly certificate: PresentedCertificate | undefined;
  readonly period: number;
}

/**
 * How long one address may take before the next address of the same name is tried in parallel. The default of Node.js,
 * 250 ms, is too short for slow networks.
 */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1000;

interface DialOptions {
  readonly lookup: LookupFunction;
  /** Whether the target is a proxy; its failures have the reason `proxy`. */
  readonly isProxy: boolean;
}

/**
 * Opens a TCP connection, after a name lookup if the host is not an address.
 *
 * @throws an error of Node.js, or a ConnectionError if a proxy is unreachable
 */
function dial(
  { host, port }: { readonly host: string; readonly port: number },
  { lookup, isProxy }: DialOptions,
  watcher: AttemptWatcher,
): Promise<Socket> {
  const connecting = isProxy ? "proxy" : "connect";
  watcher.stage(isIP(host) === 0 ? "lookup" : connecting);
  const socket = connect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
    lookup: (hostname, options, callback) =>
      lookup(hostname, options, (error, address, family) => {
        if (error === null) watcher.stage(connecting);
        callback(error, address, family);
      }),
  });
  watcher.socket(socket);
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error: NodeJS.ErrnoException) => {
      const isProxyError = isProxy && !isLookupError(error) && !isLocalError(error);
      reject(isProxyError ? new ConnectionError("proxy", "the proxy is unreachable", error) : error);
    });
    socket.once("close", () => reject(new ConnectionError("connect", "the connection attempt was aborted")));
  });
}
