import type { Cluster } from "../lab/node.ts";
import { SITE, type ClusterName } from "../lab/fleet.ts";
import type { Lab } from "../lab/lab.ts";
import type { Labels } from "../lab/notifications.ts";
import type { Scene } from "../scene.ts";

/** What happens to a part of the lab that belongs to this case, and the alerts about it. */
export interface Case {
  /** A sentence. */
  readonly name: string;
  /** Whether an alert with these labels is about this case. */
  readonly owns: (labels: Labels) => boolean;
  readonly play: (scene: Scene, lab: Lab) => Promise<void>;
}

export function ownsCluster(name: ClusterName): Case["owns"] {
  return ({ ha_cluster: cluster }) => cluster === name;
}

/** What every alert of ours has. */
export const OURS = { component: "appliance-exporter" };

/** An alert about the VRRP groups of a cluster. */
export function vrrpAlert(alertname: string, { name }: Cluster, labels: Labels = {}): Labels {
  return { alertname, ...OURS, severity: "critical", site: SITE, ha_cluster: name, ...labels };
}

/** The alert that names the new master. */
export function failoverTo(cluster: Cluster, appliance: string): Labels {
  return vrrpAlert("VrrpFailover", cluster, { severity: "warning", appliance });
}
