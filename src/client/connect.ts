import { connect, isIP, type Socket } from "node:net";
import type { SecureContext, TLSSocket } from "node:tls";
import type { ProxyConfig, TlsClientConfig } from "../config/config.ts";
import type { Clock } from "../support/clock.ts";
import { describeCertificate, peerProblem, type PresentedCertificate } from "./certificate.ts";
import { ConnectionError, isLocalError, isLookupError, type Stage } from "./errors.ts";
import type { Lookup } from "./lookup.ts";
import { openTunnel } from "./proxy.ts";
import { handshake } from "./tls.ts";

/** Watches one attempt, and may end it at any stage by destroying the sockets it is told of. */
export interface AttemptWatcher {
  stage(stage: Stage): void;
  /** Every socket of the attempt, from the moment it exists. */
  socket(socket: Socket): void;
  /** What the peer presented in a full handshake, trusted or not. */
  certificate(certificate: PresentedCertificate): void;
}

/**
 * Connects once.
 *
 * @throws ConnectionError with its reason, or the runtime's error with its code
 */
export type Connector = (watcher: AttemptWatcher) => Promise<Socket>;

export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  readonly proxy: ProxyConfig | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: { readonly config: TlsClientConfig; readonly context: SecureContext } | undefined;
  readonly lookup: Lookup;
  readonly clock: Clock;
  /** The number of the present period; a session is resumed in the period of its full handshake alone. */
  readonly period: () => number;
}

/**
 * The way to one appliance: name look-up, TCP, tunnel, TLS, each told to the watcher. It remembers the TLS session of
 * this appliance, and of this appliance alone, so that a new connection resumes it.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { host, port, proxy, tls, lookup, clock } = options;
  let resumable: Resumable | undefined;

  async function secure(raw: Socket, watcher: AttemptWatcher): Promise<Socket> {
    if (tls === undefined) return raw;
    watcher.stage("tls");
    const period = options.period();
    const before = resumable?.period === period ? resumable : undefined;
    let offered: Buffer | undefined;
    let keep = (session: Buffer): void => void (offered = session);
    const name = tls.config.serverName ?? host;
    const secured = await handshake(
      raw,
      { name, context: tls.context, session: before?.session, remember: (session) => keep(session) },
      (socket) => watcher.socket(socket),
    );
    // On a resumed session the peer presents nothing; it is whoever presented itself when the session began.
    const isResumed = secured.isSessionReused();
    const certificate = isResumed ? before?.certificate : presentedBy(secured);
    if (certificate !== undefined && !isResumed) watcher.certificate(certificate);
    const problem = peerProblem(secured, certificate, tls.config, clock.wallMs());
    if (problem !== undefined) {
      resumable = undefined;
      secured.destroy();
      throw new ConnectionError("tls", problem);
    }
    // Only now: a session of a peer that is not trusted is not to be resumed.
    keep = (session) => void (resumable = { session, certificate, period });
    if (offered !== undefined) keep(offered);
    return secured;
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

/** A TLS session with a trusted peer; certificate and period of the full handshake that it began with. */
interface Resumable {
  readonly session: Buffer;
  readonly certificate: PresentedCertificate | undefined;
  readonly period: number;
}

function presentedBy(socket: TLSSocket): PresentedCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? undefined : describeCertificate(certificate);
}

/**
 * How long one address may take before the next one of the same name is tried beside it; the runtime's own 250 ms give
 * up on slow ways too soon.
 */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1000;

interface DialOptions {
  readonly lookup: Lookup;
  /** Whether it is a proxy that is dialled: its failure has a reason of its own then. */
  readonly isProxy: boolean;
}

/**
 * A TCP connection, after a name look-up where the host is no address.
 *
 * @throws the runtime's error, or for a proxy that is not reached a ConnectionError
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
      const isTheProxy = isProxy && !isLookupError(error) && !isLocalError(error);
      reject(isTheProxy ? new ConnectionError("proxy", "the proxy cannot be reached", error) : error);
    });
    socket.once("close", () => reject(new ConnectionError("connect", "the connection was given up")));
  });
}
