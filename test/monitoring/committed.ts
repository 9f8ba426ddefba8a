import { readFileSync } from "node:fs";

/** The parts of Grafana's dashboard model that the tests read. */
export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant: boolean;
  readonly legendFormat?: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly Target[];
  readonly links: readonly { readonly url: string }[];
  readonly fieldConfig: { readonly defaults: { readonly custom?: { readonly spanNulls?: boolean } } };
}

interface Row extends Pick<Panel, "id" | "title" | "gridPos"> {
  readonly type: "row";
  readonly panels: readonly Panel[];
}

interface Dashboard {
  readonly panels: readonly (Row | Panel)[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: { readonly query: string };
    }[];
  };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly target: Target }[] };
  readonly links: Panel["links"];
}

const FILE = new URL("../../monitoring/grafana/appliance-exporter.json", import.meta.url);

export const COMMITTED_TEXT = readFileSync(FILE, "utf8");

export const COMMITTED: Dashboard = JSON.parse(COMMITTED_TEXT);

/** Every row, with the panels within it or below it. */
export const ROWS = COMMITTED.panels.flatMap((row, index) => {
  if (!isRow(row)) return [];
  const after = COMMITTED.panels.slice(index + 1);
  const next = after.findIndex(isRow);
  const below = next < 0 ? after : after.slice(0, next);
  return [
    { title: row.title, panels: [...row.panels, ...below.filter((panel): panel is Panel => !isRow(panel))] },
  ];
});

export const PANELS: readonly Panel[] = ROWS.flatMap(({ panels }) => panels);

/** Everything that Prometheus is asked, variables aside, by where it stands. */
export const QUERIES: readonly { readonly name: string; readonly target: Target }[] = [
  ...PANELS.flatMap(({ title, targets }) =>
    targets.map((target) => ({ name: `${title}, ${target.refId}`, target })),
  ),
  ...COMMITTED.annotations.list.map(({ name, target }) => ({ name: `annotation ${name}`, target })),
];

/** The variables that ask Prometheus, as `label_values(series, label)`. */
export const LABEL_QUERIES = COMMITTED.templating.list.flatMap((variable) => {
  if (variable.type !== "query") return [];
  const [, series, label] = /^label_values\((.+), (\w+)\)$/.exec(variable.query.query) ?? [];
  if (series === undefined || label === undefined) throw new Error(`no query: ${variable.query.query}`);
  return [{ name: variable.name, series, label }];
});

export function isRow(panel: Row | Panel): panel is Row {
  return panel.type === "row";
}
