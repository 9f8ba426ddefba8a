import { isIP, isIPv4, isIPv6, SocketAddress } from "node:net";
import { domainToASCII } from "node:url";

/** An address, and what systems write with it: a zone, a prefix or netmask, and brackets. A zone may have any characters. */
const FORM = /^(\[)?([\da-f.:]+)(?:\/([\da-f.:]+))?(?:%[^[\]]+)?(?:(\])(?:\/([\da-f.:]+))?)?$/i;

/**
 * Returns the canonical text of an IP address, equal for all its spellings. A zone (`%em0`), a prefix (`/24`, `/255.255.255.0`) and brackets
 * are no part of an address. Any other text is returned unchanged.
 *
 * @see RFC 4007, 5952
 */
export function canonicalAddress(text: string): string {
  const address = addressIn(text) ?? text;
  return isIPv6(address) ? new SocketAddress({ address, family: "ipv6" }).address : address;
}

/** Whether a text is an IP address, with or without a zone, a prefix and brackets. */
export function isAddress(text: string): boolean {
  return addressIn(text) !== undefined;
}

/** Returns the address without its zone, prefix and brackets; `undefined` if the text is no address. */
function addressIn(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, open, address = "", inner, close, outer] = FORM.exec(text.trim()) ?? [];
  const version = isIP(address);
  const isClosed = (open === undefined) === (close === undefined);
  const prefixes = [inner, outer].filter((prefix) => prefix !== undefined);
  const isWhole = isClosed && prefixes.every((prefix) => isPrefix(prefix, version));
  return version !== 0 && isWhole ? address : undefined;
}

function isPrefix(text: string, version: number): boolean {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= (version === 6 ? 128 : 32);
  return isIP(text) === version && NETMASKS.has(text.toLowerCase());
}

/** Whether an address, in canonical text, means another host on each link. @see RFC 3927, 4291 */
export function isLinkLocal(address: string): boolean {
  return /^(?:fe[89ab][\da-f]:|169\.254\.)/.test(address);
}

/** Returns the canonical text of an address, and of an IPv4-mapped one the IPv4 address. @see RFC 4291 2.5.5.2 */
export function plainAddress(text: string): string {
  return canonicalAddress(text).replace(/^::ffff:(?=\d+\.)/, "");
}

/** A URL would end at these characters, or drop or decode them. */
const NOT_IN_NAMES = /[\s/\\?#@:%]/;

/**
 * Returns the canonical text of the host of a website, equal for all spellings of an address or a name: names as A-labels in lower case,
 * without a dot at the end. Another text stays, in lower case: a name that is invalid, and one that URLs have for an address, such as `0x7f.1`.
 *
 * @see UTS #46, RFC 5890 2.3.2.1
 */
export function canonicalHost(text: string): string {
  const address = canonicalAddress(text);
  if (isIP(address) !== 0) return address;
  const name = NOT_IN_NAMES.test(text) ? "" : domainToASCII(text);
  const host = name === "" || isIP(name) !== 0 ? text.toLowerCase() : name;
  return host.replace(/\.$/, "");
}

/** Returns `255.255.255.0` or `ffff:ffff:ffff:ffff::`. `bits` is the length of an address, 32 or 128. */
export function netmaskOf(prefix: number, bits: number): string {
  const mask = "1".repeat(prefix).padEnd(bits, "0");
  const parts = Array.from(mask.matchAll(bits === 32 ? /.{8}/g : /.{16}/g), ([part]) =>
    Number.parseInt(part, 2),
  );
  return bits === 32 ? parts.join(".") : canonicalAddress(parts.map((part) => part.toString(16)).join(":"));
}

/** The netmasks of IPv4 and IPv6, as `netmaskOf` returns them. */
export const NETMASKS: ReadonlySet<string> = new Set(
  [32, 128].flatMap((bits) => Array.from({ length: bits + 1 }, (_, prefix) => netmaskOf(prefix, bits))),
);

/** Returns the host as it stands in a URL: IPv6 addresses in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Returns the host without the brackets that it has in a URL, as systems expect it. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
