import type { Labels, Status } from "./lab/notifications.ts";

/** How long it took from an event until the webhook was told. */
export interface Row {
  readonly event: string;
  readonly alert: Labels;
  readonly status: Status;
  readonly seconds: number;
}

// The cases say these.
const PLAIN: ReadonlySet<string> = new Set([
  "alertname",
  "component",
  "severity",
  "site",
  "ha_cluster",
  "vhid",
  "vip",
  "website_id",
]);

/** The table of a run, as Markdown: one line for each alert of an event, firing or resolved. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => formatLine(row, row.seconds.toFixed(1)));
  return [
    "| event | alert | seconds to the webhook | seconds to its resolution |",
    "| --- | --- | ---: | ---: |",
    ...lines,
  ].join("\n");
}

/** One line of it; `told` is the time, as a text. */
export function formatLine({ event, alert, status }: Omit<Row, "seconds">, told: string): string {
  const labels = Object.entries(alert).flatMap(([name, value]) => (PLAIN.has(name) ? [] : [value]));
  const name = [alert["alertname"], ...labels].join(" ");
  return `| ${event} | ${name} | ${status === "firing" ? `${told} | ` : ` | ${told}`} |`;
}
