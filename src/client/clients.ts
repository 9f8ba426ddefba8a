import type { LookupFunction } from "node:net";
import type { ApplianceConfig } from "../config/config.ts";
import { createPasswordReader, type PasswordReader } from "../config/password-file.ts";
import type { Clock } from "../support/clock.ts";
import { phaseFraction } from "../support/phase.ts";
import { createAttention } from "./attention.ts";
import { createApplianceClient, type ApplianceClient } from "./client.ts";
import { createConnector } from "./connect.ts";
import { createConnection } from "./connection.ts";
import { createConnections } from "./connections.ts";
import { createCredentialsReader } from "./credentials.ts";
import { createLookup } from "./lookup.ts";
import { createSecureContexts } from "./tls.ts";

/** An appliance's address and HTTP settings. */
export type Endpoint = Pick<ApplianceConfig, "baseUrl" | "http">;

export type CreateClient = (endpoint: Endpoint) => ApplianceClient;

export interface ClientsOptions {
  /** The program's version, for the User-Agent header. */
  readonly version: string;
  /** Maximum number of concurrent name lookups; each uses one of the threads that files and compression share. */
  readonly maxLookups: number;
  /** Maximum number of concurrent reads of password files; each uses such a thread too. */
  readonly maxPasswordReads: number;
  /** The current maximum of open connections to appliances; default: unlimited. */
  readonly maxConnections?: () => number;
  /** Default: the system's resolver. */
  readonly lookup?: LookupFunction;
  readonly readPassword?: PasswordReader;
}

/**
 * The clients share name lookups, reads of password files, secure contexts and the limits of connections. An appliance
 * cannot affect another one through them.
 */
export function createClients(options: ClientsOptions, clock: Clock): CreateClient {
  const {
    version,
    maxConnections = () => Number.POSITIVE_INFINITY,
    lookup = createLookup(options.maxLookups),
    readPassword = createPasswordReader({ maxReads: options.maxPasswordReads, wallMs: clock.wallMs }),
  } = options;
  const attention = createAttention(clock);
  const createPool = createConnections({ attention, clock, maxOpen: maxConnections });
  const headers = { accept: "application/json", "user-agent": `appliance-exporter/${version}` };
  const secureContextOf = createSecureContexts();
  return ({ baseUrl, http }) => {
    const url = new URL(baseUrl);
    const isTls = url.protocol === "https:";
    const connector = createConnector({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || (isTls ? 443 : 80)),
      proxy: http.proxy,
      tls: isTls ? { config: http.tls, context: secureContextOf(http.tls) } : undefined,
      lookup,
      clock,
      phase: phaseFraction(baseUrl),
    });
    return createApplianceClient({
      attention,
      pool: createPool((callbacks) =>
        createConnection({ ...callbacks, origin: url.origin, connector, wallMs: clock.wallMs }),
      ),
      pathPrefix: url.pathname.replace(/\/+$/, ""),
      readCredentials: createCredentialsReader(http.basicAuth, readPassword, headers),
      certificate: connector.certificate,
    });
  };
}
