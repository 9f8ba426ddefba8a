import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { TlsOptions } from "node:tls";
import { expect, onTestFinished } from "vitest";
import type {
  ApplianceConfig,
  HttpClientConfig,
  ProxyConfig,
  TlsClientConfig,
} from "../../../src/exporter/config/config.ts";
import type { Lookup } from "../../../src/exporter/client/lookup.ts";
import { Secret } from "../../../src/support/secret.ts";
import { createClients, type ApplianceClient, type Body } from "../../../src/exporter/client/client.ts";
import { systemClock, type Clock } from "../../../src/support/clock.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { startFaultServer, type Behaviour, type FaultServer } from "../../support/fault-server.ts";
import { applianceOf } from "../../support/observations.ts";

export const AUTHORITY = await createAuthority();
export const LEAF = await AUTHORITY.issue();
const PLAIN: HttpClientConfig = applianceOf({ name: "waf" }).http;
/** Longer than any test takes. */
export const LONG_MS = 600_000;

/** TLS settings that trust the test's authority. */
export function trusting(given: Partial<TlsClientConfig> = {}): TlsClientConfig {
  return { ...PLAIN.tls, ca: AUTHORITY.cert, ...given };
}

/** A proxy on the loopback interface; `credentials`: `user:password`. */
export function proxyAt(port: number, credentials?: string): ProxyConfig {
  return {
    host: "127.0.0.1",
    port,
    credentials: credentials === undefined ? undefined : new Secret(credentials),
  };
}

export interface ClientOptions {
  readonly http?: Partial<HttpClientConfig>;
  readonly lookup?: Lookup;
  readonly clock?: Clock;
  /** Connections that may be open at once; default: any number. */
  readonly maxOpen?: number;
}

/** A client of the appliance at this address, closed after the test. */
export function clientOf(
  baseUrl: string,
  { http = {}, lookup, clock = systemClock, maxOpen = Number.POSITIVE_INFINITY }: ClientOptions = {},
): ApplianceClient {
  const options = {
    version: "test",
    maxLookups: 2,
    maxPasswordReads: 2,
    maxConnections: () => maxOpen,
    ...(lookup === undefined ? {} : { lookup }),
  };
  const create = createClients(options, clock);
  const appliance: ApplianceConfig = applianceOf({
    name: "waf",
    baseUrl,
    http: { ...PLAIN, tls: trusting(), ...http },
  });
  const client = create(appliance);
  onTestFinished(() => client.close());
  return client;
}

/** An HTTPS server, stopped after the test. */
export async function serve(behaviour: Behaviour, tls: TlsOptions = LEAF): Promise<FaultServer> {
  return stopped(await startFaultServer(behaviour, tls));
}

/** A server of plain TCP, stopped after the test. */
export async function servePlain(behaviour: Behaviour): Promise<FaultServer> {
  return stopped(await startFaultServer(behaviour));
}

function stopped(server: FaultServer): FaultServer {
  onTestFinished(() => server.stop());
  return server;
}

/** A whole answer with status 200. */
export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/** Answers every request like this. */
export function answering(text: string): Behaviour {
  return ({ socket, onRequest }) => onRequest(() => void socket.write(text));
}

/** The body, or the reason. */
export function shortly(outcome: Outcome<Body>): string {
  return outcome.ok ? Buffer.from(outcome.value.bytes).toString() : outcome.failure.reason;
}

export function inlinePassword(password: string): HttpClientConfig["basicAuth"] {
  return { username: "monitor", password: { kind: "inline", secret: new Secret(password) } };
}

/** @see include/net/tcp_states.h */
const ESTABLISHED = "01";

/** When the kernel probes the idle peer of the only connection to this port, from now on. */
export async function probedAfterSeconds(port: number): Promise<number> {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  let ticks = "";
  // Until then another timer may run, for data without an acknowledgment.
  await eventually(() => {
    const rows = readFileSync("/proc/net/tcp", "utf8").split("\n");
    const row = rows.find((each) => {
      const [, , to = "", state] = each.trim().split(/\s+/);
      // An earlier connection to the port may be closed, and wait.
      return to.endsWith(remote) && state === ESTABLISHED;
    });
    ticks = / 02:([0-9A-F]{8}) /.exec(row ?? "")?.[1] ?? "";
    expect(ticks).not.toBe("");
  });
  return Number.parseInt(ticks, 16) / 100;
}

/** Whether something listens at this port of the loopback interface. */
export function connectsTo(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
