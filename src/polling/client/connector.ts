import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import type { TlsClientConfig } from "../../config/config.ts";
import type { PresentedCertificate } from "../observation.ts";
import { ConnectionError } from "./connection-error.ts";
import type { Lookup } from "./lookup.ts";
import { describeCertificate, peerProblem } from "./peer-verification.ts";
import { openTunnel, type Proxy } from "./proxy.ts";

/** How long one address may take before the next one of the same name is tried beside it; the runtime's 250 ms give up too soon. */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1000;

/** How far an attempt has come; what a deadline that strikes is called depends on it. */
export type Stage = "lookup" | "connect" | "proxy" | "tls" | "connected";

/** Watches one attempt, and may end it at any stage by destroying the sockets it is told of. */
export interface AttemptWatcher {
  stage(stage: Stage): void;
  /** Every socket of the attempt, from the moment it exists. */
  socket(socket: Socket): void;
  certificate(certificate: PresentedCertificate): void;
}

/** Connects once; calls back once, unless the watcher destroys the sockets first. */
export type Connector = (watcher: AttemptWatcher, callback: ConnectCallback) => void;
export type ConnectCallback = (error: Error | null, socket: Socket | null) => void;

export interface ConnectorOptions {
  readonly host: string;
  readonly port: number;
  readonly proxy: Proxy | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: { readonly config: TlsClientConfig; readonly context: SecureContext } | undefined;
  readonly lookup: Lookup;
}

/**
 * The way to one appliance: name look-up, TCP, tunnel, TLS, each told to the watcher. It remembers the TLS session of
 * this appliance, and of this appliance alone, so that a new connection resumes it.
 *
 * Errors reach the callback: a ConnectionError with its reason, or the runtime's own with its code.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { host, port, proxy, tls } = options;
  let session: Buffer | undefined;

  return (watcher, callback) => {
    const socket = dial(proxy ?? { host, port }, options.lookup, watcher);
    const fail = (error: Error): void => callback(proxied(proxy, error), null);
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.off("error", fail);
      if (proxy === undefined) secure(socket);
      else tunnel(socket, proxy);
    });

    function tunnel(raw: Socket, via: Proxy): void {
      watcher.stage("proxy");
      const target = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
      openTunnel(raw, target, via, (error) => (error === undefined ? secure(raw) : abandon(raw, error)));
    }
    function secure(raw: Socket): void {
      if (tls === undefined) {
        watcher.stage("connected");
        callback(null, raw);
        return;
      }
      watcher.stage("tls");
      const secured = handshake(raw, host, tls, session);
      watcher.socket(secured);
      secured.on("session", (fresh) => (session = fresh));
      secured.once("error", callback);
      secured.once("secureConnect", () => {
        secured.off("error", callback);
        const peer = secured.getPeerX509Certificate();
        const certificate = peer === undefined ? undefined : describeCertificate(peer);
        if (certificate !== undefined) watcher.certificate(certificate);
        const problem = peerProblem(secured, certificate, tls.config);
        if (problem !== undefined) {
          session = undefined;
          abandon(secured, new ConnectionError("tls", problem));
          return;
        }
        watcher.stage("connected");
        callback(null, secured);
      });
    }
    function abandon(broken: Socket, error: Error): void {
      broken.on("error", () => {});
      broken.destroy();
      callback(error, null);
    }
  };
}

function dial(to: { host: string; port: number }, lookup: Lookup, watcher: AttemptWatcher): Socket {
  watcher.stage(isIP(to.host) === 0 ? "lookup" : "connect");
  const socket = connectTcp({
    host: to.host,
    port: to.port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
    lookup: (hostname, lookupOptions, callback) =>
      lookup(hostname, lookupOptions, (error, address, family) => {
        if (error === null) watcher.stage("connect");
        callback(error, address, family);
      }),
  });
  watcher.socket(socket);
  return socket;
}

function handshake(
  socket: Socket,
  host: string,
  { config, context }: { config: TlsClientConfig; context: SecureContext },
  session: Buffer | undefined,
): TLSSocket {
  const name = config.serverName ?? host;
  return connectTls({
    socket,
    host: name,
    // An address is no name for SNI (RFC 6066, 3); the certificate is checked against `host` then.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    secureContext: context,
    ALPNProtocols: ["http/1.1"],
    // The verdict is ours, after the certificate has been looked at: its end of validity is told even if it is refused.
    rejectUnauthorized: false,
    ...(session === undefined ? {} : { session }),
  });
}

function proxied(proxy: Proxy | undefined, error: NodeJS.ErrnoException): Error {
  const isLookup = error.syscall === "getaddrinfo";
  if (proxy === undefined || isLookup) return error;
  return new ConnectionError("proxy", `the proxy cannot be reached: ${error.code ?? error.message}`, error);
}
