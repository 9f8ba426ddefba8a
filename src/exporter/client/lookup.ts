import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import pLimit from "p-limit";

type Addresses = readonly LookupAddress[];

/** Looks up all addresses of a name. Returns none if nobody wants them any more when it is the turn of this name. */
export type Lookup = (hostname: string, isWanted: () => boolean) => Promise<Addresses>;

/**
 * Creates a lookup that uses at most `maxInFlight` of the threads that lookups share with file reads and compression, and one for each
 * name. An unresponsive resolver, which cannot be canceled, must not block the rest of the process.
 */
export function createLookup(
  maxInFlight: number,
  resolveAll = (hostname: string): Promise<Addresses> => systemLookup(hostname, { all: true }),
): Lookup {
  const limit = pLimit(maxInFlight);
  const pending = new Map<
    string,
    { readonly wanted: (() => boolean)[]; readonly result: Promise<Addresses> }
  >();
  return (hostname, isWanted) => {
    const known = pending.get(hostname);
    if (known !== undefined) {
      known.wanted.push(isWanted);
      return known.result;
    }
    const wanted = [isWanted];
    const result = limit(async () => {
      try {
        return wanted.some((isStillWanted) => isStillWanted()) ? await resolveAll(hostname) : [];
      } finally {
        pending.delete(hostname);
      }
    });
    pending.set(hostname, { wanted, result });
    return result;
  };
}
