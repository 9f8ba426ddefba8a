import type { Builder, Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import type { DashboardLink, Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import {
  DataqueryBuilder,
  PromQueryFormat,
  QueryEditorMode,
} from "@grafana/grafana-foundation-sdk/prometheus";
import { DATASOURCE } from "./datasource.ts";
import type { Size } from "./layout.ts";
import { runbookLink, STATUS_LINK } from "./links.ts";

/** What every panel has, whatever its kind. */
export interface PanelText extends Size {
  /** Never changes, so that links to a panel go on working. */
  readonly id: number;
  readonly title: string;
  /** What it shows, and when it is empty. */
  readonly description: string;
  /** The runbook's section about it; default: the whole runbook. */
  readonly runbook?: string;
}

/** A panel and how large it is; where it stands is not its own affair. */
export interface SizedPanel extends Size {
  readonly panel: Panel;
}

export interface Row {
  readonly id: number;
  readonly title: string;
  /** A collapsed row asks nothing of Prometheus until it is opened. */
  readonly collapsed: boolean;
  readonly panels: readonly SizedPanel[];
}

export function sized(
  { id, title, description, runbook, width, height }: PanelText,
  kind: Builder<Panel>,
): SizedPanel {
  const links: DashboardLink[] = [runbookLink(runbook), STATUS_LINK];
  return { width, height, panel: { ...kind.build(), id, title, description, datasource: DATASOURCE, links } };
}

/** A series over time; its name in the legend is made of labels: `{{ha_cluster}} {{vip}}`. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

export function rangeQueries(lines: readonly Line[]): Builder<Dataquery>[] {
  return lines.map(({ expr, legend }, index) => query(index, expr).range().legendFormat(legend));
}

/** As things are at the end of the range. */
export function instantQueries(lines: readonly Line[]): Builder<Dataquery>[] {
  return lines.map(({ expr, legend }, index) => query(index, expr).instant().legendFormat(legend));
}

/** As things are at the end of the range, with a column for each label. */
export function tableQueries(exprs: readonly string[]): Builder<Dataquery>[] {
  return exprs.map((expr, index) => query(index, expr).instant().format(PromQueryFormat.Table));
}

/** `A` for the first query of a panel. */
export function refIdOf(index: number): string {
  return String.fromCodePoint(65 + index);
}

function query(index: number, expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(refIdOf(index))
    .datasource(DATASOURCE)
    .editorMode(QueryEditorMode.Code)
    .expr(expr);
}
