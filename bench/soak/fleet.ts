import { operationKey, type Operation } from "../../src/exporter/api/operation.ts";
import type { Turn } from "./instants.ts";

/** The output of the appliances' process when all of them listen. */
export interface Appliances {
  readonly ports: readonly number[];
  readonly ca: string;
}

/** The differences between the soak's configurations. */
export interface Variant {
  readonly site: string;
  readonly username: string;
  readonly enabled: boolean;
}

export const USERNAMES = ["monitor", "guard"] as const;
export const PASSWORD = "soak";
export const INTERVAL_MS = 5000;
const TIMEOUT_MS = 1500;
const WEBSITE_ID = 1;

const clusterOf = (nth: number): string => `pair-${Math.floor(nth / 2)}`;
const nameOf = (nth: number): string => `a-${nth}`;

/** Returns a configuration with clusters of two, each with one website. */
export function configOf({ ports }: Appliances, { site, username, enabled }: Variant): unknown {
  const timing = { interval: `${INTERVAL_MS}ms`, timeout: `${TIMEOUT_MS}ms` };
  const appliance = (nth: number): unknown => ({
    name: nameOf(nth),
    base_url: `https://127.0.0.1:${ports[nth]}`,
    enabled,
  });
  return {
    polling: { vrrp: timing, websites: timing },
    http_client: { basic_auth: { username, password: PASSWORD }, tls_config: { ca_file: "ca.pem" } },
    clusters: Array.from({ length: ports.length / 2 }, (_, pair) => ({
      name: clusterOf(2 * pair),
      labels: { site },
      websites: [WEBSITE_ID],
      appliances: [appliance(2 * pair), appliance(2 * pair + 1)],
    })),
  };
}

/** Returns every operation of the fleet, with the keys of `pollsOf`. */
export function turnsOf({ ports }: Appliances): readonly Turn[] {
  const website: Operation = { kind: "website_test", websiteId: WEBSITE_ID };
  return ports.flatMap((_, nth) => [
    { key: `${nameOf(nth)} vrrp`, phaseKey: clusterOf(nth), intervalMs: INTERVAL_MS },
    {
      key: `${nameOf(nth)} website_test`,
      phaseKey: `${clusterOf(nth)}/${operationKey(website)}`,
      intervalMs: INTERVAL_MS,
    },
  ]);
}
