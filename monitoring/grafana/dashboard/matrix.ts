import type { ValueMapping } from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/table";
import { TableSortByFieldStateBuilder } from "@grafana/grafana-foundation-sdk/common";
import { sized, tableQueries, type PanelText, type SizedPanel } from "./panel.ts";
import { coloured, EMPTY_CELLS } from "./table.ts";

interface Axis {
  readonly label: string;
  readonly title: string;
}

interface Matrix extends PanelText {
  readonly query: string;
  readonly row: Axis;
  readonly column: Axis;
  /** The label whose text stands in the cells. */
  readonly cell: string;
  readonly mappings: readonly ValueMapping[];
  readonly emptyText: string;
}

/** The text of one label where the values of two others cross. */
export function matrix({ query, row, column, cell, mappings, emptyText, ...text }: Matrix): SizedPanel {
  const corner = `${row.label}\\${column.label}`;
  const kind = new PanelBuilder()
    .targets(tableQueries([query]))
    .transformations([
      { id: "sortBy", options: { sort: [{ field: column.label }] } },
      {
        id: "groupingToMatrix",
        options: { rowField: row.label, columnField: column.label, valueField: cell, emptyValue: "empty" },
      },
    ])
    .sortBy([new TableSortByFieldStateBuilder().displayName(row.title)])
    .overrideByRegexp(EMPTY_CELLS.regexp, [...EMPTY_CELLS.properties, ...coloured(mappings)])
    // Later overrides win.
    .overrideByName(corner, [
      { id: "displayName", value: row.title },
      { id: "custom.cellOptions", value: { type: "auto" } },
      { id: "mappings", value: [] },
    ])
    .noValue(emptyText);
  return sized(text, kind);
}
