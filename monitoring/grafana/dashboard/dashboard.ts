import {
  DashboardCursorSync,
  DashboardLinkType,
  DatasourceVariableBuilder,
  defaultDashboard,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
  type DashboardLink,
  type Panel,
  type RowPanel as GrafanaRow,
  type VariableModel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { AT_SITE, IN_CLUSTER, OF_APPLIANCE } from "./expressions.ts";
import { COLOR, DATASOURCE, type Row } from "./panels.ts";
import { EXPORTER } from "./rows/exporter.ts";
import { FAILOVERS } from "./rows/failovers.ts";
import { OVERVIEW } from "./rows/overview.ts";
import { POLLING } from "./rows/polling.ts";
import { READINESS } from "./rows/readiness.ts";
import { VRRP } from "./rows/vrrp.ts";
import { WEBSITES } from "./rows/websites.ts";

const GRID_WIDTH = 24;

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
    annotations: { list: [failovers()] },
    links: [link("Status page", "${exporter_url}/"), link("Runbook", "${exporter_url}/runbook")],
    panels: layOut([OVERVIEW, VRRP, FAILOVERS, READINESS, WEBSITES, POLLING, EXPORTER]),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

/** Numbers rows and panels, and places them below each other. Grafana keeps the panels of a collapsed row within it. */
function layOut(rows: readonly Row[]): (Panel | GrafanaRow)[] {
  let [id, y] = [0, 0];
  return rows.flatMap(({ title, collapsed, panels }): (Panel | GrafanaRow)[] => {
    const gridPos = { x: 0, y, w: GRID_WIDTH, h: 1 };
    const row = { type: "row" as const, id: ++id, title, collapsed, gridPos };
    y += 1;
    let x = 0;
    const placed = panels.map((panel): Panel => {
      const { w, h } = panel.gridPos ?? gridPos;
      const at = { x, y, w, h };
      x = (x + w) % GRID_WIDTH;
      if (x === 0) y += h;
      return { ...panel, id: ++id, gridPos: at };
    });
    return collapsed ? [{ ...row, panels: placed }] : [{ ...row, panels: [] }, ...placed];
  });
}

/** In the order in which they depend on each other. */
function variables(): VariableModel[] {
  const tested = `appliance_poll_success{${OF_APPLIANCE}, operation="website_test"}`;
  return [
    new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus").build(),
    labelValues("site", "Site", "appliance_up", "site"),
    labelValues("cluster", "Cluster", `appliance_up{${AT_SITE}}`, "ha_cluster"),
    labelValues("appliance", "Appliance", `appliance_up{${IN_CLUSTER}}`, "appliance"),
    labelValues("website", "Website", tested, "website"),
    exporterUrl(),
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

/**
 * Where links lead: the URLs that exporters are configured with, or else those at which Prometheus scrapes them. Not taken from the
 * dashboard's URL: otherwise a link to the dashboard could lead to a foreign runbook.
 */
function exporterUrl(): VariableModel {
  const [known, unknown] = ["!=", "="].map(
    (is) => `appliance_exporter_external_url_info{external_url${is}""}`,
  );
  const scraped = `label_replace(${unknown}, "external_url", "http://$1", "instance", "(.+)")`;
  const query = `query_result(group by (external_url) (${known} or (${scraped} unless on () ${known})))`;
  const variable = new QueryVariableBuilder("exporter_url")
    .label("Links lead to")
    .datasource(DATASOURCE)
    .query({ query, refId: "variable-exporter_url" })
    .definition(query)
    .regex('/external_url="(https?:[^"]+)"/')
    .refresh(VariableRefresh.OnDashboardLoad)
    .build();
  return { ...variable, skipUrlSync: true };
}

function link(title: string, url: string): DashboardLink {
  return {
    title,
    url,
    type: DashboardLinkType.Link,
    icon: "external link",
    tooltip: "",
    tags: [],
    asDropdown: false,
    targetBlank: true,
    includeVars: false,
    keepTime: false,
  };
}

/** An event wherever the query has a value. Values at neighboring steps are one event. */
function failovers() {
  const target = new DataqueryBuilder()
    .refId("Anno")
    .datasource(DATASOURCE)
    .expr(`group by (ha_cluster, from, to, cause) (ha_cluster_failover_info{${IN_CLUSTER}})`)
    .interval("15s")
    .range();
  return {
    name: "Failovers",
    datasource: DATASOURCE,
    enable: true,
    iconColor: COLOR.warning,
    target: target.build(),
    titleFormat: "{{to}} took over from {{from}} in {{ha_cluster}}: {{cause}}",
    textFormat: "A failover is shown for five minutes",
  };
}
