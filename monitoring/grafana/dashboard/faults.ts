import {
  APPLIANCE,
  EXPORTER_GONE,
  firstOf,
  IN_CLUSTER,
  inState,
  OF_APPLIANCE,
  withLabel,
} from "./expressions.ts";

/** `when` has a value for each faulty thing, named by the labels `ha_cluster`, `place` and `detail`. */
type Fault = readonly [rank: number, words: string, alert: string, when: string];

const CERTIFICATE_END = `min by (${APPLIANCE}) (appliance_tls_certificate_not_after_timestamp_seconds{${OF_APPLIANCE}})`;
const FAILURES = `group by (${APPLIANCE}, reason) (appliance_poll_failure_info{${OF_APPLIANCE}, operation="vrrp"})`;
const DARK = `group by (ha_cluster) (ha_cluster_state{${IN_CLUSTER}, state="dark"} == 1)`;

/** Worst first, with the severity of their alerts. Ranks 10 to 19 are critical, 20 to 29 warnings. */
const FAULTS: readonly Fault[] = [
  [
    10,
    "no exporter reports an appliance",
    "ApplianceExporterAbsent",
    `absent(appliance_state{${OF_APPLIANCE}})`,
  ],
  [11, "split brain", "VrrpSplitBrain", group("split_brain")],
  [12, "no master", "VrrpNoMaster", group("no_master")],
  [13, "no appliance of the cluster is reached", "ClusterDark", DARK],
  [14, "master unknown", "VrrpMasterUnknown", group("unknown")],
  [15, "website down", "WebsiteDown", website("down|down_at_master")],
  [16, "website not known to be up", "WebsiteUnknown", website("unknown")],
  [17, "no known backup", "VrrpRedundancyLost", group("no_backup|backup_unknown")],
  [18, "not polled, by the exporter's own fault", "ApplianceExporterStuck", appliance("unknown")],
  [21, "credentials refused", "ApplianceCredentialsRefused", appliance("refused")],
  [22, "appliance down", "ApplianceDown", appliance("down")],
  [23, "exporter not scraped", "ApplianceExporterDown", at("instance", EXPORTER_GONE)],
  [24, "website would be down after a failover", "WebsitePartiallyDown", website("partially_down")],
  [
    25,
    "the preferred member is not the master",
    "VrrpPreferredMasterLost",
    atGroup(`vrrp_group_preferred_master{${IN_CLUSTER}} == 0`),
  ],
  [
    26,
    "certificate expires within 14 days",
    "ApplianceCertificateExpiring",
    at("appliance", `0 < ${CERTIFICATE_END} - time() < 14 * 86400`),
  ],
  [
    27,
    "deviates from the management API",
    "ApplianceApiAnomalies",
    at("appliance", detail(`appliance_api_anomalies{${OF_APPLIANCE}} > 0`, "anomaly")),
  ],
  [
    28,
    "configuration invalid, the previous one is in use",
    "ApplianceExporterReloadFailed",
    at("instance", "appliance_exporter_config_last_reload_successful == 0"),
  ],
];

/** A series for each present fault, in words. The value is the rank. */
export const FAULTS_NOW = firstOf(
  ...FAULTS.map(([rank, words, alert, when]) => {
    const labeled = withLabel(withLabel(when, "fault", words), "runbook", alert.toLowerCase());
    return `${rank} * group by (ha_cluster, fault, place, detail, runbook) (${labeled})`;
  }),
);

function group(states: string): string {
  return atGroup(inState("vrrp_group", states));
}

function website(states: string): string {
  return `label_join(${inState("website", states)}, "place", " ", "website", "protocol")`;
}

/** With the reasons for which its polls fail. */
function appliance(state: string): string {
  return at(
    "appliance",
    detail(`${FAILURES} and on (${APPLIANCE}) ${inState("appliance", state)}`, "reason"),
  );
}

function detail(expression: string, label: string): string {
  return `label_replace(${expression}, "detail", "$1", "${label}", "(.+)")`;
}

function at(label: string, expression: string): string {
  return `label_replace(${expression}, "place", "$1", "${label}", "(.+)")`;
}

function atGroup(expression: string): string {
  return `label_join(${expression}, "place", " vhid ", "vip", "vhid")`;
}
