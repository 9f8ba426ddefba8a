import { APPLIANCE, EXPORTERS, OF_APPLIANCE } from "../expressions.ts";
import { graph, table, type Line, type Row } from "../panels.ts";

const OPERATION = `${APPLIANCE}, operation, website_id, website`;
const FAILURE = `appliance_poll_failure_info{${OF_APPLIANCE}}`;
const EMPTY = "Of all appliances of all exporters. Empty while nothing is polled or no exporter is scraped.";

export const POLLING: Row = {
  title: "Polling",
  collapsed: true,
  panels: [
    table({
      title: "Polls that fail now",
      description:
        "Every operation whose latest poll failed on some exporter, and the reason (see docs/reference/metrics.md). Last success: empty if there was none. Empty if all polls succeed, and while no exporter is scraped.",
      queries: [
        `group by (${OPERATION}, reason) (${FAILURE})`,
        `1000 * min by (${OPERATION}, reason) (
  ${FAILURE} * on (${EXPORTERS}, ${OPERATION}) group_left appliance_last_success_timestamp_seconds{${OF_APPLIANCE}}
)`,
      ],
      sortBy: "Reason",
      emptyText: "No failing poll is known",
      columns: [
        { of: "reason", title: "Reason" },
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        { of: "operation", title: "Operation" },
        { of: "website", title: "Website" },
        { of: 1, title: "Last success", unit: "dateTimeFromNow" },
      ],
    }),
    graph({
      title: "Failed polls by reason",
      description: "Failed polls per second. Empty if none failed, and while no exporter is scraped.",
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
      description: `From name lookup to the last byte: median and 99th percentile. ${EMPTY}`,
      unit: "s",
      lines: quantiles("appliance_exporter_poll_duration_seconds"),
    }),
    graph({
      title: "Lateness of polls",
      description: `How late polls start, waiting for a slot included: median and 99th percentile. ${EMPTY}`,
      unit: "s",
      lines: quantiles("appliance_exporter_poll_lateness_seconds"),
    }),
    table({
      title: "Certificates of the appliances",
      description:
        "When the last certificate that each appliance presented expires, or one that signed it, trusted or not. Empty while no exporter is scraped.",
      queries: [
        `1000 * min by (${APPLIANCE}) (appliance_tls_chain_not_after_timestamp_seconds{${OF_APPLIANCE}})`,
      ],
      sortBy: "Expires",
      emptyText: "No certificate is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        { of: 0, title: "Expires", unit: "dateTimeFromNow" },
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
