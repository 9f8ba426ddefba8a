import {
  APPLIANCE,
  DOWN,
  EXPORTER_GONE,
  firstOf,
  GROUP,
  IN_CLUSTER,
  MASTER_KNOWN,
  MASTER_UNKNOWN,
  NO_BACKUP,
  NO_MASTER,
  OF_APPLIANCE,
  OF_WEBSITE,
  seenInRange,
  SPLIT_BRAIN,
  UP,
  VIEW,
  WEBSITE,
  withLabel,
} from "./expressions.ts";

/** `when` has a value for each faulty thing, named by the labels `ha_cluster`, `place` and `detail`. */
type Fault = readonly [rank: number, words: string, alert: string, when: string];

const CERTIFICATE_END = `min by (${APPLIANCE}) (appliance_tls_certificate_not_after_timestamp_seconds{${OF_APPLIANCE}})`;
const VRRP_FAILURES = `group by (${APPLIANCE}, reason) (appliance_poll_failure_info{${OF_APPLIANCE}, operation="vrrp"})`;
const TEST_FAILURES = `appliance_poll_failure_info{${OF_WEBSITE}, operation="website_test", reason!="appliance_down"}`;
const NOT_POLLED = `appliance_polls_total{${OF_APPLIANCE}, operation="vrrp"} unless on (${APPLIANCE}) appliance_up`;
const NOT_REPORTED = `${seenInRange(APPLIANCE, `appliance_up{${OF_APPLIANCE}}`)} unless on (${APPLIANCE}) appliance_polls_total unless on (${APPLIANCE}) appliance_up`;

/** Worst first. Ranks 10 to 19 are critical, 20 to 29 warnings, 30 to 39 notices. */
const FAULTS: readonly Fault[] = [
  [
    10,
    "nothing is known: no exporter reports an appliance",
    "ApplianceExporterDown",
    `absent(appliance_up{${OF_APPLIANCE}})`,
  ],
  [
    11,
    "split brain: more than one master",
    "VrrpSplitBrain",
    atGroup(detail(count("masters", GROUP, SPLIT_BRAIN), "$1 masters", "masters")),
  ],
  [12, "no master: nobody has the address", "VrrpNoMaster", atGroup(`group by (${GROUP}) (${NO_MASTER})`)],
  [
    13,
    "master unknown: a member does not answer",
    "VrrpMasterUnknown",
    atGroup(`group by (${GROUP}) (${MASTER_UNKNOWN}) unless on (${GROUP}) (${MASTER_KNOWN})`),
  ],
  [14, "appliance cannot be polled", "ApplianceDown", at("appliance", detail(VRRP_FAILURES, "$1", "reason"))],
  [
    15,
    "website down, seen from every appliance that can tell",
    "WebsiteDown",
    atWebsite(detail(count("status", WEBSITE, DOWN, `unless on (${WEBSITE}) ${UP}`), "status $1", "status")),
  ],
  [16, "exporter cannot be scraped", "ApplianceExporterDown", at("instance", EXPORTER_GONE)],
  [
    21,
    "website down, seen from some appliances and not from others",
    "WebsiteDown",
    atWebsite(
      from("detail", detail(count("status", VIEW, DOWN, `and on (${WEBSITE}) ${UP}`), "status $1", "status")),
    ),
  ],
  [
    22,
    "no backup: nobody would take over",
    "VrrpRedundancyLost",
    atGroup(`group by (${GROUP}) (${NO_BACKUP})`),
  ],
  [23, "website cannot be tested", "WebsiteUnknown", at("website", from("reason", TEST_FAILURES))],
  [24, "appliance not polled yet", "ApplianceDown", at("appliance", NOT_POLLED)],
  [
    25,
    "appliance no longer reported: removed, or its exporter is not scraped",
    "ApplianceExporterDown",
    at("appliance", NOT_REPORTED),
  ],
  [
    26,
    "configuration refused: the previous one is still in use",
    "ApplianceExporterReloadFailed",
    at("instance", "appliance_exporter_config_last_reload_successful == 0"),
  ],
  [
    27,
    "certificate has expired, or expires within 14 days",
    "ApplianceCertificateExpiring",
    at("appliance", `${CERTIFICATE_END} - time() < 14 * 86400`),
  ],
  [
    31,
    "the preferred member is not the master",
    "VrrpPreferredMasterLost",
    atGroup(`vrrp_group_preferred_master{${IN_CLUSTER}} == 0`),
  ],
  [
    32,
    "the appliance's answer deviates from the management API",
    "ApplianceApiAnomalies",
    at("appliance", detail(`appliance_api_anomalies{${OF_APPLIANCE}} > 0`, "$1", "anomaly")),
  ],
];

/** A series for each present fault, in words. The value is the rank. */
export const FAULTS_NOW = firstOf(
  ...FAULTS.map(([rank, words, alert, when]) => {
    const labeled = withLabel(withLabel(when, "fault", words), "runbook", alert.toLowerCase());
    return `${rank} * group by (ha_cluster, fault, place, detail, runbook) (${labeled})`;
  }),
);

/** Puts the highest value of an expression into a label. */
function count(label: string, labels: string, expression: string, also = ""): string {
  return `count_values by (${labels}) ("${label}", max by (${labels}) (${expression})${also === "" ? "" : ` ${also}`})`;
}

function detail(expression: string, text: string, label: string): string {
  return `label_replace(${expression}, "detail", "${text}", "${label}", "(.+)")`;
}

/** Adds to the detail the appliance from which it was seen. */
function from(label: string, expression: string): string {
  return `label_join(${expression}, "detail", " from ", "${label}", "appliance")`;
}

function at(label: string, expression: string): string {
  return `label_replace(${expression}, "place", "$1", "${label}", "(.+)")`;
}

function atGroup(expression: string): string {
  return `label_join(${expression}, "place", " vhid ", "vip", "vhid")`;
}

function atWebsite(expression: string): string {
  return `label_join(${expression}, "place", " ", "website", "protocol")`;
}
