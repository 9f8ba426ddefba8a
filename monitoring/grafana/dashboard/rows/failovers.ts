import { IN_CLUSTER } from "../expressions.ts";
import { COLOR, table, timeline, type Row } from "../panels.ts";

/** `incident`: the id of its page, `/?incident=ID`. */
const FAILOVER = "ha_cluster, from, to, cause, incident";

export const FAILOVERS: Row = {
  title: "Failovers",
  collapsed: false,
  panels: [
    table({
      title: "Failovers in the last week",
      description:
        "How often another appliance took over, by cause; the way back is a failover too. If exporters differ, the highest number counts. Empty if there was none, and while no exporter is scraped.",
      queries: [
        `round(max by (ha_cluster, cause) (increase(ha_cluster_failovers_total{${IN_CLUSTER}}[7d]))) > 0`,
      ],
      sortBy: "Failovers",
      emptyText: "No failover is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "cause", title: "Cause" },
        { of: 0, title: "Failovers" },
      ],
    }),
    table({
      title: "Failovers within the range",
      description:
        "Who took over from whom, when that was seen, within a minute, and why. The incident is on the status page under /?incident=. Empty if there was no failover.",
      queries: [
        `1000 * min by (${FAILOVER}) (min_over_time(timestamp(ha_cluster_failover_info{${IN_CLUSTER}})[$__range:1m]))`,
      ],
      sortBy: "Seen",
      emptyText: "No failover is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "to", title: "Master" },
        { of: "from", title: "Before" },
        { of: "cause", title: "Cause" },
        { of: 0, title: "Seen", unit: "dateTimeFromNow" },
        { of: "incident", title: "Incident" },
      ],
    }),
    timeline({
      title: "Planned work",
      description:
        "When a window of planned work muted alerts of a cluster, or of an appliance in it, as any exporter says. What will come, why and by whom are on the status page. Empty if there was none, and while no exporter is scraped.",
      expr: `max by (ha_cluster, appliance) (ha_cluster_planned{${IN_CLUSTER}})`,
      legend: "{{ha_cluster}} {{appliance}}",
      states: [{ value: 1, text: "planned work", color: COLOR.standby }],
    }),
  ],
};
