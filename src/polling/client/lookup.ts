import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import pLimit from "p-limit";
import { isLocalError } from "./classify.ts";

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
 * Asks the C library. Without a descriptor it says ENOTFOUND for every name, and it may remember for good that a part
 * of its own could not be opened: so a descriptor must be free before it is asked, and still when it says that it failed.
 */
function resolveBySystem(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    const shortage = descriptorShortage();
    if (shortage !== undefined) return reject(shortage);
    return systemLookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(descriptorShortage() ?? error);
    });
  });
}

/** The system's error if this process gets no descriptor now; takes microseconds. */
function descriptorShortage(): unknown {
  try {
    closeSync(openSync(devNull, "r"));
    return undefined;
  } catch (error) {
    return isLocalError(error) ? error : undefined;
  }
}
