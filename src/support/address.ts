import { isIPv4, isIPv6, SocketAddress } from "node:net";

/** The canonical text of an IP address, equal for all its spellings; any other text as it is. @see RFC 5952 */
export function canonicalAddress(text: string): string {
  const address = text.trim();
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return text;
  const [bare = "", zone] = address.split("%");
  const canonical = new SocketAddress({ address: bare, family: "ipv6" }).address;
  return zone === undefined ? canonical : `${canonical}%${zone}`;
}

/** The host as it stands in a URL: IPv6 addresses in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The host of a URL without brackets, as systems take it. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
