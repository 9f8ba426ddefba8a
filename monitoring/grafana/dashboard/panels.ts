import type { Builder, Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import * as common from "@grafana/grafana-foundation-sdk/common";
import {
  DashboardLinkType,
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  SpecialValueMatch,
  type DashboardLink,
  type DynamicConfigValue,
  type Panel,
  type ValueMapping,
  type ValueMappingResult,
} from "@grafana/grafana-foundation-sdk/dashboard";
import {
  DataqueryBuilder,
  PromQueryFormat,
  QueryEditorMode,
} from "@grafana/grafana-foundation-sdk/prometheus";
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

interface Options {
  /** Default: the row's id plus the panel's position. It must not change, so that links to the panel keep working. */
  readonly id?: number;
  readonly title: string;
  /** Default: the row's. */
  readonly size?: Size;
  /** What the panel shows, and when it is empty. */
  readonly description: string;
  /** The alert whose section of the runbook the panel links to. Default: the start of the runbook. */
  readonly runbook?: string;
}

/** In units of Grafana's grid, which is 24 wide. */
type Size = readonly [width: number, height: number];

export interface RowPanel {
  readonly size: Size | undefined;
  readonly panel: Panel;
}

export interface Row {
  readonly id: number;
  readonly title: string;
  /** A collapsed row runs no queries until it is opened. */
  readonly collapsed: boolean;
  /** Of panels that have no size of their own. */
  readonly size: Size;
  readonly panels: readonly RowPanel[];
}

function withOptions({ id, title, size, description, runbook }: Options, kind: Builder<Panel>): RowPanel {
  const links = [runbookLink(runbook), STATUS_LINK];
  const ids = id === undefined ? {} : { id };
  return { size, panel: { ...kind.build(), ...ids, title, description, datasource: DATASOURCE, links } };
}

function link(title: string, url: string): DashboardLink {
  return {
    title,
    type: DashboardLinkType.Link,
    icon: "external link",
    tooltip: "",
    url,
    tags: [],
    asDropdown: false,
    targetBlank: true,
    includeVars: false,
    keepTime: false,
  };
}

export const STATUS_LINK = link("Status page", "${status_url}");

/** To the section of an alert, or to the start of the runbook. */
export function runbookLink(alert?: string): DashboardLink {
  return link("Runbook", `\${runbook_url}${alert === undefined ? "" : `#${alert.toLowerCase()}`}`);
}

/** A state in words and in a color. */
export interface State {
  readonly value: number;
  readonly text: string;
  readonly color: string;
}

export function valueMap(states: readonly State[]): ValueMapping {
  const results = states.map(({ value, text, color }, index) => [value, { text, color, index }] as const);
  return { type: MappingType.ValueToText, options: Object.fromEntries(results) };
}

/** Both ends are included. Without a text the number itself is shown. */
export function rangeMap(from: number | null, to: number | null, result: ValueMappingResult): ValueMapping {
  return { type: MappingType.RangeToText, options: { from, to, result } };
}

export function regexMap(pattern: string, color: string): ValueMapping {
  return { type: MappingType.RegexToText, options: { pattern, result: { color } } };
}

/** A series over time. Its legend names labels: `{{ha_cluster}} {{vip}}`. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

function query(expr: string, index = 0): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(refId(index))
    .datasource(DATASOURCE)
    .editorMode(QueryEditorMode.Code)
    .expr(expr);
}

/** `A` for the first query of a panel. */
function refId(index: number): string {
  return String.fromCodePoint(65 + index);
}

function rangeQueries(lines: readonly Line[]): Builder<Dataquery>[] {
  return lines.map(({ expr, legend }, index) => query(expr, index).range().legendFormat(legend));
}

function tableQueries(exprs: readonly string[]): Builder<Dataquery>[] {
  return exprs.map((expr, index) => query(expr, index).instant().format(PromQueryFormat.Table));
}

function legendAs(mode: common.LegendDisplayMode): common.VizLegendOptionsBuilder {
  return new common.VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(mode)
    .placement(common.LegendPlacement.Bottom);
}

interface Tile extends Options {
  readonly expr: string;
  /** For any number above 0. Default: bad. */
  readonly color?: string;
}

/** How many of something bad there are now; "not known" without an answer. */
export function tile({ expr, color = COLOR.bad, ...options }: Tile): RowPanel {
  const unknown = { text: "not known", color: COLOR.unknown };
  const kind = new StatPanel()
    .targets([query(expr).instant().legendFormat(options.title)])
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]).values(false))
    .colorMode(common.BigValueColorMode.BackgroundSolid)
    .graphMode(common.BigValueGraphMode.None)
    .noValue(unknown.text)
    .mappings([
      valueMap([{ value: 0, text: "none", color: COLOR.good }]),
      rangeMap(1, null, { color }),
      {
        type: MappingType.SpecialValue,
        options: { match: SpecialValueMatch.NullAndNan, result: unknown },
      },
    ]);
  return withOptions(options, kind);
}

interface Graph extends Options {
  readonly lines: readonly Line[];
  readonly unit: string;
  /** `bars`: counts of events, stacked. Default: lines. */
  readonly style?: "steps" | "bars";
  readonly decimals?: number;
  readonly max?: number;
}

