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
  const lines = rows.map(formatLine);
  return [
    "| event | alert | seconds to the webhook | seconds to its resolution |",
    "| --- | --- | ---: | ---: |",
    ...lines,
  ].join("\n");
}

function formatLine({ event, alert, status, seconds }: Row): string {
  const labels = Object.entries(alert).flatMap(([name, value]) => (PLAIN.has(name) ? [] : [value]));
  const name = [alert["alertname"], ...labels].join(" ");
  const time = seconds.toFixed(1);
  return `| ${event} | ${name} | ${status === "firing" ? `${time} | ` : ` | ${time}`} |`;
}
