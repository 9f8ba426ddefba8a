import { isIPv6 } from "node:net";

/** Where to listen; without a host, on all addresses. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** Reads `:10849`, `127.0.0.1:10849`, `[::1]:10849` or `localhost:10849`; `undefined` for anything else. Port 0 means any. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, ipv6, name, digits] = match;
  const port = Number(digits);
  if (ipv6 !== undefined && !isIPv6(ipv6)) return undefined;
  const host = ipv6 ?? name;
  return port > 65_535 ? undefined : { host: host === "" ? undefined : host, port };
}

/** As it stands in a URL. */
export function formatAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
