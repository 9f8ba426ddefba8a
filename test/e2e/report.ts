import type { Labels, Status } from "./lab/notifications.ts";

/** An event, and the notifications about it until the next event of its case. */
export interface Row {
  readonly event: string;
  readonly notifications: number;
  readonly alerts: readonly {
    readonly alert: Labels;
    readonly status: Status;
    /** From the event to the webhook. */
    readonly seconds: number;
  }[];
}

/** The table of a run in Markdown. */
export function formatTable(rows: readonly Row[]): string {
  return [
    "| event | seconds to the webhook | seconds to the resolution | notifications |",
    "| --- | --- | --- | ---: |",
    ...rows.map(formatRow),
  ].join("\n");
}

function formatRow({ event, notifications, alerts }: Row): string {
  const times = (status: Status) =>
    alerts
      .filter((each) => each.status === status)
      .map(({ alert, seconds }) => `${subjectOf(alert)} ${seconds.toFixed(1)}`)
      .join(", ");
  return `| ${event} | ${times("firing")} | ${times("resolved")} | ${notifications} |`;
}

function subjectOf({ alertname, appliance, website }: Labels): string {
  return [alertname, appliance, website].filter((each) => each !== undefined).join(" ");
}
