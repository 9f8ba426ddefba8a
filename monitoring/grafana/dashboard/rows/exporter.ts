import { EXPORTERS, ofExporters } from "../expressions.ts";
import { COLOR, graph, table, timeline, type Line, type Row, type State } from "../panels.ts";

function line(expression: string, what = ""): Line {
  return { expr: ofExporters(expression), legend: `{{instance}} ${what}`.trim() };
}

const STATES: readonly State[] = [
  { value: 1, text: "runs as configured", color: COLOR.good },
  { value: 0, text: "configuration invalid", color: COLOR.warning },
];
const EMPTY = "Empty while no exporter is scraped.";

export const EXPORTER: Row = {
  title: "The exporter itself",
  collapsed: true,
  panels: [
    timeline({
      title: "State of each exporter",
      description:
        "Whether the last load of the configuration succeeded; if not, the previous one is still in use. A gap: it was not scraped. Empty if no exporter was.",
      expr: `max by (${EXPORTERS}) (appliance_exporter_config_last_reload_successful)`,
      legend: "{{instance}}",
      states: STATES,
    }),
    table({
      title: "Exporters now",
      description: `Version, enabled appliances, last successful load of the configuration, start, and size of the journal if there is one. ${EMPTY}`,
      queries: [
        `group by (${EXPORTERS}, version, nodeversion) (appliance_exporter_build_info)`,
        `max by (${EXPORTERS}) (appliance_exporter_appliances)`,
        `1000 * max by (${EXPORTERS}) (appliance_exporter_config_last_reload_success_timestamp_seconds)`,
        `1000 * max by (${EXPORTERS}) (${ofExporters("process_start_time_seconds")})`,
        `max by (${EXPORTERS}) (appliance_exporter_storage_bytes)`,
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
        { of: 4, title: "Journal", unit: "bytes" },
      ],
    }),
    graph({
      title: "CPU",
      description: `Share of one core. Polling runs on one thread, so the limit is near 100 %. ${EMPTY}`,
      unit: "percentunit",
      lines: [line("rate(process_cpu_seconds_total[$__rate_interval])")],
    }),
    graph({
      title: "Memory",
      description: `Resident memory, and the used heap within it. ${EMPTY}`,
      unit: "bytes",
      lines: [line("process_resident_memory_bytes", "resident"), line("nodejs_heap_size_used_bytes", "heap")],
    }),
    graph({
      title: "Skipped polls",
      description: `Skipped polls per second. overlap: the previous one was in flight; backoff: the appliance is in backoff; missed: the process was blocked. ${EMPTY}`,
      unit: "cps",
      lines: [
        line(
          "sum by (job, instance, reason) (rate(appliance_exporter_polls_skipped_total[$__rate_interval]))",
          "{{reason}}",
        ),
      ],
    }),
  ],
};
