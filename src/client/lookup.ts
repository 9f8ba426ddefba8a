import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import pLimit from "p-limit";
import { isLocalError } from "./errors.ts";

export type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Name look-up in the form that `net.connect` takes. */
export type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void;

/** Looks up every address of a name; cannot be called off. */
export type ResolveAll = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * A look-up that never holds more than `maxInFlight` of the threads it shares with file reads and compression, and
 * none twice for the same name: a resolver that has gone silent must not silence the rest of the process.
 */
export function createLookup(maxInFlight: number, resolveAll: ResolveAll = resolveBySystem): Lookup {
  const limit = pLimit(maxInFlight);
  const inFlight = new Map<string, Promise<readonly LookupAddress[]>>();

  function shared(hostname: string): Promise<readonly LookupAddress[]> {
    const running = inFlight.get(hostname);
    if (running !== undefined) return running;
    const started = limit(() => resolveAll(hostname)).finally(() => inFlight.delete(hostname));
    inFlight.set(hostname, started);
    return started;
  }

  return (hostname, options, callback) => {
    shared(hostname).then(
      (addresses) => answer(addresses, options, callback),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function answer(addresses: readonly LookupAddress[], options: LookupOptions, callback: LookupCallback): void {
  const [first] = addresses;
  if (options.all === true) callback(null, [...addresses]);
  else callback(null, first?.address ?? "", first?.family ?? 4);
}

/**
 * Other threads open and close files meanwhile: where a look-up has failed and fewer descriptors than this are free
 * afterwards, it may have had none.
 */
const LEAST_FREE_DESCRIPTORS = 8;

/**
 * Calls the C library. Without a descriptor it may answer ENOTFOUND for any name, and may never load a module that it
 * could not open; so it is not called then, and its failures count only where descriptors are free.
 */
function resolveBySystem(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    const shortage = descriptorShortage(1);
    if (shortage !== undefined) return reject(shortage);
    return systemLookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(descriptorShortage(LEAST_FREE_DESCRIPTORS) ?? error);
    });
  });
}

/** The system's error if this process cannot get so many descriptors now; takes microseconds. */
function descriptorShortage(count: number): unknown {
  const taken: number[] = [];
  try {
    while (taken.length < count) taken.push(openSync(devNull, "r"));
    return undefined;
  } catch (error) {
    return isLocalError(error) ? error : undefined;
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}
