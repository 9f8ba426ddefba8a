import { once } from "node:events";
import { request } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { connect as startTls } from "node:tls";
import type { ProxyConfig, TlsClientConfig } from "../config/config.ts";
import type { Clock } from "../../support/clock.ts";
import { plainAddress, urlHost } from "../../support/address.ts";
import { presentedChain } from "./chain.ts";
import {
  describeCertificate,
  needsAuthority,
  peerProblem,
  type PresentedCertificate,
  type TlsContext,
} from "./tls.ts";
import { basicAuthorization } from "./credentials.ts";
import type { Lookup } from "./lookup.ts";
import { ConnectionError, type Stage } from "./failure.ts";

/** Observes one attempt to connect. The watcher gets each socket as soon as it exists, and ends the attempt by destroying the socket. */
export interface AttemptWatcher {
  stage(stage: Stage): void;
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
  /** Returns the certificate of the latest full handshake, trusted or not. */
  certificate(): PresentedCertificate | undefined;
}

export interface Connected {
  readonly socket: Socket;
  /** The monotonic instant at which the peer must be verified again; without TLS, never. */
  readonly verifiedUntilMs: number;
  /** The address of the appliance, without a zone; `undefined` if a proxy has looked up its name. */
  readonly peerAddress: string | undefined;
}

export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  /** The path of a Unix socket, in place of the host and the port. */
  readonly socketPath?: string | undefined;
  readonly proxy: ProxyConfig | undefined;
  /** The settings of TLS; `undefined` means plain HTTP. */
  readonly tls: { readonly config: TlsClientConfig; readonly context: TlsContext } | undefined;
  readonly lookup: Lookup;
  readonly clock: Clock;
}

/** A TLS session that began with a full handshake with a trusted peer. */
interface Session extends Pick<Connected, "verifiedUntilMs"> {
  readonly ticket: Buffer;
  readonly certificate: PresentedCertificate | undefined;
}

/** The longest time until a new handshake. A reported certificate is at most an hour old, since polls are up to five minutes apart. */
const MAX_VERIFIED_MS = 55 * 60_000;
const PROXY_HEAD_LIMIT_BYTES = 16 * 1024;
/** Some firewalls forget connections that are idle for a minute. Systems probe after two hours by default. */
const KEEPALIVE_MS = 30_000;
/** After this time, the next address of the name is tried too. Node.js takes 250 ms, which is too short for slow networks. */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1000;

