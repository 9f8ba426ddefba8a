import { isIP, isIPv4, isIPv6, SocketAddress } from "node:net";
import { domainToASCII } from "node:url";

/**
 * Returns the canonical text of an IP address, equal for all its spellings, also in brackets; any other text unchanged.
 *
 * @see RFC 5952
 */
export function canonicalAddress(text: string): string {
  const address = bareHost(text.trim());
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return text;
  const [bare = "", zone] = address.split("%");
  const canonical = new SocketAddress({ address: bare, family: "ipv6" }).address;
  return zone === undefined ? canonical : `${canonical}%${zone}`;
}

/** Returns the canonical text of an address without its zone, and of an IPv4-mapped one the IPv4 address. @see RFC 4291 2.5.5.2 */
export function plainAddress(text: string): string {
  const [bare = ""] = canonicalAddress(text).split("%");
  return bare.replace(/^::ffff:(?=\d+\.)/, "");
}

/** A URL would end at these characters, or drop or decode them. */
const NOT_IN_NAMES = /[\s/\\?#@:%]/;

/**
 * Returns the canonical text of the host of a website, equal for all spellings of an address or a name: names as A-labels in lower case.
 * Another text stays, in lower case: a name that is invalid, and one that URLs have for an address, such as `0x7f.1`.
 *
 * @see UTS #46, RFC 5890 2.3.2.1
 */
export function canonicalHost(text: string): string {
  const address = canonicalAddress(text);
  if (isIP(address) !== 0) return address;
  const name = NOT_IN_NAMES.test(text) ? "" : domainToASCII(text);
  return name === "" || isIP(name) !== 0 ? text.toLowerCase() : name;
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

/** Returns the host without the brackets that it has in a URL, as systems expect it. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
