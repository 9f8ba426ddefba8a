import { APPLIANCE, OF_APPLIANCE, OPERATION } from "../expressions.ts";
import { COLOR, graph, rangeMap, table, type Line, type Row } from "../panels.ts";

const FLEET = "Of all appliances of all exporters.";
const EMPTY = "Empty while nothing is polled or no exporter is scraped.";
const DAY_SECONDS = 86_400;
const CERTIFICATE_END = `min by (${APPLIANCE}) (appliance_tls_certificate_not_after_timestamp_seconds{${OF_APPLIANCE}})`;
const FAILURES = `group by (${OPERATION}, reason) (appliance_poll_failure_info{${OF_APPLIANCE}})`;

const OPERATION_COLUMNS = [
  { of: "ha_cluster", title: "Cluster" },
  { of: "appliance", title: "Appliance" },
  { of: "operation", title: "Operation" },
  { of: "website", title: "Website" },
] as const;

export const POLLING: Row = {
  id: 400,
  title: "Polling",
  collapsed: true,
  size: [12, 9],
  panels: [
    table({
      size: [24, 8],
      title: "Polls that fail now",
      description:
        "Every operation whose latest poll failed on some exporter, and the reason (see docs/metrics.md). Last success: empty if there was none. Empty if all polls succeed, and while no exporter is scraped.",
      runbook: "ApplianceDown",
      queries: [
        FAILURES,
        `1000 * min by (${OPERATION}, reason) (
  appliance_poll_failure_info{${OF_APPLIANCE}} * ignoring (reason) group_left appliance_last_success_timestamp_seconds{${OF_APPLIANCE}}
)`,
      ],
      sortBy: "Reason",
      emptyText: "No failing poll is known",
      columns: [
        { of: "reason", title: "Reason", width: 140 },
        ...OPERATION_COLUMNS,
        { of: 1, title: "Last success", unit: "dateTimeFromNow" },
      ],
    }),
    graph({
      title: "Failing operations by reason",
      description:
        "How many operations were failing, by reason. Empty if none, and while no exporter is scraped.",
      runbook: "ApplianceDown",
      unit: "none",
      decimals: 0,
      style: "bars",
      lines: [{ expr: `count by (reason) (${FAILURES})`, legend: "{{reason}}" }],
    }),
    graph({
      title: "Failed polls by reason",
      description: `Failed polls per second, by operation and reason. ${FLEET} Empty if none failed, and while no exporter is scraped.`,
      runbook: "ApplianceDown",
      unit: "cps",
      lines: [
        {
          expr: "sum by (operation, reason) (rate(appliance_exporter_poll_failures_total[$__rate_interval])) > 0",
          legend: "{{operation}} {{reason}}",
        },
      ],
    }),
    graph({
      title: "Duration of polls",
      description: `From name lookup to the last byte: median and 99th percentile. ${FLEET} ${EMPTY}`,
      runbook: "AppliancePollsLate",
      unit: "s",
      lines: quantiles("appliance_exporter_poll_duration_seconds"),
    }),
    graph({
      title: "Lateness of polls",
      description: `How late polls start, waiting for a slot included: median and 99th percentile. ${FLEET} ${EMPTY}`,
      runbook: "AppliancePollsLate",
      unit: "s",
      lines: quantiles("appliance_exporter_poll_lateness_seconds"),
    }),
    table({
      title: "Slowest polls now",
      description: `The 20 operations whose latest poll took longest, failed or not. ${EMPTY}`,
      runbook: "AppliancePollsLate",
      queries: [`topk(20, max by (${OPERATION}) (appliance_poll_duration_seconds{${OF_APPLIANCE}}))`],
      sortBy: "Duration",
      descending: true,
      emptyText: "No poll is known",
      columns: [...OPERATION_COLUMNS, { of: 0, title: "Duration", unit: "s" }],
    }),
    table({
      title: "Certificates of the appliances",
      description:
        "When the last certificate that each appliance presented expires, trusted or not. An appliance that never presented one is not listed. Empty while no exporter is scraped.",
      runbook: "ApplianceCertificateExpiring",
      queries: [`${CERTIFICATE_END} - time()`, `1000 * ${CERTIFICATE_END}`],
      sortBy: "Left",
      emptyText: "No certificate is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        {
          of: 0,
          title: "Left",
          unit: "s",
          mappings: [
            rangeMap(null, 0, { text: "expired", color: COLOR.bad }),
            rangeMap(0, 14 * DAY_SECONDS, { color: COLOR.warning }),
            rangeMap(14 * DAY_SECONDS, null, { color: COLOR.good }),
          ],
        },
        { of: 1, title: "Ends", unit: "dateTimeAsIso" },
      ],
    }),
    graph({
      size: [24, 8],
      title: "Deviations from the management API",
      description:
        "Deviations in the latest VRRP list of each appliance, by kind. bad_interface: an interface is missing. Empty if there are none.",
      runbook: "ApplianceApiAnomalies",
      unit: "none",
      decimals: 0,
      style: "bars",
      lines: [
        {
          expr: `max by (${APPLIANCE}, anomaly) (appliance_api_anomalies{${OF_APPLIANCE}}) > 0`,
          legend: "{{ha_cluster}} {{appliance}}: {{anomaly}}",
        },
      ],
    }),
  ],
};

function quantiles(histogram: string): readonly Line[] {
  const buckets = `sum by (operation, le) (rate(${histogram}_bucket[$__rate_interval]))`;
  return [0.5, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, ${buckets})`,
    legend: `{{operation}} ${quantile * 100} %`,
  }));
}
