import { EXPORTER_STATE, EXPORTER_STATES, ofExporters, withVersion } from "../expressions.ts";
import { graph, table, timeline, valueMap, type Line, type Row } from "../panels.ts";

function line(expression: string, what = ""): Line {
  return { expr: ofExporters(expression), legend: `{{instance}} ${what}`.trim() };
}

const EMPTY = "Empty while no exporter is scraped.";

export const EXPORTER: Row = {
  id: 500,
  title: "The exporter itself",
  collapsed: true,
  size: [8, 8],
  panels: [
    timeline({
      size: [24, 6],
      title: "State of each exporter",
      description:
        "Whether the last load of the configuration succeeded. If it was refused, the previous one is still in use. “not scraped”: it was scraped within the range. Empty if no exporter was.",
      runbook: "ApplianceExporterReloadFailed",
      expr: EXPORTER_STATE,
      legend: "{{instance}}",
      mappings: [valueMap(EXPORTER_STATES)],
    }),
    table({
      size: [24, 6],
      title: "Exporters now",
      description: `Version, enabled appliances, last successful load of the configuration, and start. ${EMPTY}`,
      runbook: "ApplianceExporterDown",
      queries: [
        withVersion("appliance_exporter_build_info"),
        withVersion("appliance_exporter_appliances"),
        withVersion("1000 * appliance_exporter_config_last_reload_success_timestamp_seconds"),
        withVersion("1000 * process_start_time_seconds"),
      ],
      sortBy: "Exporter",
      emptyText: "No exporter is known",
      columns: [
        { of: "instance", title: "Exporter" },
        { of: "job", title: "Job" },
        { of: "version", title: "Version" },
        { of: "nodeversion", title: "Node.js" },
        { of: 1, title: "Appliances" },
        { of: 2, title: "Configured", unit: "dateTimeFromNow" },
        { of: 3, title: "Started", unit: "dateTimeFromNow" },
      ],
    }),
    graph({
      title: "Memory",
      description: `Resident memory, and the used heap within it. ${EMPTY}`,
      unit: "bytes",
      lines: [line("process_resident_memory_bytes", "resident"), line("nodejs_heap_size_used_bytes", "heap")],
    }),
    graph({
      runbook: "AppliancePollsLate",
      title: "CPU",
      description: `Share of one core. Polling runs on one thread, so the limit is near 100 %. ${EMPTY}`,
      unit: "percentunit",
      lines: [line("rate(process_cpu_seconds_total[$__rate_interval])")],
    }),
    graph({
      runbook: "AppliancePollsLate",
      title: "Event loop lag",
      description: `Lag of the event loop since the last scrape: 99th percentile and maximum. ${EMPTY}`,
      unit: "s",
      lines: [
        line("nodejs_eventloop_lag_p99_seconds", "99 %"),
        line("nodejs_eventloop_lag_max_seconds", "max"),
      ],
    }),
    graph({
      runbook: "AppliancePollsLate",
      title: "Polls in flight",
      description: `Polls in flight at the scrape. ${EMPTY}`,
      unit: "none",
      decimals: 0,
      lines: [line("appliance_exporter_polls_in_flight")],
    }),
    graph({
      runbook: "AppliancePollsLate",
      title: "Skipped polls",
      description: `Skipped polls per second. overlap: the previous one was in flight; backoff: the appliance is in backoff; missed: the process was blocked. ${EMPTY}`,
      unit: "cps",
      lines: [line("rate(appliance_exporter_polls_skipped_total[$__rate_interval])", "{{reason}}")],
    }),
    graph({
      title: "Log lines dropped",
      description: `Log lines per second that were dropped because nothing read them. ${EMPTY}`,
      unit: "cps",
      lines: [line("rate(appliance_exporter_log_messages_dropped_total[$__rate_interval])")],
    }),
    graph({
      title: "Duration of scrapes",
      description: `How long Prometheus takes to read /metrics. ${EMPTY}`,
      runbook: "ApplianceExporterDown",
      unit: "s",
      lines: [line("scrape_duration_seconds")],
    }),
    graph({
      title: "Samples scraped",
      description: `Samples per scrape; none if a limit of Prometheus refuses the scrape. ${EMPTY}`,
      runbook: "ApplianceExporterDown",
      unit: "short",
      lines: [line("scrape_samples_scraped")],
    }),
    graph({
      title: "Open files",
      description: `Open file descriptors, and their limit. ${EMPTY}`,
      unit: "none",
      decimals: 0,
      lines: [line("process_open_fds", "open"), line("process_max_fds", "limit")],
    }),
  ],
};
