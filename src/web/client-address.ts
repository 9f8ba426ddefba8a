import { isIPv6 } from "node:net";

/**
 * Who counts as one client, by its address: an IPv4 address, also where IPv6 carries it, or the first 64 bits of an IPv6
 * address, all of whose further bits one machine may choose.
 */
export function clientOf(address = ""): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [left = [], right] = address
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  return [...left, ...(right === undefined ? [] : Array<string>(8).fill("0"))].slice(0, 4).join(":");
}
