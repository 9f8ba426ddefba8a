import { connect, isIP, type Socket } from "node:net";
import { isLocalError, isLookupError } from "./classify.ts";
import { ConnectionError } from "./connection-error.ts";
import type { AttemptWatcher } from "./attempt.ts";
import type { Lookup } from "./lookup.ts";

/**
 * How long one address may take before the next one of the same name is tried beside it; the runtime's own 250 ms give
 * up on slow ways too soon.
 */
const ADDRESS_ATTEMPT_TIMEOUT_MS = 1000;

export interface DialOptions {
  readonly lookup: Lookup;
  /** Whether it is a proxy that is dialled: its failure has a reason of its own then. */
  readonly isProxy: boolean;
}

/**
 * A TCP connection, after a name look-up where the host is no address.
 *
 * @throws the runtime's error, or for a proxy that is not reached a ConnectionError
 */
export function dial(
  { host, port }: { readonly host: string; readonly port: number },
  { lookup, isProxy }: DialOptions,
  watcher: AttemptWatcher,
): Promise<Socket> {
  const connecting = isProxy ? "proxy" : "connect";
  watcher.stage(isIP(host) === 0 ? "lookup" : connecting);
  const socket = connect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_TIMEOUT_MS,
    lookup: (hostname, options, callback) =>
      lookup(hostname, options, (error, address, family) => {
        if (error === null) watcher.stage(connecting);
        callback(error, address, family);
      }),
  });
  watcher.socket(socket);
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error: NodeJS.ErrnoException) => {
      const isTheProxy = isProxy && !isLookupError(error) && !isLocalError(error);
      reject(isTheProxy ? new ConnectionError("proxy", "the proxy cannot be reached", error) : error);
    });
    socket.once("close", () => reject(new ConnectionError("connect", "the connection was given up")));
  });
}
