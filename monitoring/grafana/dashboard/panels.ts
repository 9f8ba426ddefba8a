import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import * as common from "@grafana/grafana-foundation-sdk/common";
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  SpecialValueMatch,
  type DynamicConfigValue,
  type Panel,
  type ValueMapping,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatPanel } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimelinePanel } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TablePanel } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as GraphPanel } from "@grafana/grafana-foundation-sdk/timeseries";

/** The data source that is chosen above the dashboard. */
export const DATASOURCE = { type: "prometheus", uid: "${datasource}" };

/**
 * Colors that people with color blindness can tell apart. Each stands beside a text.
 *
 * @see https://jfly.uni-koeln.de/color/ (Okabe and Ito)
 */
export const COLOR = {
  good: "#0072B2",
  standby: "#56B4E9",
  warning: "#E69F00",
  bad: "#D55E00",
  unknown: "#8C8C8C",
} as const;

export interface Row {
  readonly title: string;
  /** A collapsed row runs no queries until it is opened. */
  readonly collapsed: boolean;
  readonly panels: readonly Panel[];
}

interface Options {
  readonly title: string;
  /** Says what the panel shows, and when it is empty. */
  readonly description: string;
}

/** `w` of 24: in units of Grafana's grid. */
function build(kind: Builder<Panel>, { title, description }: Options, w = 24, h = 9): Panel {
  return { ...kind.build(), title, description, datasource: DATASOURCE, gridPos: { x: 0, y: 0, w, h } };
}

/** A state in words and in a color. */
export interface State {
  readonly value: number | string;
  readonly text: string;
  readonly color: string;
}

function valueMap(states: readonly State[]): ValueMapping {
  const results = states.map(({ value, text, color }, index) => [value, { text, color, index }] as const);
  return { type: MappingType.ValueToText, options: Object.fromEntries(results) };
}

function query(expr: string, index = 0): DataqueryBuilder {
  return new DataqueryBuilder().refId(refId(index)).datasource(DATASOURCE).expr(expr);
}

/** `A` for the first query of a panel. */
function refId(index: number): string {
  return String.fromCodePoint(65 + index);
}

interface Tile extends Options {
  readonly expr: string;
  /** For any number above 0. */
  readonly color: string;
}

/** How many of something there are now; "not known" without an answer. */
export function tile({ expr, color, ...options }: Tile): Panel {
  const unknown = { text: "not known", color: COLOR.unknown };
  const kind = new StatPanel()
    .targets([query(expr).instant().legendFormat(options.title)])
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]).values(false))
    .colorMode(common.BigValueColorMode.BackgroundSolid)
    .graphMode(common.BigValueGraphMode.None)
    .noValue(unknown.text)
    .mappings([
      valueMap([{ value: 0, text: "none", color: COLOR.good }]),
      { type: MappingType.RangeToText, options: { from: 1, to: null, result: { color } } },
      { type: MappingType.SpecialValue, options: { match: SpecialValueMatch.NullAndNan, result: unknown } },
    ]);
  return build(kind, options, 4, 4);
}

const LEGEND = new common.VizLegendOptionsBuilder()
  .showLegend(true)
  .displayMode(common.LegendDisplayMode.List)
  .placement(common.LegendPlacement.Bottom);

/** A series over time. Its legend names labels: `{{ha_cluster}} {{vip}}`. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

interface Graph extends Options {
  readonly lines: readonly Line[];
  readonly unit: string;
}

/** Values over time, from 0 up. A series without a value is a gap. */
export function graph({ lines, unit, ...options }: Graph): Panel {
  const kind = new GraphPanel()
    .targets(lines.map(({ expr, legend }, index) => query(expr, index).range().legendFormat(legend)))
    .unit(unit)
    .min(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName))
    .spanNulls(false)
    .legend(LEGEND)
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi));
  return build(kind, options, 8, 8);
}

interface Timeline extends Options, Line {
  readonly states: readonly State[];
}

/** A row of states for each series. A series without a value is a gap, never the state before. */
export function timeline({ states, expr, legend, ...options }: Timeline): Panel {
  const kind = new TimelinePanel()
    .targets([query(expr).range().legendFormat(legend)])
    .mappings([valueMap(states)])
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .spanNulls(false)
    .legend(LEGEND);
  return build(kind, options);
}

interface Column {
  /** A label, or the index of the query whose value it shows. */
  readonly of: string | number;
  readonly title: string;
  readonly unit?: string;
  readonly decimals?: number;
  /** Words and colors for its values. The cell takes the color. */
  readonly states?: readonly State[];
  /** Where a click on a cell leads. The cluster's column leads to the cluster on the status page. */
  readonly link?: string;
}

const CLUSTER_LINK = "${exporter_url}/?cluster=${__value.raw:percentencode}";

interface Table extends Options {
  readonly queries: readonly string[];
  /** In this order. Other labels are hidden. */
  readonly columns: readonly Column[];
  /** The title of a column. */
  readonly sortBy: string;
  /** Shown instead of an empty table. */
  readonly emptyText: string;
}

/** A row for each label set at the end of the range. A cell without a value stays empty. */
export function table({ queries, columns, sortBy, emptyText, ...options }: Table): Panel {
  const kind = new TablePanel()
    .targets(queries.map((expr, index) => query(expr, index).instant().format(PromQueryFormat.Table)))
    .transformations(shape(queries.length, columns))
    .sortBy([new common.TableSortByFieldStateBuilder().displayName(sortBy)])
    .noValue(emptyText)
    // About how many samples Grafana requests of a subquery.
    .maxDataPoints(1000)
    // Otherwise each empty cell would show the text for an empty table.
    .overrideByRegexp("/.*/", [{ id: "noValue", value: "–" }])
    .filterable(true);
  for (const column of columns) kind.overrideByName(column.title, propertiesOf(column));
  return build(kind, options);
}

/** Merges the rows of several queries by their labels, then picks, orders and names the columns. */
function shape(queryCount: number, columns: readonly Column[]) {
  // The names that the data source gives to values.
  const nameOf = ({ of }: Column): string => {
    if (typeof of === "string") return of;
    return queryCount === 1 ? "Value" : `Value #${refId(of)}`;
  };
  const names = columns.map(nameOf);
  const indexByName = Object.fromEntries(names.map((name, index) => [name, index]));
  const renameByName = Object.fromEntries(columns.map((column) => [nameOf(column), column.title]));
  return [
    { id: "filterFieldsByName", options: { include: { names } } },
    { id: "merge", options: {} },
    { id: "organize", options: { indexByName, renameByName } },
  ];
}

function propertiesOf({ of, unit, decimals, states, link }: Column): DynamicConfigValue[] {
  const url = of === "ha_cluster" ? CLUSTER_LINK : link;
  const background = { type: common.TableCellDisplayMode.ColorBackground, mode: "basic" };
  const properties = [
    { id: "unit", value: unit },
    { id: "decimals", value: decimals },
    { id: "mappings", value: states && [valueMap(states)] },
    { id: "custom.cellOptions", value: states && background },
    { id: "links", value: url && [{ title: "Open", url, targetBlank: true }] },
  ];
  return properties.filter(({ value }) => value !== undefined);
}
