import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import pLimit from "p-limit";
import { descriptorShortage } from "../support/open-files.ts";

/**
 * Looks up all addresses of a name. Uses at most `maxInFlight` of the threads that it shares with file reads and compression,
 * and one per name: an unresponsive resolver, which cannot be canceled, must not block the rest of the process.
 */
export function createLookup(maxInFlight: number, resolveAll = resolveBySystem): LookupFunction {
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

/**
 * Other threads open and close files meanwhile: if a lookup failed and fewer descriptors than this are free afterwards,
 * the lookup may have had none.
 */
const MIN_FREE_DESCRIPTORS = 8;

/**
 * Calls the C library. Without a free descriptor it can return ENOTFOUND for any name, and can fail to load a module for
 * good. So it is not called then, and its failures count only if descriptors are free.
 */
async function resolveBySystem(hostname: string): Promise<readonly LookupAddress[]> {
  const shortage = descriptorShortage(1);
  if (shortage !== undefined) throw shortage;
  try {
    return await systemLookup(hostname, { all: true });
  } catch (error) {
    throw descriptorShortage(MIN_FREE_DESCRIPTORS) ?? error;
  }
}
