import { alert, at, type Scenario } from "./scenario.ts";
import {
  cluster,
  exporter,
  healthy,
  series,
  type ClusterSetup,
  type Exporter,
  type Labels,
} from "./world.ts";

const NO_MASTER: ClusterSetup = {
  group: at("one_master", [0, "unknown"]),
  master: at("a", [0, undefined]),
};

/** The probes of a website by its own name, or on a VIP: 200 until the event, then this status. */
function probe(ha_cluster: string, status: number, vip?: string) {
  const labels: Labels = {
    ha_cluster,
    website: "shop",
    instance: `https://${vip ?? "shop.example.org"}/`,
    ...(vip === undefined ? {} : { vip }),
  };
  return [
    series("probe_http_status_code", labels, at(200, [0, status])),
    series("probe_success", labels, at(1, [0, Number(status === 200)])),
  ];
}

function probesOfVips(ha_cluster: string, status: number) {
  return ["192.0.2.100", "192.0.2.101"].flatMap((vip) => probe(ha_cluster, status, vip));
}

const PROBES: Exporter = {
  labels: { job: "websites" },
  upAt: () => 1,
  series: [
    ...probesOfVips("lost", 200),
    ...probesOfVips("cut", 0),
    ...probesOfVips("planned", 0),
    ...probesOfVips("fenced", 200),
    ...probe("fenced", 403),
  ],
};

/** Appliances cannot be polled while the VIPs of one cluster answer and those of another do not. */
export const PROBED: Scenario = {
  name: "blackbox_exporter probes the VIPs while appliances cannot be polled",
  exporters: [
    PROBES,
    exporter("one:1", [
      ...healthy(4),
      ...cluster("lost", {
        ...NO_MASTER,
        site: "amsterdam",
        appliances: { a: at("up", [0, "down"]), b: at("up", [0, "down"]) },
      }),
      ...cluster("cut", { ...NO_MASTER, appliances: { a: at("up", [0, "down"]), b: [[0, "up"]] } }),
      ...cluster("planned"),
      series("ha_cluster_planned", { ha_cluster: "planned", alert: "VrrpNoMaster" }, at(1)),
      ...cluster("fenced"),
    ]),
  ],
  expected: [
    alert("SiteDark", { site: "amsterdam" }, 20),
    alert("VrrpMasterUnknown", { ha_cluster: "cut" }, 40),
    alert("ProbedVipsDown", { ha_cluster: "cut" }, 60),
    alert("ProbedWebsiteDown", { ha_cluster: "fenced", website: "shop" }, 60),
  ],
  lastsSeconds: 480,
};
