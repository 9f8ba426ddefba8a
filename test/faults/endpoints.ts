import { readFileSync } from "node:fs";
import { createAuthority, type Authority } from "../support/certificates.ts";
import {
  closedPort,
  startFaultServer,
  startSynSwallower,
  type Behaviour,
  type FaultServer,
} from "../support/fault-server.ts";
import { healthy } from "./behaviours.ts";

/** Where an appliance of a row is, and what has to be said in the configuration to get there. */
export interface Endpoint {
  readonly appliance: Readonly<Record<string, unknown>>;
  /** The server behind it, where there is one of ours. */
  readonly server: FaultServer | undefined;
  /** Connections to it that exist now, or are being made. */
  openConnections(): number;
  stop(): Promise<void>;
}

/** Opens an endpoint. */
export type OpenEndpoint = (world: World) => Promise<Endpoint>;

/** What the endpoints of a suite have in common. */
export interface World {
  /** Whom the exporter trusts, as `ca.pem` beside its configuration. */
  readonly authority: Authority;
  readonly stranger: Authority;
}

export async function createWorld(): Promise<World> {
  return { authority: await createAuthority("Trusted"), stranger: await createAuthority("Stranger") };
}

/** Plain HTTP. */
export function http(behaviour: Behaviour): OpenEndpoint {
  return async () => {
    const server = await startFaultServer(behaviour);
    return { ...behind(server), appliance: plainAt("127.0.0.1", server.port) };
  };
}

/** HTTPS expected, and a server that does not speak it. */
export function httpsExpected(behaviour: Behaviour): OpenEndpoint {
  return async () => {
    const server = await startFaultServer(behaviour);
    return { ...behind(server), appliance: secureAt(server.port) };
  };
}

interface TlsKind {
  readonly issuedBy?: keyof World;
  readonly hosts?: readonly string[];
  readonly notAfter?: Date;
  readonly hasSubject?: boolean;
  /** Refuses clients without a certificate that it trusts. */
  readonly wantsClientCertificate?: true;
  readonly maxVersion?: "TLSv1.2";
}

/** HTTPS, with a certificate that differs from a good one as told. */
export function https(behaviour: Behaviour, kind: TlsKind = {}): OpenEndpoint {
  return async (world) => {
    const { issuedBy = "authority", wantsClientCertificate, maxVersion, ...leaf } = kind;
    const pair = await world[issuedBy].issue(leaf);
    const clients = { requestCert: true, rejectUnauthorized: true, ca: world.authority.cert };
    const server = await startFaultServer(behaviour, {
      ...pair,
      ...(wantsClientCertificate ? clients : {}),
      ...(maxVersion === undefined ? {} : { maxVersion }),
    });
    return { ...behind(server), appliance: secureAt(server.port) };
  };
}

/** A healthy appliance behind a proxy of this behaviour, or behind one that nobody runs. */
export function behindProxy(behaviour: Behaviour | undefined): OpenEndpoint {
  return async () => {
    const appliance = await startFaultServer(healthy);
    const proxy = behaviour === undefined ? undefined : await startFaultServer(behaviour);
    const proxy_url = `http://127.0.0.1:${proxy?.port ?? (await closedPort())}`;
    return {
      appliance: { ...plainAt("127.0.0.1", appliance.port), http_client: { proxy_url } },
      server: appliance,
      openConnections: () => appliance.openConnections() + (proxy?.openConnections() ?? 0),
      stop: async () => {
        await proxy?.stop();
        await appliance.stop();
      },
    };
  };
}

export const refusing: OpenEndpoint = async () => nobodyAt("127.0.0.1", await closedPort());

/** An address that nothing leads to. */
export function unreachable(host: string): OpenEndpoint {
  return async () => nobodyAt(host, 9);
}

export const swallowingSyns: OpenEndpoint = async () => {
  const { port, stop } = await startSynSwallower();
  return { ...nobodyAt("127.0.0.1", port), openConnections: () => countConnecting(port), stop };
};

function behind(server: FaultServer): Pick<Endpoint, "server" | "openConnections" | "stop"> {
  return { server, openConnections: server.openConnections, stop: server.stop };
}

function nobodyAt(host: string, port: number): Endpoint {
  return {
    appliance: plainAt(host, port),
    server: undefined,
    openConnections: () => 0,
    stop: async () => {},
  };
}

/** Sockets of this machine in the state SYN_SENT towards a port, as the kernel tells it. */
function countConnecting(port: number): number {
  const target = `:${port.toString(16).toUpperCase().padStart(4, "0")} 02 `;
  return readFileSync("/proc/net/tcp", "utf8").split(target).length - 1;
}

function plainAt(host: string, port: number): Endpoint["appliance"] {
  return { base_url: `http://${host}:${port}`, allow_http: true };
}

function secureAt(port: number): Endpoint["appliance"] {
  return { base_url: `https://127.0.0.1:${port}` };
}
