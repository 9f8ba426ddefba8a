import {
  DashboardCursorSync,
  defaultDashboard,
  type Dashboard,
  type Panel,
  type RowPanel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { annotations } from "./annotations.ts";
import { layOut, type PlacedRow } from "./layout.ts";
import { runbookLink, STATUS_LINK } from "./links.ts";
import type { Row, SizedPanel } from "./panel.ts";
import { EXPORTER } from "./rows/exporter.ts";
import { OVERVIEW } from "./rows/overview.ts";
import { POLLING } from "./rows/polling.ts";
import { VRRP } from "./rows/vrrp.ts";
import { WEBSITES } from "./rows/websites.ts";
import { variables } from "./variables.ts";

const ROWS: readonly Row[] = [OVERVIEW, VRRP, WEBSITES, POLLING, EXPORTER];

/** The dashboard as it is imported; the same at each call. */
function dashboard(): Dashboard {
  return {
    ...defaultDashboard(),
    id: null,
    uid: "appliance-exporter",
    title: "Appliances: VRRP and websites",
    description:
      "What appliance-exporter knows of clusters of network appliances; what it does not know is never shown as good.",
    tags: ["appliance-exporter"],
    graphTooltip: DashboardCursorSync.Crosshair,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    templating: { list: [...variables()] },
    annotations: { list: [...annotations()] },
    links: [STATUS_LINK, runbookLink()],
    panels: panels(),
  };
}

/** What is committed beside this folder. */
export function formatDashboard(): string {
  return `${JSON.stringify(dashboard(), undefined, 2)}\n`;
}

function panels(): (Panel | RowPanel)[] {
  const placed = layOut(ROWS);
  return ROWS.flatMap((row, index) => {
    const place = placed[index];
    return place === undefined ? [] : rowAndPanels(row, place);
  });
}

/** Grafana keeps the panels of a collapsed row within it, and those of an open row after it. */
function rowAndPanels({ id, title, collapsed }: Row, { gridPos, panels: placed }: PlacedRow<SizedPanel>) {
  const own = placed.map(({ panel: { panel }, gridPos: at }) => ({ ...panel, gridPos: at }));
  const row: RowPanel = { type: "row", id, title, collapsed, gridPos, panels: collapsed ? own : [] };
  return collapsed ? [row] : [row, ...own];
}
