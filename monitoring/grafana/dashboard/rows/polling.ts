import { graph } from "../graph.ts";
import { rangeMap } from "../mappings.ts";
import { PALETTE } from "../palette.ts";
import type { Line, Row } from "../panel.ts";
import { APPLIANCE, OF_APPLIANCE, OPERATION } from "../promql.ts";
import { RUNBOOK } from "../runbook.ts";
import { table } from "../table.ts";

const WHOLE_FLEET = "Of all appliances of all exporters together, whatever is chosen above.";
const DAY_SECONDS = 86_400;

export const POLLING: Row = {
  id: 400,
  title: "Polling",
  collapsed: true,
  panels: [
    table({
      id: 401,
      width: 24,
      height: 8,
      title: "Polls that fail now",
      description:
        "Every operation whose latest poll failed, and why; docs/metrics.md explains the reasons. Last success: empty if there was none since the exporter knows the appliance. With several exporters it is enough that one fails. Empty when all polls succeed, and while no exporter is scraped.",
      runbook: RUNBOOK.applianceDown,
      queries: [
        `group by (${OPERATION}, reason) (appliance_poll_failure_info{${OF_APPLIANCE}})`,
        `1000 * min by (${OPERATION}, reason) (
  appliance_poll_failure_info{${OF_APPLIANCE}} * ignoring (reason) group_left appliance_last_success_timestamp_seconds{${OF_APPLIANCE}}
)`,
      ],
      sortBy: "Reason",
      emptyText: "No failing poll is known",
      columns: [
        { of: "reason", title: "Reason", width: 140 },
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        { of: "operation", title: "Operation" },
        { of: "website", title: "Website" },
        { of: 1, title: "Last success", unit: "dateTimeFromNow" },
      ],
    }),
    graph({
      id: 402,
      width: 12,
      height: 9,
      title: "Failing operations by reason",
      description:
        "How many operations of the chosen appliances were failing, by reason. Empty where none was, and while no exporter is scraped.",
      runbook: RUNBOOK.applianceDown,
      unit: "none",
      decimals: 0,
      style: "bars",
      lines: [
        {
          expr: `count by (reason) (group by (${OPERATION}, reason) (appliance_poll_failure_info{${OF_APPLIANCE}}))`,
          legend: "{{reason}}",
        },
      ],
    }),
    graph({
      id: 403,
      width: 12,
      height: 9,
      title: "Failed polls by reason",
      description: `Failed polls a second, by operation and reason; those without any are left out. ${WHOLE_FLEET} Empty where none failed, and while no exporter is scraped.`,
      runbook: RUNBOOK.applianceDown,
      unit: "cps",
      lines: [
        {
          expr: "sum by (operation, reason) (rate(appliance_exporter_poll_failures_total[$__rate_interval])) > 0",
          legend: "{{operation}} {{reason}}",
        },
      ],
    }),
    graph({
      id: 404,
      width: 12,
      height: 9,
      title: "Duration of polls",
      description: `How long polls take, from name look-up to last byte: the median and the slowest hundredth. ${WHOLE_FLEET} Empty while nothing is polled, and while no exporter is scraped.`,
      runbook: RUNBOOK.late,
      unit: "s",
      lines: quantiles("appliance_exporter_poll_duration_seconds"),
    }),
    graph({
      id: 405,
      width: 12,
      height: 9,
      title: "Lateness of polls",
      description: `How long after they were due polls start; waiting for a free slot counts. The median and the latest hundredth. ${WHOLE_FLEET} Empty while nothing is polled, and while no exporter is scraped.`,
      runbook: RUNBOOK.late,
      unit: "s",
      lines: quantiles("appliance_exporter_poll_lateness_seconds"),
    }),
    table({
      id: 406,
      width: 12,
      height: 9,
      title: "Slowest polls now",
      description:
        "The twenty operations of the chosen appliances whose latest poll took longest, failed ones included; with several exporters the slower. Empty while nothing is polled, and while no exporter is scraped.",
      runbook: RUNBOOK.late,
      queries: [`topk(20, max by (${OPERATION}) (appliance_poll_duration_seconds{${OF_APPLIANCE}}))`],
      sortBy: "Duration",
      descending: true,
      emptyText: "No poll is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        { of: "operation", title: "Operation" },
        { of: "website", title: "Website" },
        { of: 0, title: "Duration", unit: "s" },
      ],
    }),
    table({
      id: 407,
      width: 12,
      height: 9,
      title: "Certificates of the appliances",
      description:
        "When the certificate ends that each appliance presented last, trusted or not; the next to end comes first. An appliance that never presented one is not here. Empty while no exporter is scraped.",
      runbook: RUNBOOK.certificate,
      queries: [
        `min by (${APPLIANCE}) (appliance_tls_certificate_not_after_timestamp_seconds{${OF_APPLIANCE}}) - time()`,
        `1000 * min by (${APPLIANCE}) (appliance_tls_certificate_not_after_timestamp_seconds{${OF_APPLIANCE}})`,
      ],
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
            rangeMap(null, 0, { text: "ended", color: PALETTE.bad }),
            rangeMap(0, 14 * DAY_SECONDS, { color: PALETTE.warning }),
            rangeMap(14 * DAY_SECONDS, null, { color: PALETTE.good }),
          ],
        },
        { of: 1, title: "Ends", unit: "dateTimeAsIso" },
      ],
    }),
    graph({
      id: 408,
      width: 24,
      height: 8,
      title: "Deviations from the management API",
      description:
        "How often the latest VRRP list of each chosen appliance deviates from the API, by kind; bad_interface means that an interface is lost. Those without any are left out. Empty where none deviates, and while none is known.",
      runbook: RUNBOOK.anomalies,
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
