import { createPasswordReader } from "../config/password-file.ts";
import { createAttention } from "./attention.ts";
import type { Clock } from "../support/clock.ts";
import { createClientFactory, type ClientFactory } from "./factory.ts";
import { createLookup } from "./lookup.ts";
import { createPermits } from "./permits.ts";
import { createSecureContexts } from "./tls-context.ts";

export interface ClientFactoriesOptions {
  /** Of this program; it stands in the User-Agent. */
  readonly version: string;
  /** Name look-ups in flight at once; each holds one of the threads that files and compression need too. */
  readonly maxLookups: number;
  /** Password files read at once; likewise. */
  readonly maxPasswordReads: number;
  /** Connections to appliances that may be open at once, now; default: any number. */
  readonly maxConnections?: () => number;
}

/**
 * A factory for each load of the configuration: its clients share their secure contexts; those of all loads the look-ups,
 * password files and permits for connections.
 */
export function createClientFactories(options: ClientFactoriesOptions, clock: Clock): () => ClientFactory {
  const { version, maxLookups, maxPasswordReads } = options;
  const { maxConnections = () => Number.POSITIVE_INFINITY } = options;
  const attention = createAttention(clock);
  const shared = {
    clock,
    attention,
    permits: createPermits({ attention, maxOpen: maxConnections }),
    lookup: createLookup(maxLookups),
    readPassword: createPasswordReader({ maxReads: maxPasswordReads, wallMs: clock.wallMs }),
    userAgent: `appliance-exporter/${version}`,
  };
  return () => createClientFactory({ ...shared, secureContexts: createSecureContexts() });
}
