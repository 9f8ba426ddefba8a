import type { ApplianceConfig } from "../config/config.ts";
import type { PasswordReader } from "../config/password-file.ts";
import type { Attention } from "./attention.ts";
import type { Clock } from "../support/clock.ts";
import { phaseFraction } from "../support/phase.ts";
import type { PresentedCertificate } from "./outcome.ts";
import { createApplianceClient, type ApplianceClient } from "./client.ts";
import { createConnector } from "./connector.ts";
import { handshakePeriod } from "./handshake-period.ts";
import { createLane } from "./lane.ts";
import { createLanes, type LanesDeps } from "./lanes.ts";
import type { Lookup } from "./lookup.ts";
import type { Permits } from "./permits.ts";
import type { SecureContexts } from "./tls-context.ts";

/** Where an appliance is, how it is reached, and with which others it is polled at the same moment. */
export type Endpoint = Pick<ApplianceConfig, "baseUrl" | "http"> & Partial<Pick<ApplianceConfig, "cluster">>;

/** Makes the client of an appliance. */
export type ClientFactory = (endpoint: Endpoint) => ApplianceClient;

export interface ClientFactoryDeps {
  readonly clock: Clock;
  readonly attention: Attention;
  readonly permits: Permits;
  readonly lookup: Lookup;
  readonly readPassword: PasswordReader;
  readonly secureContexts: SecureContexts;
  readonly userAgent: string;
}

/** Clients that share look-ups, password files and secure contexts, and nothing that one appliance could spoil for another. */
export function createClientFactory(deps: ClientFactoryDeps): ClientFactory {
  return ({ baseUrl, http, cluster }) => {
    const url = new URL(baseUrl);
    const isTls = url.protocol === "https:";
    let certificate: PresentedCertificate | undefined;
    const phase = phaseFraction(baseUrl);
    // Without TLS there is nothing to verify again.
    const period = () => (isTls ? handshakePeriod(phase, deps.clock.monotonicMs()) : 0);
    const connector = createConnector({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || (isTls ? 443 : 80)),
      proxy: http.proxy,
      tls: isTls ? { config: http.tls, context: deps.secureContexts(http.tls) } : undefined,
      lookup: deps.lookup,
      clock: deps.clock,
      period,
    });
    const create: LanesDeps["create"] = (callbacks) =>
      createLane({
        ...callbacks,
        origin: url.origin,
        connector,
        period,
        onCertificate: (presented) => (certificate = presented),
      });
    return createApplianceClient({
      attention: deps.attention,
      lanes: createLanes({ permits: deps.permits, cluster, create }),
      pathPrefix: url.pathname.replace(/\/+$/, ""),
      basicAuth: http.basicAuth,
      readPassword: deps.readPassword,
      certificate: () => certificate,
      userAgent: deps.userAgent,
      clock: deps.clock,
    });
  };
}
