import { EXPORTER_GONE } from "./exporters.ts";
import { MASTER_KNOWN, MASTER_UNKNOWN, NO_BACKUP, NO_MASTER, SPLIT_BRAIN } from "./groups.ts";
import {
  APPLIANCE,
  firstOf,
  GROUP,
  IN_CLUSTER,
  OF_APPLIANCE,
  OF_WEBSITE,
  seenInRange,
  VIEW,
  WEBSITE,
  withLabel,
} from "./promql.ts";
import { RUNBOOK } from "./runbook.ts";
import { DOWN, UP } from "./websites.ts";

interface Fault {
  /** Worst first. 10 to 19: critical, 20 to 29: a warning, 30 to 39: worth knowing. */
  readonly rank: number;
  readonly words: string;
  readonly runbook: string;
  /** Has a value for each thing that is at fault, named by the labels `ha_cluster`, `place` and `detail`. */
  readonly when: string;
}

const COLUMNS = "ha_cluster, fault, place, detail, runbook";
const CERTIFICATE_END = `min by (${APPLIANCE}) (appliance_tls_certificate_not_after_timestamp_seconds{${OF_APPLIANCE}})`;

const FAULTS: readonly Fault[] = [
  {
    rank: 10,
    words: "nothing is known: no exporter reports an appliance",
    runbook: RUNBOOK.exporterDown,
    when: `absent(appliance_up{${OF_APPLIANCE}})`,
  },
  {
    rank: 11,
    words: "split brain: more than one master",
    runbook: RUNBOOK.splitBrain,
    when: atGroup(
      detail(
        `count_values by (${GROUP}) ("masters", max by (${GROUP}) (${SPLIT_BRAIN}))`,
        "$1 masters",
        "masters",
      ),
    ),
  },
  {
    rank: 12,
    words: "no master: nobody has the address",
    runbook: RUNBOOK.noMaster,
    when: atGroup(`group by (${GROUP}) (${NO_MASTER})`),
  },
  {
    rank: 13,
    words: "master unknown: a member does not answer",
    runbook: RUNBOOK.masterUnknown,
    when: atGroup(`group by (${GROUP}) (${MASTER_UNKNOWN}) unless on (${GROUP}) (${MASTER_KNOWN})`),
  },
  {
    rank: 14,
    words: "appliance cannot be polled",
    runbook: RUNBOOK.applianceDown,
    when: at(
      "appliance",
      detail(
        `group by (${APPLIANCE}, reason) (appliance_poll_failure_info{${OF_APPLIANCE}, operation="vrrp"})`,
        "$1",
        "reason",
      ),
    ),
  },
  {
    rank: 15,
    words: "website down, seen from every appliance that can tell",
    runbook: RUNBOOK.websiteDown,
    when: atWebsite(
      detail(
        `count_values by (${WEBSITE}) ("status", max by (${WEBSITE}) (${DOWN}) unless on (${WEBSITE}) ${UP})`,
        "status $1",
        "status",
      ),
    ),
  },
  {
    rank: 16,
    words: "exporter cannot be scraped",
    runbook: RUNBOOK.exporterDown,
    when: at("instance", EXPORTER_GONE),
  },
  {
    rank: 21,
    words: "website down, seen from some appliances and not from others",
    runbook: RUNBOOK.websiteDown,
    when: atWebsite(
      `label_join(${detail(
        `count_values by (${VIEW}) ("status", max by (${VIEW}) (${DOWN}) and on (${WEBSITE}) ${UP})`,
        "status $1",
        "status",
      )}, "detail", " from ", "detail", "appliance")`,
    ),
  },
  {
    rank: 22,
    words: "no backup: nobody would take over",
    runbook: RUNBOOK.noBackup,
    when: atGroup(`group by (${GROUP}) (${NO_BACKUP})`),
  },
  {
    rank: 23,
    words: "website cannot be tested",
    runbook: RUNBOOK.websiteUnknown,
    when: at(
      "website",
      `label_join(appliance_poll_failure_info{${OF_WEBSITE}, operation="website_test", reason!="appliance_down"},
"detail", " from ", "reason", "appliance")`,
    ),
  },
  {
    rank: 24,
    words: "appliance not polled yet",
    runbook: RUNBOOK.applianceDown,
    when: at(
      "appliance",
      `appliance_polls_total{${OF_APPLIANCE}, operation="vrrp"} unless on (${APPLIANCE}) appliance_up`,
    ),
  },
  {
    rank: 25,
    words: "appliance no longer reported: removed, or its exporter is not scraped",
    runbook: RUNBOOK.exporterDown,
    when: at(
      "appliance",
      `${seenInRange(APPLIANCE, `appliance_up{${OF_APPLIANCE}}`)} unless on (${APPLIANCE}) appliance_polls_total unless on (${APPLIANCE}) appliance_up`,
    ),
  },
  {
    rank: 26,
    words: "configuration refused: the one before still runs",
    runbook: RUNBOOK.reloadFailed,
    when: at("instance", "appliance_exporter_config_last_reload_successful == 0"),
  },
  {
    rank: 27,
    words: "certificate has ended, or ends within 14 days",
    runbook: RUNBOOK.certificate,
    when: at("appliance", `${CERTIFICATE_END} - time() < 14 * 86400`),
  },
  {
    rank: 31,
    words: "the preferred member is not the master",
    runbook: RUNBOOK.notPreferred,
    when: atGroup(`vrrp_group_preferred_master{${IN_CLUSTER}} == 0`),
  },
  {
    rank: 32,
    words: "the appliance's answer deviates from the management API",
    runbook: RUNBOOK.anomalies,
    when: at("appliance", detail(`appliance_api_anomalies{${OF_APPLIANCE}} > 0`, "$1", "anomaly")),
  },
];

/** A series for each fault there is now, in words; its value is the rank. */
export const FAULTS_NOW = firstOf(...FAULTS.map(rows));

function rows({ rank, words, runbook, when }: Fault): string {
  const labelled = withLabel(withLabel(when, "fault", words), "runbook", runbook);
  return `${rank} * group by (${COLUMNS}) (${labelled})`;
}

function detail(expression: string, text: string, label: string): string {
  return `label_replace(${expression}, "detail", "${text}", "${label}", "(.+)")`;
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
