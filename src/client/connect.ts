import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as startTls, type SecureContext, type TLSSocket } from "node:tls";
import type { ProxyConfig, TlsClientConfig } from "../config/config.ts";
import type { Clock } from "../support/clock.ts";
import { urlHost } from "../support/address.ts";
import { describeCertificate, peerProblem, type PresentedCertificate } from "./certificate.ts";
import { ConnectionError, isLocalError, isLookupError, type Stage } from "./errors.ts";
import { openTunnel } from "./proxy.ts";
import { handshakePeriod } from "./tls.ts";

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
  async function secure(raw: Socket, watcher: AttemptWatcher): Promise<Socket> {
    if (tls === undefined) return raw;
    watcher.stage("tls");
    const period = currentPeriod();
    const before = resumable?.period === period ? resumable : undefined;
    const { secured, shown } = startHandshake(
      raw,
      tls.config.serverName ?? host,
      tls.context,
      before?.session,
    );
    watcher.socket(secured);
    let offered: Buffer | undefined;
    let remember = (session: Buffer): void => void (offered = session);
    secured.on("session", (session) => remember(session));
    // An alert can also come later: TLS 1.3 rejects client certificates after the handshake. Destroying the socket with
    // the error passes the reason to undici.
    secured.once("error", (error) => secured.destroy(error));
    await once(secured, "secureConnect");
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
    remember = (session) => void (resumable = { session, certificate, period });
    if (offered !== undefined) remember(offered);
    return secured;
  }

  return {
    connect: async (watcher) => {
      const raw = await dial(watcher);
      if (proxy !== undefined) await openTunnel(raw, `${urlHost(host)}:${port}`, proxy);
      const socket = await secure(raw, watcher);
      watcher.stage("connected");
      return socket;
    },
    certificate: () => presented,
    period: currentPeriod,
  };
}

/** Starts a handshake that succeeds with an untrusted peer too. `shown`: the certificate of a full handshake. */
function startHandshake(socket: Socket, name: string, secureContext: SecureContext, session?: Buffer) {
  let certificate: X509Certificate | undefined;
  // The runtime's method removes the certificate from the chain, so a second call finds none.
  const shown = (): X509Certificate | undefined => (certificate ??= secured.getPeerX509Certificate());
  const secured: TLSSocket = startTls({
    socket,
    host: name,
    // SNI allows no address (RFC 6066, 3); the certificate is checked against `host` then.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    secureContext,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: false,
    checkServerIdentity: (host) => identityError(shown(), host),
    ...(session === undefined ? {} : { session }),
  });
  // The runtime would convert the whole chain to objects for this check: a tenth of the cost of a connection.
  Object.defineProperty(secured, "getPeerCertificate", { value: () => ({}) });
  return { secured, shown };
}

/** As the runtime's own check: host names by SAN, or by subject if there is none; addresses by SAN only. @see RFC 9525, 6 */
function identityError(certificate: X509Certificate | undefined, host: string): Error | undefined {
  const match = isIP(host) === 0 ? certificate?.checkHost(host) : certificate?.checkIP(host);
  if (match !== undefined) return undefined;
  return Object.assign(new Error(`the certificate is not for ${host}`), {
    code: "ERR_TLS_CERT_ALTNAME_INVALID",
  });
}
