import type { FleetSnapshot } from "../fleet/snapshot.ts";
import type { Reply } from "./reply.ts";

/** @see https://prometheus.io/docs/prometheus/latest/http_sd/ */
export interface TargetGroup {
  readonly targets: readonly [string];
  readonly labels: Readonly<Record<string, string>>;
}

/** One group for each cluster and each appliance that stands alone, with the labels that all of its members share. */
export function targetGroups({ appliances, clusters }: FleetSnapshot): readonly TargetGroup[] {
  const shared = new Map([
    ...appliances.map(({ identity }) => [identity.cluster, identity.labels] as const),
    // Clusters of two appliances or more have labels of their own.
    ...clusters.map(({ cluster, labels }) => [cluster, labels] as const),
  ]);
  return [...shared].map(([cluster, labels]) => ({
    targets: [cluster],
    labels: {
      __meta_appliance_ha_cluster: cluster,
      ...Object.fromEntries(
        Object.entries(labels).map(([name, value]) => [`__meta_appliance_label_${name}`, value]),
      ),
    },
  }));
}

export function discoveryReply(snapshot: FleetSnapshot): Reply {
  return {
    status: 200,
    contentType: "application/json",
    body: `${JSON.stringify(targetGroups(snapshot))}\n`,
  };
}
