import type { ApplianceConfig } from "../config/config.ts";
import { createPasswordReader, type PasswordReader } from "../config/password-file.ts";
import type { Clock } from "../support/clock.ts";
import { phaseFraction } from "../support/phase.ts";
import { createAttention } from "./attention.ts";
import type { PresentedCertificate } from "./certificate.ts";
import { createApplianceClient, type ApplianceClient } from "./client.ts";
import { createConnector } from "./connect.ts";
import { createConnectionPool, type ConnectionPoolDeps } from "./connection-pool.ts";
import { createConnection } from "./connection.ts";
import { createLookup, type Lookup } from "./lookup.ts";
import { createPermits } from "./permits.ts";
import { createSecureContexts, handshakePeriod } from "./tls.ts";

/** Where an appliance is, how it is reached, and with which others it is polled at the same moment. */
export type Endpoint = Pick<ApplianceConfig, "baseUrl" | "http"> & Partial<Pick<ApplianceConfig, "cluster">>;

/** Makes the client of an appliance. */
export type CreateClient = (endpoint: Endpoint) => ApplianceClient;

export interface ClientsOptions {
  /** Of this program; it stands in the User-Agent. */
  readonly version: string;
  /** Name look-ups in flight at once; each holds one of the threads that files and compression need too. */
  readonly maxLookups: number;
  /** Password files read at once; likewise. */
  readonly maxPasswordReads: number;
  /** Connections to appliances that may be open at once, now; default: any number. */
  readonly maxConnections?: () => number;
  /** Default: those of the system. */
  readonly lookup?: Lookup;
  readonly readPassword?: PasswordReader;
}

/**
 * Clients that share name look-ups, reads of password files, secure contexts and permits for connections, and nothing that
 * one appliance could spoil for another.
 */
export function createClients(options: ClientsOptions, clock: Clock): CreateClient {
  const {
    version,
    maxConnections = () => Number.POSITIVE_INFINITY,
    lookup = createLookup(options.maxLookups),
    readPassword = createPasswordReader({ maxReads: options.maxPasswordReads, wallMs: clock.wallMs }),
  } = options;
  const attention = createAttention(clock);
  const permits = createPermits({ attention, maxOpen: maxConnections });
  const secureContextOf = createSecureContexts();
  return ({ baseUrl, http, cluster }) => {
    const url = new URL(baseUrl);
    const isTls = url.protocol === "https:";
    let certificate: PresentedCertificate | undefined;
    const phase = phaseFraction(baseUrl);
    // Without TLS there is nothing to verify again.
    const period = () => (isTls ? handshakePeriod(phase, clock.monotonicMs()) : 0);
    const connector = createConnector({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || (isTls ? 443 : 80)),
      proxy: http.proxy,
      tls: isTls ? { config: http.tls, context: secureContextOf(http.tls) } : undefined,
      lookup,
      clock,
      period,
    });
    const create: ConnectionPoolDeps["create"] = (callbacks) =>
      createConnection({
        ...callbacks,
        origin: url.origin,
        connector,
        period,
        onCertificate: (presented) => (certificate = presented),
      });
    return createApplianceClient({
      attention,
      pool: createConnectionPool({ permits, cluster, create }),
      pathPrefix: url.pathname.replace(/\/+$/, ""),
      basicAuth: http.basicAuth,
      readPassword,
      certificate: () => certificate,
      userAgent: `appliance-exporter/${version}`,
      clock,
    });
  };
}
