import { EXPORTER_STATE, EXPORTER_STATES, ofExporters, withVersion } from "../exporters.ts";
import { graph } from "../graph.ts";
import { valueMap } from "../mappings.ts";
import type { Line, Row } from "../panel.ts";
import { RUNBOOK } from "../runbook.ts";
import { table } from "../table.ts";
import { timeline } from "../timeline.ts";

function line(expression: string, what = ""): Line {
  return { expr: ofExporters(expression), legend: `{{instance}} ${what}`.trim() };
}

const EMPTY = "Empty while no exporter is scraped.";
const THIRD = { width: 8, height: 8 } as const;

export const EXPORTER: Row = {
  id: 500,
  title: "The exporter itself",
  collapsed: true,
  panels: [
    timeline({
      id: 501,
      width: 24,
      height: 6,
      title: "State of each exporter",
      description:
        "Whether the last attempt to load the configuration succeeded; where it was refused, the one before still runs. “not scraped” if it was within the range that is shown; a gap where Prometheus does not even try. Empty where no exporter was scraped within the range.",
      runbook: RUNBOOK.reloadFailed,
      expr: EXPORTER_STATE,
      legend: "{{instance}}",
      mappings: [valueMap(EXPORTER_STATES)],
    }),
    table({
      id: 502,
      width: 24,
      height: 6,
      title: "Exporters now",
      description: `Version, enabled appliances, and when each exporter last took a configuration and was started. ${EMPTY}`,
      runbook: RUNBOOK.exporterDown,
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
      id: 503,
      ...THIRD,
      title: "Memory",
      description: `Resident memory, and the heap in use within it. ${EMPTY}`,
      unit: "bytes",
      lines: [line("process_resident_memory_bytes", "resident"), line("nodejs_heap_size_used_bytes", "heap")],
    }),
    graph({
      id: 504,
      ...THIRD,
      title: "CPU",
      description: `Share of one core; polling runs on one thread, so near 100 % is the limit. ${EMPTY}`,
      runbook: RUNBOOK.late,
      unit: "percentunit",
      lines: [line("rate(process_cpu_seconds_total[$__rate_interval])")],
    }),
    graph({
      id: 505,
      ...THIRD,
      title: "Event loop lag",
      description: `How late the event loop was since the last scrape: the latest hundredth, and the worst. ${EMPTY}`,
      runbook: RUNBOOK.late,
      unit: "s",
      lines: [
        line("nodejs_eventloop_lag_p99_seconds", "99 %"),
        line("nodejs_eventloop_lag_max_seconds", "max"),
      ],
    }),
    graph({
      id: 506,
      ...THIRD,
      title: "Polls in flight",
      description: `Polls under way when the exporter was scraped. ${EMPTY}`,
      runbook: RUNBOOK.late,
      unit: "none",
      decimals: 0,
      lines: [line("appliance_exporter_polls_in_flight")],
    }),
    graph({
      id: 507,
      ...THIRD,
      title: "Skipped polls",
      description: `Polls a second that were due and not made: the one before was under way (overlap), the appliance rests (backoff), the process was blocked (missed). ${EMPTY}`,
      runbook: RUNBOOK.late,
      unit: "cps",
      lines: [line("rate(appliance_exporter_polls_skipped_total[$__rate_interval])", "{{reason}}")],
    }),
    graph({
      id: 508,
      ...THIRD,
      title: "Log lines dropped",
      description: `Log lines a second that were lost because nobody took them. ${EMPTY}`,
      unit: "cps",
      lines: [line("rate(appliance_exporter_log_messages_dropped_total[$__rate_interval])")],
    }),
    graph({
      id: 509,
      ...THIRD,
      title: "Duration of scrapes",
      description: `How long Prometheus takes to read /metrics. ${EMPTY}`,
      runbook: RUNBOOK.exporterDown,
      unit: "s",
      lines: [line("scrape_duration_seconds")],
    }),
    graph({
      id: 510,
      ...THIRD,
      title: "Samples scraped",
      description: `How many samples a scrape brings; those that a scrape's limit refuses come to none. ${EMPTY}`,
      runbook: RUNBOOK.exporterDown,
      unit: "short",
      lines: [line("scrape_samples_scraped")],
    }),
    graph({
      id: 511,
      ...THIRD,
      title: "Open files",
      description: `File descriptors in use, and how many the process may have. ${EMPTY}`,
      unit: "none",
      decimals: 0,
      lines: [line("process_open_fds", "open"), line("process_max_fds", "limit")],
    }),
  ],
};
