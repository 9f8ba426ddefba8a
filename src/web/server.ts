import { createServer, type RequestListener, type Server } from "node:http";
import { createConnectionLimiter } from "./connections.ts";
import { formatAddress, type ListenAddress } from "./listen-address.ts";

const LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  // Longer than any usual scrape interval, so that Prometheus finds its connection open.
  keepAliveTimeout: 125_000,
  maxHeaderSize: 8 * 1024,
};
/**
 * A client that neither reads nor writes in the middle of an answer is let go after this long, or twice this long where
 * it had begun to read.
 */
const INACTIVITY_TIMEOUT_MS = 15_000;
/** How long answers under way may take at shutdown. */
const DRAIN_TIMEOUT_MS = 3000;

export interface WebServer {
  /** `host:port`, one for each listener. */
  readonly addresses: readonly string[];
  /** Stops listening, lets answers under way finish for a while, and ends every connection. */
  stop(): Promise<void>;
}

export type WebStart =
  | { readonly ok: true; readonly server: WebServer }
  /** `code` of the runtime: EADDRINUSE, EACCES, ENOTFOUND... */
  | { readonly ok: false; readonly address: string; readonly code: string };

/** Serves plain HTTP on every address, or on none. */
export async function startWebServer(
  listeners: readonly ListenAddress[],
  handler: RequestListener,
): Promise<WebStart> {
  const bound = createConnectionLimiter();
  const servers: Server[] = [];
  for (const address of listeners) {
    const server = createServer(LIMITS, handler);
    server.timeout = INACTIVITY_TIMEOUT_MS;
    bound(server);
    const code = await listen(server, address);
    if (code !== undefined) {
      await Promise.all(servers.map(stop));
      return { ok: false, address: formatAddress(address.host ?? "", address.port), code };
    }
    servers.push(server);
  }
  const addresses = servers.map((server) => addressOf(server));
  return { ok: true, server: { addresses, stop: async () => void (await Promise.all(servers.map(stop))) } };
}

/** Resolves to nothing, or to the error's code. */
function listen(server: Server, { host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => resolve(undefined));
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function addressOf(server: Server): string {
  const address = server.address();
  return typeof address === "object" && address !== null ? formatAddress(address.address, address.port) : "";
}
