import { isIP } from "node:net";
import type { ApplianceSnapshot } from "../fleet/snapshot.ts";
import { urlHost } from "../support/address.ts";
import type { ClusterVerdict, WebsiteVerdict } from "./verdict.ts";
import { listeningIn } from "./websites.ts";

/** Targets with the same labels. @see https://prometheus.io/docs/prometheus/latest/http_sd/ */
interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The websites for blackbox_exporter: for each URL of a discovered website the URL itself, and one with each VIP in place of its
 * host, by which visitors reach it. A website that several appliances list is there once. `undefined` while something was not
 * polled yet: Prometheus would take a target that is missing for one that is gone.
 */
export function websiteTargets(verdicts: readonly ClusterVerdict[]): readonly TargetGroup[] | undefined {
  if (verdicts.some(({ facts }) => facts.appliances.some(isPending))) return undefined;
  return verdicts.flatMap(({ facts, websites }) => {
    const tests = facts.appliances.flatMap((appliance) => appliance.websites);
    return [...websites.values()].flatMap((website) => {
      const own = tests.filter(({ address, urls }) => address === website.key && urls.length > 0);
      const addresses = own.flatMap(({ bind }) => listeningIn(facts.groups)(bind));
      const vips = ["", ...new Set(addresses.filter((address) => isIP(address) !== 0))];
      return (own[0]?.urls ?? []).flatMap((url) => vips.map((vip) => targetOf(website, url, vip)));
    });
  });
}

function isPending({ vrrp, discovery }: ApplianceSnapshot): boolean {
  return discovery !== undefined && (vrrp.health.state === "never_polled" || !discovery.isPolled);
}

function targetOf({ cluster, website, websiteId }: WebsiteVerdict, url: string, vip: string): TargetGroup {
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
