import type { ApplianceConfig } from "../../config/config.ts";
import type { PasswordReader } from "../../config/password-file.ts";
import type { Clock } from "../clock.ts";
import type { PresentedCertificate } from "../observation.ts";
import { createApplianceClient, type ApplianceClient } from "./client.ts";
import { createConnector } from "./connector.ts";
import { createLane } from "./lane.ts";
import { createLanes } from "./lanes.ts";
import type { Lookup } from "./lookup.ts";
import type { SecureContexts } from "./tls-context.ts";

/** Where an appliance is, and how it is reached. */
export type Endpoint = Pick<ApplianceConfig, "baseUrl" | "http">;

/** Makes the client of an appliance. */
export type ClientFactory = (endpoint: Endpoint) => ApplianceClient;

export interface ClientFactoryDeps {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly readPassword: PasswordReader;
  readonly secureContexts: SecureContexts;
  readonly userAgent: string;
}

/** Clients that share look-ups, password files and secure contexts, and nothing that one appliance could spoil for another. */
export function createClientFactory(deps: ClientFactoryDeps): ClientFactory {
  return ({ baseUrl, http }) => {
    const url = new URL(baseUrl);
    const isTls = url.protocol === "https:";
    let certificate: PresentedCertificate | undefined;
    const connector = createConnector({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || (isTls ? 443 : 80)),
      proxy: http.proxy,
      tls: isTls ? { config: http.tls, context: deps.secureContexts(http.tls) } : undefined,
      lookup: deps.lookup,
      clock: deps.clock,
    });
    const createLaneHere = () =>
      createLane({
        origin: url.origin,
        connector,
        onCertificate: (presented) => (certificate = presented),
      });
    return createApplianceClient({
      lanes: createLanes(createLaneHere),
      pathPrefix: url.pathname.replace(/\/+$/, ""),
      basicAuth: http.basicAuth,
      readPassword: deps.readPassword,
      certificate: () => certificate,
      userAgent: deps.userAgent,
      clock: deps.clock,
    });
  };
}