/** Values over time, from 0 up. A series without a value is a gap. */
export function graph({ lines, unit, style, decimals, max, ...options }: Graph): RowPanel {
  const kind = new GraphPanel()
    .targets(rangeQueries(lines))
    .unit(unit)
    .min(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName))
    .spanNulls(false)
    .showPoints(common.VisibilityMode.Never)
    .legend(legendAs(common.LegendDisplayMode.Table).calcs(["lastNotNull", "max"]))
    .tooltip(
      new common.VizTooltipOptionsBuilder()
        .mode(common.TooltipDisplayMode.Multi)
        .sort(common.SortOrder.Descending),
    );
  if (decimals !== undefined) kind.decimals(decimals);
  if (max !== undefined) kind.max(max);
  if (style === "steps") kind.lineInterpolation(common.LineInterpolation.StepAfter);
  if (style === "bars")
    kind
      .drawStyle(common.GraphDrawStyle.Bars)
      .fillOpacity(60)
      .stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal).group("A"));
  return withOptions(options, kind);
}

interface Timeline extends Options, Line {
  readonly mappings: readonly ValueMapping[];
}

/** A row of states for each series. A series without a value is a gap, never the state before. */
export function timeline({ mappings, ...options }: Timeline): RowPanel {
  const kind = new TimelinePanel()
    .targets(rangeQueries([options]))
    .mappings([...mappings])
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .spanNulls(false)
    .insertNulls(false)
    .mergeValues(true)
    .showValue(common.VisibilityMode.Auto)
    .alignValue(common.TimelineValueAlignment.Left)
    .rowHeight(0.85)
    .fillOpacity(85)
    .perPage(20)
    .legend(legendAs(common.LegendDisplayMode.List));
  return withOptions(options, kind);
}

export interface Column {
  /** A label, or the index of the query whose value it shows. */
  readonly of: string | number;
  readonly title: string;
  readonly width?: number;
  readonly unit?: string;
  readonly decimals?: number;
  /** Words and colors for its values. The cell takes the color. */
  readonly mappings?: readonly ValueMapping[];
  /** Makes the cell a link. */
  readonly url?: string;
}

interface Table extends Options {
  readonly queries: readonly string[];
  /** In this order. Other labels are hidden. */
  readonly columns: readonly Column[];
  /** The title of a column. */
  readonly sortBy: string;
  readonly descending?: boolean;
  /** Shown instead of an empty table. */
  readonly emptyText: string;
  /** About how many samples Grafana asks of a subquery. */
  readonly maxDataPoints?: number;
}

// Otherwise each empty cell would show the text for an empty table.
const EMPTY_CELL = { id: "noValue", value: "–" };

/** A row for each label set at the end of the range. A cell without a value stays empty. */
export function table(given: Table): RowPanel {
  const { queries, columns, sortBy, descending = false, emptyText, maxDataPoints, ...options } = given;
  const kind = new TablePanel()
    .targets(tableQueries(queries))
    .transformations(shape(queries.length, columns))
    .sortBy([new common.TableSortByFieldStateBuilder().displayName(sortBy).desc(descending)])
    .noValue(emptyText)
    .overrideByRegexp("/.*/", [EMPTY_CELL])
    .filterable(true);
  for (const column of columns) kind.overrideByName(column.title, propertiesOf(column));
  if (maxDataPoints !== undefined) kind.maxDataPoints(maxDataPoints);
  return withOptions(options, kind);
}

/** Merges the rows of several queries by their labels, then picks, orders and names the columns. */
function shape(queryCount: number, columns: readonly Column[]) {
  // The names that the data source gives to values.
  const nameOf = ({ of }: Column): string => {
    if (typeof of === "string") return of;
    return queryCount === 1 ? "Value" : `Value #${refId(of)}`;
  };
  const names = columns.map(nameOf);
  return [
    { id: "filterFieldsByName", options: { include: { names } } },
    ...(queryCount > 1 ? [{ id: "merge", options: {} }] : []),
    {
      id: "organize",
      options: {
        indexByName: Object.fromEntries(names.map((name, index) => [name, index])),
        renameByName: Object.fromEntries(columns.map((column) => [nameOf(column), column.title])),
      },
    },
  ];
}

function propertiesOf({ width, unit, decimals, mappings, url }: Column): DynamicConfigValue[] {
  return [
    ...(width === undefined ? [] : [{ id: "custom.width", value: width }]),
    ...(unit === undefined ? [] : [{ id: "unit", value: unit }]),
    ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
    ...(mappings === undefined ? [] : colored(mappings)),
    ...(url === undefined ? [] : [{ id: "links", value: [link("Open", url)] }]),
  ];
}

function colored(mappings: readonly ValueMapping[]): DynamicConfigValue[] {
  const background = { type: common.TableCellDisplayMode.ColorBackground, mode: "basic" };
  return [
    { id: "mappings", value: mappings },
    { id: "custom.cellOptions", value: background },
  ];
}

interface Matrix extends Options {
  readonly query: string;
  readonly mappings: readonly ValueMapping[];
  readonly emptyText: string;
}

/** The label `cell` where the labels `row` and `appliance` cross. */
export function matrix({ query: expr, mappings, emptyText, ...options }: Matrix): RowPanel {
  const fields = { rowField: "row", columnField: "appliance", valueField: "cell", emptyValue: "empty" };
  const kind = new TablePanel()
    .targets(tableQueries([expr]))
    .transformations([
      { id: "sortBy", options: { sort: [{ field: "appliance" }] } },
      { id: "groupingToMatrix", options: fields },
    ])
    .sortBy([new common.TableSortByFieldStateBuilder().displayName("Website")])
    .overrideByRegexp("/.*/", [EMPTY_CELL, ...colored(mappings)])
    // Later overrides win.
    .overrideByName("row\\appliance", [
      { id: "displayName", value: "Website" },
      { id: "custom.cellOptions", value: { type: "auto" } },
      { id: "mappings", value: [] },
    ])
    .noValue(emptyText);
  return withOptions(options, kind);
}
