import { TableCellDisplayMode, TableSortByFieldStateBuilder } from "@grafana/grafana-foundation-sdk/common";
import type {
  DataTransformerConfig,
  DynamicConfigValue,
  ValueMapping,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/table";
import { link } from "./links.ts";
import { refIdOf, sized, tableQueries, type PanelText, type SizedPanel } from "./panel.ts";

export interface Column {
  /** A label, or the number of the query whose value it is. */
  readonly of: string | number;
  readonly title: string;
  readonly width?: number;
  readonly unit?: string;
  readonly decimals?: number;
  /** Words and colours for its values; the cell takes the colour. */
  readonly mappings?: readonly ValueMapping[];
  /** Makes the cell a link. */
  readonly url?: string;
}

interface Table extends PanelText {
  /** Where one of several is alone in having an answer, the data source names its value otherwise, and it is not shown. */
  readonly queries: readonly string[];
  /** In this order; labels that are not among them are not shown. */
  readonly columns: readonly Column[];
  /** A column's title. */
  readonly sortBy: string;
  readonly descending?: boolean;
  /** What stands there while there are no rows. */
  readonly emptyText: string;
  /** Grafana samples subqueries at about so many instants. */
  readonly maxDataPoints?: number;
}

/** Without it the text for an empty table would stand in every empty cell. */
export const EMPTY_CELLS = { regexp: "/.*/", properties: [{ id: "noValue", value: "–" }] };

/** A row for each label set as things are at the end of the range; a cell without a value stays empty. */
export function table({
  queries,
  columns,
  sortBy,
  descending,
  emptyText,
  maxDataPoints,
  ...text
}: Table): SizedPanel {
  const kind = new PanelBuilder()
    .targets(tableQueries(queries))
    .transformations([...shape(queries.length, columns)])
    .sortBy([new TableSortByFieldStateBuilder().displayName(sortBy).desc(descending ?? false)])
    .noValue(emptyText)
    .overrideByRegexp(EMPTY_CELLS.regexp, EMPTY_CELLS.properties)
    .filterable(true);
  for (const column of columns) kind.overrideByName(column.title, propertiesOf(column));
  if (maxDataPoints !== undefined) kind.maxDataPoints(maxDataPoints);
  return sized(text, kind);
}

/** Rows of several queries become one where their labels agree; then columns are chosen, put in order and named. */
function shape(queryCount: number, columns: readonly Column[]): readonly DataTransformerConfig[] {
  const named = columns.map(({ of, title }) => [fieldName(of, queryCount), title] as const);
  const names = named.map(([name]) => name);
  return [
    { id: "filterFieldsByName", options: { include: { names } } },
    ...(queryCount > 1 ? [{ id: "merge", options: {} }] : []),
    {
      id: "organize",
      options: {
        indexByName: Object.fromEntries(names.map((name, index) => [name, index])),
        renameByName: Object.fromEntries(named),
      },
    },
  ];
}

/** As the data source calls them. */
function fieldName(of: string | number, queryCount: number): string {
  if (typeof of === "string") return of;
  return queryCount === 1 ? "Value" : `Value #${refIdOf(of)}`;
}

function propertiesOf({ width, unit, decimals, mappings, url }: Column): DynamicConfigValue[] {
  return [
    ...(width === undefined ? [] : [{ id: "custom.width", value: width }]),
    ...(unit === undefined ? [] : [{ id: "unit", value: unit }]),
    ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
    ...(mappings === undefined ? [] : coloured(mappings)),
    ...(url === undefined ? [] : [{ id: "links", value: [link("Open", url)] }]),
  ];
}

export function coloured(mappings: readonly ValueMapping[]): DynamicConfigValue[] {
  return [
    { id: "mappings", value: mappings },
    { id: "custom.cellOptions", value: { type: TableCellDisplayMode.ColorBackground, mode: "basic" } },
  ];
}
