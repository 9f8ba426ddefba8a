import { readFileSync } from "node:fs";
import { z } from "zod";

const DATASOURCE = z.strictObject({ type: z.literal("prometheus"), uid: z.literal("${datasource}") });

const TARGET = z.looseObject({
  refId: z.string().regex(/^[A-Z]$|^Anno$/),
  datasource: DATASOURCE,
  expr: z.string().min(1),
  instant: z.boolean(),
  range: z.boolean(),
  format: z.enum(["time_series", "table"]).optional(),
  legendFormat: z.string().optional(),
});

const GRID_POS = z.strictObject({
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
});

const LINK = z.looseObject({
  title: z.string().min(1),
  url: z.string().min(1),
  targetBlank: z.literal(true),
});

const PANEL = z.looseObject({
  id: z.int().positive(),
  type: z.enum(["stat", "table", "state-timeline", "timeseries"]),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource: DATASOURCE,
  gridPos: GRID_POS,
  targets: z.array(TARGET).min(1),
  links: z.array(LINK).min(1),
  fieldConfig: z.looseObject({
    defaults: z.looseObject({ custom: z.looseObject({}).optional(), noValue: z.string().optional() }),
    overrides: z.array(
      z.strictObject({
        matcher: z.strictObject({ id: z.enum(["byName", "byRegexp"]), options: z.string() }),
        properties: z.array(z.looseObject({ id: z.string() })),
      }),
    ),
  }),
});

const ROW = z.strictObject({
  type: z.literal("row"),
  id: z.int().positive(),
  title: z.string().min(1),
  collapsed: z.boolean(),
  gridPos: GRID_POS,
  panels: z.array(PANEL),
});

const QUERY_VARIABLE = z.looseObject({
  type: z.literal("query"),
  name: z.string(),
  datasource: DATASOURCE,
  query: z.strictObject({ query: z.string(), refId: z.string() }),
  multi: z.literal(true),
  includeAll: z.literal(true),
  allValue: z.literal(".*"),
});

const OTHER_VARIABLE = z.looseObject({
  type: z.enum(["datasource", "constant"]),
  name: z.string(),
  query: z.string(),
});

/** What of Grafana's dashboard model this dashboard uses. @see https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
const DASHBOARD = z.looseObject({
  id: z.null(),
  uid: z.string().regex(/^[a-zA-Z0-9_-]{8,40}$/),
  title: z.string().min(1),
  schemaVersion: z.literal(42),
  editable: z.boolean(),
  refresh: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  panels: z.array(z.union([ROW, PANEL])),
  templating: z.strictObject({
    list: z.array(z.discriminatedUnion("type", [QUERY_VARIABLE, OTHER_VARIABLE])),
  }),
  annotations: z.strictObject({
    list: z.array(
      z.looseObject({
        name: z.string(),
        enable: z.boolean(),
        iconColor: z.string(),
        datasource: DATASOURCE,
        target: TARGET,
      }),
    ),
  }),
  links: z.array(LINK),
});

export type Panel = z.infer<typeof PANEL>;
export type Target = z.infer<typeof TARGET>;

const FILE = new URL("../../monitoring/grafana/appliance-exporter.json", import.meta.url);

export const COMMITTED_TEXT = readFileSync(FILE, "utf8");

/** The dashboard as it is committed; it must be what Grafana takes for one. */
export const COMMITTED = DASHBOARD.parse(JSON.parse(COMMITTED_TEXT));

/** Every row, with the panels within it or below it. */
export const ROWS = COMMITTED.panels.flatMap((row, index) => {
  if (!isRow(row)) return [];
  const after = COMMITTED.panels.slice(index + 1);
  const next = after.findIndex(isRow);
  const below = next < 0 ? after : after.slice(0, next);
  return [{ title: row.title, panels: [...row.panels, ...below.filter((panel) => !isRow(panel))] }];
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

export function isRow(panel: (typeof COMMITTED.panels)[number]): panel is z.infer<typeof ROW> {
  return panel.type === "row";
}
