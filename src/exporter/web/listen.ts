import { once } from "node:events";
import type { Server } from "node:http";
import { isIPv6 } from "node:net";
import { urlHost } from "../../support/address.ts";

/** An address to listen on; without a host, the server listens on all addresses. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

export const MAX_PORT = 65_535;

/** Parses `:10849`, `127.0.0.1:10849`, `[::1]:10849` or `localhost:10849`; otherwise `undefined`. Port 0 means any free port. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, ipv6, name = "", digits] = /^(?:\[([^\]]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > MAX_PORT) return undefined;
  if (ipv6 !== undefined) return isIPv6(ipv6) ? { host: ipv6, port } : undefined;
  if (name === "") return { host: undefined, port };
  return isHostName(name) ? { host: name, port } : undefined;
}

/** Whether the text is a valid host name or IPv4 address. */
export function isHostName(text: string): boolean {
  return /^[a-z0-9_][a-z0-9_.-]{0,252}$/i.test(text);
}

/** Returns the address as `host:port` of a URL. */
export function formatAddress({ host = "", port }: ListenAddress): string {
  return `${urlHost(host)}:${port}`;
}

/** Returns an address as this machine reaches it: at localhost if the server listens on all addresses. */
export function localAddress(address: string): string {
  return address.replace(/^(0\.0\.0\.0|\[::\]):/, "localhost:");
}

export type ListeningAddress = ListenAddress & { readonly host: string };

/** Listens, and resolves to the actual address. Rejects with Node's error. */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<ListeningAddress> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("a server on a port has a numeric address");
  return { host: address.address, port: address.port };
}

/** Stops listening and closes every connection; resolves when the last one is closed. */
export async function closeAtOnce(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
