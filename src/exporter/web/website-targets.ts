import type { WebsiteTargetsConfig } from "../config/config.ts";
import type { ApplianceSnapshot, ClusterSnapshot, KnownWebsite } from "../fleet/snapshot.ts";
import { LEFT_OUT, type LeftOut } from "../metrics/self.ts";
import { urlHost } from "../../support/address.ts";
import { once } from "../../support/kept.ts";
import type { LongText } from "../../support/long-text.ts";
import { inSlices } from "../../support/slices.ts";
import { refusalOf, type Refusal } from "./target-policy.ts";
import type { ClusterVerdict, WebsiteVerdict } from "../judge/verdict.ts";
import { listeningIn } from "../judge/masters.ts";

/** The most VIPs of a website. */
const MAX_VIPS = 64;
/** The most targets of a cluster. */
const MAX_TARGETS = 2000;

/** A website by one of its URLs. If `vip` is not empty, the VIP replaces the host. */
interface Target {
  readonly website: WebsiteVerdict;
  readonly url: string;
  readonly vip: string;
}

/**
 * Returns the websites for blackbox_exporter, made in slices: the targets of all clusters, and the number that is left out, also as a
 * header. Resolves to `undefined` while something was not polled yet, since Prometheus would interpret a missing target as one that is
 * gone. This function does not wait for websites that an appliance lists later, since the list could have others each time.
 *
 * @see https://prometheus.io/docs/prometheus/latest/http_sd/
 */
export async function websiteTargets(verdicts: readonly ClusterVerdict[], policy: WebsiteTargetsConfig) {
  if (verdicts.some(({ facts }) => facts.appliances.some(isPending))) return undefined;
  const texts: string[] = [];
  const left: Record<LeftOut, number> = { limit: 0, address: 0, port: 0, private: 0 };
  await inSlices(verdicts, (verdict) => {
    const { targets, leftOut } = clusterTargets(verdict, policy);
    for (const target of targets) texts.push(",", JSON.stringify(groupOf(target)));
    for (const why of LEFT_OUT) left[why] += leftOut[why];
  });
  const text: LongText = ["[", ...texts.slice(1), "]\n"];
  const header = LEFT_OUT.map((why) => `${why}=${left[why]}`).join(", ");
  return { text, left, headers: { "x-targets-left-out": header } };
}

function isPending({ vrrp, discovery }: ApplianceSnapshot): boolean {
  return discovery !== undefined && (vrrp.health.state === "pending" || !discovery.isFirstPolled);
}

/**
 * Returns each URL of a discovered website, once if several appliances list it; then each URL with each VIP by which visitors reach it.
 * `leftOut` counts the targets that are refused, or beyond 64 VIPs of a website or 2,000 targets.
 */
export function clusterTargets(verdict: ClusterVerdict, policy: WebsiteTargetsConfig) {
  const targets: Target[] = [];
  const leftOut: Record<LeftOut, number> = { limit: 0, address: 0, port: 0, private: 0 };
  const known = new Map<string, Refusal | undefined>();
  function add(target: Target): void {
    if (targets.length === MAX_TARGETS) {
      leftOut.limit += 1;
      return;
    }
    const { url, vip } = target;
    // With a VIP, all URLs of a port are alike.
    const key = vip === "" ? url : url.slice(url.lastIndexOf(":")) + vip;
    if (!known.has(key)) known.set(key, refusalOf(url, vip, policy));
    const why = known.get(key);
    if (why === undefined) targets.push(target);
    else leftOut[why] += 1;
  }
  const reached = reachedIn(verdict);
  for (const { website, urls } of reached) for (const url of urls) add({ website, url, vip: "" });
  // One VIP of every website comes before a second one of any.
  for (let nth = 0; nth < MAX_VIPS; nth += 1) {
    for (const { website, urls, vips } of reached) {
      const vip = vips[nth];
      if (vip !== undefined) for (const url of urls) add({ website, url, vip });
    }
  }
  for (const { urls, vips } of reached) leftOut.limit += urls.length * Math.max(vips.length - MAX_VIPS, 0);
  return { targets, leftOut };
}

/** Returns the addresses and URLs of each website that is tested: URLs by the first appliance that knows it, addresses by all. */
function reachedIn({ facts, websites }: ClusterVerdict) {
  return facts.websites.flatMap(({ key, at }) => {
    const known = at.map((mention) => mention.known);
    const own = known.filter(({ isTested, address, urls }) => isTested && address === key && urls.length > 0);
    const [website, [first]] = [websites.get(key), own];
    if (website === undefined || first === undefined) return [];
    return [{ website, urls: first.urls, vips: addressesOf(facts.groups, own) }];
  });
}

/** This is computed once for each list, since most websites of a cluster listen on all of its VIPs. */
const distinct = once((addresses: readonly string[]) => [...new Set(addresses)]);

/** Returns the addresses on which visitors reach a website. */
function addressesOf(
  groups: ClusterSnapshot["groups"],
  websites: readonly KnownWebsite[],
): readonly string[] {
  const lists = [...new Set(websites.map(({ bind }) => listeningIn(groups)(bind)))];
  return lists.length > 1 ? [...new Set(lists.flat())] : lists.flatMap(distinct);
}

/** Returns a group of targets with the same labels. */
function groupOf({ website: { cluster, website, websiteId }, url, vip }: Target) {
  const at = new URL(url);
  const { hostname, protocol } = at;
  if (vip !== "") at.hostname = urlHost(vip);
  return {
    targets: [at.href],
    labels: {
      __meta_appliance_exporter_ha_cluster: cluster,
      __meta_appliance_exporter_website: website,
      __meta_appliance_exporter_website_id: String(websiteId),
      __meta_appliance_exporter_host: hostname,
      __meta_appliance_exporter_protocol: protocol.slice(0, -1),
      __meta_appliance_exporter_vip: vip,
    },
  };
}
