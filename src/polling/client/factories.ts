import { createPasswordReader } from "../../config/password-file.ts";
import type { Clock } from "../clock.ts";
import { createClientFactory, type ClientFactory } from "./factory.ts";
import { createLookup } from "./lookup.ts";
import { createSecureContexts } from "./tls-context.ts";

export interface ClientFactoriesOptions {
  /** Of this program; it stands in the User-Agent. */
  readonly version: string;
  /** Name look-ups in flight at once; each holds one of the threads that files and compression need too. */
  readonly maxLookups: number;
  /** Password files read at once; likewise. */
  readonly maxPasswordReads: number;
}

/**
 * A factory for each load of the configuration: its clients share their secure contexts; those of all loads the look-ups
 * and password files.
 */
export function createClientFactories(
  { version, maxLookups, maxPasswordReads }: ClientFactoriesOptions,
  clock: Clock,
): () => ClientFactory {
  const shared = {
    clock,
    lookup: createLookup(maxLookups),
    readPassword: createPasswordReader({ maxReads: maxPasswordReads, wallMs: clock.wallMs }),
    userAgent: `appliance-exporter/${version}`,
  };
  return () => createClientFactory({ ...shared, secureContexts: createSecureContexts() });
}
