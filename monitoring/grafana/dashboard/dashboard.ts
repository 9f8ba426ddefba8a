import {
  ConstantVariableBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  defaultDashboard,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
  type AnnotationQuery,
  type Panel,
  type RowPanel as GrafanaRow,
  type VariableModel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { GROUP, IN_CLUSTER, MEMBER, OF_APPLIANCE } from "./expressions.ts";
import { COLOR, DATASOURCE, runbookLink, STATUS_LINK, type Row } from "./panels.ts";
import { EXPORTER } from "./rows/exporter.ts";
import { OVERVIEW } from "./rows/overview.ts";
import { POLLING } from "./rows/polling.ts";
import { VRRP } from "./rows/vrrp.ts";
import { WEBSITES } from "./rows/websites.ts";

const GRID_WIDTH = 24;
const MASTER = `vrrp_group_master{${IN_CLUSTER}}`;

/** The master of each group that had another one within five minutes. */
const FAILOVER = `group by (${MEMBER}) (${MASTER})
and on (${GROUP}) count by (${GROUP}) (group by (${MEMBER}) (${MASTER})) == 1
and on (${GROUP}) count by (${GROUP}) (group by (${MEMBER}) (max_over_time(${MASTER}[5m]))) > 1`;

/** The dashboard as JSON. It is the same at each call. */
export function formatDashboard(): string {
  const dashboard = {
    ...defaultDashboard(),
    id: null,
    uid: "appliance-exporter",
    title: "Appliances: VRRP and websites",
    description:
      "What appliance-exporter knows about clusters of network appliances. Unknown is never shown as good.",
    tags: ["appliance-exporter"],
    graphTooltip: DashboardCursorSync.Crosshair,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    templating: { list: variables() },
    annotations: { list: annotations() },
    links: [STATUS_LINK, runbookLink()],
    panels: layOut([OVERVIEW, VRRP, WEBSITES, POLLING, EXPORTER]),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

/** Places rows below each other. Grafana keeps the panels of a collapsed row within it. */
function layOut(rows: readonly Row[]): (Panel | GrafanaRow)[] {
  let y = 0;
  return rows.flatMap((row) => {
    const { id, title, collapsed } = row;
    const gridPos = { x: 0, y, w: GRID_WIDTH, h: 1 };
    const { placed, end } = place(row, y + 1);
    y = collapsed ? y + 1 : end;
    const head = { type: "row", id, title, collapsed, gridPos, panels: collapsed ? placed : [] } as const;
    return collapsed ? [head] : [head, ...placed];
  });
}

/** Places panels from left to right. A line is as high as its highest panel. */
function place(row: Row, top: number) {
  const placed: Panel[] = [];
  let [x, y, height] = [0, top, 0];
  for (const [index, { panel, size = row.size }] of row.panels.entries()) {
    const [w, h] = size;
    if (x + w > GRID_WIDTH) [x, y, height] = [0, y + height, 0];
    placed.push({ id: row.id + index + 1, ...panel, gridPos: { x, y, w, h } });
    x += w;
    height = Math.max(height, h);
  }
  return { placed, end: y + height };
}

/** In the order in which they depend on each other. */
function variables(): VariableModel[] {
  const tested = `appliance_poll_success{${OF_APPLIANCE}, operation="website_test"}`;
  return [
    new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus").build(),
    labelValues("cluster", "Cluster", "appliance_up", "ha_cluster"),
    labelValues("appliance", "Appliance", `appliance_up{${IN_CLUSTER}}`, "appliance"),
    labelValues("website", "Website", tested, "website"),
    constant(
      "runbook_url",
      "https://appliance-exporter.example/docs/runbook.md",
      "The URL of docs/runbook.md.",
    ),
    constant(
      "status_url",
      "http://localhost:10849/",
      "The URL of the exporter's status page, as browsers reach it.",
    ),
  ];
}

/** Several values, or all. All is a pattern, so that it includes what appears later. */
function labelValues(name: string, title: string, series: string, label: string): VariableModel {
  const query = `label_values(${series}, ${label})`;
  return new QueryVariableBuilder(name)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, refId: `variable-${name}` })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(".*")
    .current({ selected: true, text: ["All"], value: ["$__all"] })
    .build();
}

/** Not taken from the dashboard's URL: otherwise a link to the dashboard could lead to a foreign runbook. */
function constant(name: string, value: string, description: string): VariableModel {
  const built = new ConstantVariableBuilder(name).description(description).value(value).build();
  return { ...built, skipUrlSync: true };
}

function annotations(): AnnotationQuery[] {
  const reload = "appliance_exporter_config_last_reload";
  return [
    annotation("Failovers", COLOR.warning, FAILOVER, {
      titleFormat: "Failover of {{vip}} in {{ha_cluster}}",
      textFormat: "{{appliance}} is master; another member was less than five minutes before",
    }),
    annotation("Configuration loaded", COLOR.standby, `1000 * ${reload}_success_timestamp_seconds`, {
      titleFormat: "Configuration loaded",
      textFormat: "by {{instance}}",
      useValueForTime: true,
    }),
    annotation("Configuration refused", COLOR.bad, `${reload}_successful == bool 0`, {
      titleFormat: "Configuration refused",
      textFormat: "by {{instance}}; the previous one is still in use",
    }),
  ];
}

/** An event wherever the value of the query is above 0. Values at neighboring steps are one event. */
function annotation(
  name: string,
  iconColor: string,
  expr: string,
  text: Pick<AnnotationQuery, "titleFormat" | "textFormat" | "useValueForTime">,
): AnnotationQuery {
  const target = new DataqueryBuilder()
    .refId("Anno")
    .datasource(DATASOURCE)
    .expr(expr)
    .interval("15s")
    .range();
  return { name, datasource: DATASOURCE, enable: true, iconColor, target: target.build(), ...text };
}
