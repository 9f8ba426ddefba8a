import { BlockList, isIP, isIPv6 } from "node:net";
import type { WebsiteTargetsConfig } from "../config/config.ts";
import { bareHost, urlHost } from "../../support/address.ts";

/**
 * The reason for a refusal: an address that may lead to the prober itself, its link or a cloud's metadata; a port or private host that is
 * not allowed.
 */
export type Refusal = "address" | "port" | "private";

/**
 * The addresses that are never allowed: loopback, link-local, unspecified, multicast and reserved addresses, metadata services, and IPv6
 * that contains IPv4.
 */
const NEVER = {
  4: rangesOf(
    "0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 192.0.0.0/24 224.0.0.0/3 100.100.100.200/32 168.63.129.16/32",
  ),
  6: rangesOf(
    "::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 2001::/32 2002::/16 fe80::/10 ff00::/8 " +
      "fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128",
  ),
};
/** @see RFC 1918, RFC 6598, RFC 2544, RFC 4193 and RFC 3879 */
const PRIVATE = {
  4: rangesOf("10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 198.18.0.0/15"),
  6: rangesOf("fc00::/7 fec0::/10"),
};
const HOST_NAME = /^[\p{L}\p{N}_.-]*[\p{L}\p{N}_-]$/u;
/** The names of loopback addresses and of metadata services. */
const NEVER_NAME =
  /^(.*\.)?(localhost|ip6-localhost|ip6-loopback)$|^localhost[46]?(\.localdomain[46]?)?$|^metadata\.(google\.internal|goog)$/;
/** A name of one label, or with a top-level domain that the public DNS does not have. @see RFC 6761, RFC 6762 appendix G */
const PRIVATE_NAME =
  /^[^.]+$|\.(local|localdomain|internal|intranet|private|lan|home|corp|mail|home\.arpa|test|invalid|onion|alt|svc|cluster)$/;

function rangesOf(ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [net = "", prefix] = range.split("/");
    list.addSubnet(net, Number(prefix), isIPv6(net) ? "ipv6" : "ipv4");
  }
  return list;
}

/**
 * Returns why the URL of a website, or the same URL with a VIP as its host, is no target. Both are judged as an appliance reports them: an
 * address must have the usual notation, because some programs read `0x7f.1` and `2130706433` as 127.0.0.1. A name may resolve to any
 * address.
 */
export function refusalOf(url: string, vip: string, policy: WebsiteTargetsConfig): Refusal | undefined {
  const [, scheme, host = ""] = /^(https?):\/\/(\[[^\]]*\]|[^/:]*)/.exec(url) ?? [];
  const port = Number(new URL(url).port || (scheme === "https" ? 443 : 80));
  return [80, 443, ...policy.ports].includes(port) ? hostRefusal(vip || bareHost(host), policy) : "port";
}

function hostRefusal(host: string, policy: WebsiteTargetsConfig): Refusal | undefined {
  const url = `http://${urlHost(host)}/`;
  if (!URL.canParse(url)) return "address";
  const meant = bareHost(new URL(url).hostname);
  const family = isIP(meant);
  if (family !== 4 && family !== 6) {
    if (!HOST_NAME.test(host) || NEVER_NAME.test(meant)) return "address";
    return PRIVATE_NAME.test(meant) && !policy.private ? "private" : undefined;
  }
  const isUsual = family === 4 ? host === meant : isIPv6(host);
  if (!isUsual || NEVER[family].check(meant, `ipv${family}`)) return "address";
  return PRIVATE[family].check(meant, `ipv${family}`) && !policy.private ? "private" : undefined;
}
