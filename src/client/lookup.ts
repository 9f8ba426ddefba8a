import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import pLimit from "p-limit";

/**
 * Looks up all addresses of a name. Uses at most `maxInFlight` of the threads that it shares with file reads and compression,
 * and one per name: an unresponsive resolver, which cannot be canceled, must not block the rest of the process.
 */
export function createLookup(
  maxInFlight: number,
  resolveAll = (hostname: string): Promise<readonly LookupAddress[]> => systemLookup(hostname, { all: true }),
): LookupFunction {
  const limit = pLimit(maxInFlight);
  const inFlight = new Map<string, Promise<readonly LookupAddress[]>>();
  return (hostname, _options, callback) => {
    const shared =
      inFlight.get(hostname) ?? limit(() => resolveAll(hostname)).finally(() => inFlight.delete(hostname));
    inFlight.set(hostname, shared);
    shared.then(
      (addresses) => callback(null, [...addresses]),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
