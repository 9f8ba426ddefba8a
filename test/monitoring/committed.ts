import { readFileSync } from "node:fs";

/** The parts of Grafana's dashboard model that the tests read. */
interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant: boolean;
  readonly legendFormat?: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly targets: readonly Target[];
  readonly fieldConfig: { readonly defaults: { readonly custom?: { readonly spanNulls?: boolean } } };
}

interface Dashboard {
  readonly panels: readonly (Panel | { readonly id: number; readonly panels: readonly Panel[] })[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: { readonly query: string };
    }[];
  };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly target: Target }[] };
}

const FILE = new URL("../../monitoring/grafana/appliance-exporter.json", import.meta.url);

export const COMMITTED_TEXT = readFileSync(FILE, "utf8");

const COMMITTED: Dashboard = JSON.parse(COMMITTED_TEXT);

/** All panels but rows, within a collapsed row or below one. */
export const PANELS = COMMITTED.panels.flatMap((panel) => ("panels" in panel ? panel.panels : [panel]));

const VARIABLE_QUERIES = COMMITTED.templating.list.filter(({ type }) => type === "query");

/** Everything that Prometheus is asked, but by `LABEL_QUERIES`, by where it stands. */
export const QUERIES: readonly { readonly name: string; readonly target: Target }[] = [
  ...PANELS.flatMap(({ title, targets }) =>
    targets.map((target) => ({ name: `${title}, ${target.refId}`, target })),
  ),
  ...COMMITTED.annotations.list.map(({ name, target }) => ({ name, target })),
  ...VARIABLE_QUERIES.flatMap(({ name, query: { query } }) => {
    const [, expr] = /^query_result\((.+)\)$/.exec(query) ?? [];
    return expr === undefined ? [] : [{ name, target: { refId: name, expr, instant: true } }];
  }),
];

/** The variables that ask Prometheus, as `label_values(series, label)`. */
export const LABEL_QUERIES = VARIABLE_QUERIES.flatMap(({ name, query: { query } }) => {
  const [, series, label] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
  return series === undefined || label === undefined ? [] : [{ name, series, label }];
});