/**
 * Connects to one appliance: name lookup, TCP, tunnel, TLS; reports each stage to the watcher. Keeps the TLS session of
 * this appliance only, so that a new connection resumes it.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { host, port, socketPath, proxy, tls, lookup, clock } = options;
  let resumable: Session | undefined;
  let presented: PresentedCertificate | undefined;

  async function dial(watcher: AttemptWatcher): Promise<Socket> {
    if (socketPath !== undefined) {
      watcher.stage("connect");
      const local = connect(socketPath);
      watcher.socket(local);
      await once(local, "connect");
      return local;
    }
    const target = proxy ?? { host, port };
    const connecting = proxy === undefined ? "connect" : "proxy";
    watcher.stage(isIP(target.host) === 0 ? "lookup" : connecting);
    const socket = connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEPALIVE_MS,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
      lookup: (hostname, _options, callback) => {
        lookup(hostname, () => !socket.destroyed).then(
          (addresses) => {
            watcher.stage(connecting);
            return callback(null, [...addresses]);
          },
          (error: NodeJS.ErrnoException) => callback(error, []),
        );
      },
    });
    watcher.socket(socket);
    await once(socket, "connect");
    return socket;
  }

  async function secure(raw: Socket, watcher: AttemptWatcher): Promise<Omit<Connected, "peerAddress">> {
    if (tls === undefined) return { socket: raw, verifiedUntilMs: Number.POSITIVE_INFINITY };
    const { config, context } = tls;
    watcher.stage("tls");
    const nowMs = clock.monotonicMs();
    const before = resumable !== undefined && nowMs < resumable.verifiedUntilMs ? resumable : undefined;
    const name = config.serverName ?? host;
    const secured = startTls({
      socket: raw,
      host: name,
      // SNI allows no address (RFC 6066, 3); the certificate is checked against `host` then.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      secureContext: context.secure,
      ALPNProtocols: ["http/1.1"],
      // An untrusted peer's certificate is reported too.
      rejectUnauthorized: false,
      ...(before === undefined ? {} : { session: before.ticket }),
    });
    // Node.js also collects the signers before it compares names, and never ends if two authorities in ca_file sign each other.
    const ownCertificate = secured.getPeerCertificate.bind(secured);
    Object.assign(secured, { getPeerCertificate: () => ownCertificate(false) });
    watcher.socket(secured);
    let offered: Buffer | undefined;
    let remember = (ticket: Buffer): void => void (offered = ticket);
    secured.on("session", (ticket) => remember(ticket));
    // An alert can also come later: TLS 1.3 rejects client certificates after the handshake. Destroying the socket with
    // the error passes the reason to undici.
    secured.once("error", (error) => secured.destroy(error));
    await once(secured, "secureConnect");
    // The peer presents no certificate on a resumed session; the one of the full handshake applies.
    const resumed = secured.isSessionReused() ? before : undefined;
    const leaf = resumed === undefined ? secured.getPeerX509Certificate() : undefined;
    const chain = leaf && needsAuthority(config) ? presentedChain(leaf, context.authorities()) : undefined;
    const handshake = resumed ?? {
      certificate: describeCertificate(leaf, chain?.endingSigner),
      // The time is random, so that a fleet does not renew all its handshakes at once.
      verifiedUntilMs: nowMs + MAX_VERIFIED_MS * (1 - Math.random() / 2),
    };
    presented = handshake.certificate ?? presented;
    const problem = peerProblem(secured, handshake.certificate, config, chain?.lacksIssuer, clock.wallMs());
    if (problem !== undefined) {
      resumable = undefined;
      secured.destroy();
      throw new ConnectionError("tls", problem.message, problem.code);
    }
    // The ticket is kept only now: the session of an untrusted peer must not be resumed.
    remember = (ticket) => void (resumable = { ticket, ...handshake });
    if (offered !== undefined) remember(offered);
    return { socket: secured, verifiedUntilMs: handshake.verifiedUntilMs };
  }

  return {
    connect: async (watcher) => {
      const raw = await dial(watcher);
      if (proxy !== undefined) await openTunnel(raw, `${urlHost(host)}:${port}`, proxy);
      const peer = proxy === undefined ? raw.remoteAddress : isIP(host) === 0 ? undefined : host;
      const connected = await secure(raw, watcher);
      watcher.stage("connected");
      return { ...connected, peerAddress: peer && plainAddress(peer) };
    },
    certificate: () => presented,
  };
}

/**
 * Opens a tunnel to `target` (`host:port`) through the proxy on a connected socket. Limits the size of the answer; the
 * caller limits the time by destroying the socket.
 *
 * @throws ConnectionError of reason `proxy`, or an error of Node.js with its code
 * @see RFC 9110, 9.3.6
 */
function openTunnel(socket: Socket, target: string, { credentials }: ProxyConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    const tunnel = request({
      method: "CONNECT",
      path: target,
      headers: {
        Host: target,
        ...(credentials && { "Proxy-Authorization": basicAuthorization(credentials) }),
      },
      createConnection: () => socket,
      maxHeaderSize: PROXY_HEAD_LIMIT_BYTES,
    });
    tunnel.removeHeader("Connection");
    tunnel.once("connect", ({ statusCode = 0 }, _socket, rest) => {
      if (rest.length > 0) socket.unshift(rest);
      if (statusCode >= 200 && statusCode < 300) resolve();
      else {
        const code = statusCode === 407 ? "proxy_auth" : undefined;
        reject(new ConnectionError("proxy", `the proxy answered CONNECT with status ${statusCode}`, code));
      }
    });
    tunnel.once("error", reject);
    tunnel.end();
  });
}
