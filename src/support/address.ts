import { isIPv4, isIPv6, SocketAddress } from "node:net";

/** Returns the canonical text of an IP address, equal for all its spellings; any other text unchanged. @see RFC 5952 */
export function canonicalAddress(text: string): string {
  const address = text.trim();
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return text;
  const [bare = "", zone] = address.split("%");
  const canonical = new SocketAddress({ address: bare, family: "ipv6" }).address;
  return zone === undefined ? canonical : `${canonical}%${zone}`;
}

/** Returns `255.255.255.0` or `ffff:ffff:ffff:ffff::`. `bits` is the length of an address, 32 or 128. */
export function netmaskOf(prefix: number, bits: number): string {
  const mask = "1".repeat(prefix).padEnd(bits, "0");
  const parts = Array.from(mask.matchAll(bits === 32 ? /.{8}/g : /.{16}/g), ([part]) =>
    Number.parseInt(part, 2),
  );
  return bits === 32 ? parts.join(".") : canonicalAddress(parts.map((part) => part.toString(16)).join(":"));
}

/** Returns the host as it stands in a URL: IPv6 addresses in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Returns the host of a URL without brackets, as systems expect it. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
