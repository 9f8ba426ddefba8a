/** An alert's labels, `alertname` among them. */
export type Labels = Readonly<Record<string, string>>;

export type Status = "firing" | "resolved";

/** What a notification says about one alert. */
export interface Notice {
  /** Unix time at which it came. */
  readonly atMs: number;
  readonly alert: string;
  readonly labels: Labels;
  readonly status: Status;
  /** False if an earlier notification said the same. */
  readonly isNews: boolean;
}

/** One request to the webhook. */
export type Notification = readonly Notice[];

/** As the receiver wrote it down. */
interface Received {
  readonly atMs: number;
  readonly body: {
    readonly alerts: readonly {
      readonly status: Status;
      readonly labels: Labels;
      /** Tells two outages with the same labels apart. */
      readonly startsAt: string;
    }[];
  };
}

/** An alert as a text, with its labels in order of their names: `Name{a="1",b="2"}`; without the kind and the subject, which follow from these. */
export function nameOf({ alertname = "", ...labels }: Labels): string {
  const shown = Object.entries(labels).filter(([name]) => name !== "kind" && name !== "subject");
  const sorted = shown.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${alertname}{${sorted.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`;
}

/** The end of an event is no news. */
function isEndOfEvent({ labels, status }: Notice): boolean {
  return labels["alertname"] === "VrrpFailover" && status === "resolved";
}

/** The notifications that the receiver has written, one a line, in order of arrival, without those about the end of a failover. */
export function readNotifications(lines: string): readonly Notification[] {
  const seen = new Set<string>();
  const isNew = (key: string) => seen.size < seen.add(key).size;
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const { atMs, body }: Received = JSON.parse(line);
      return body.alerts.map(({ status, labels, startsAt }): Notice => {
        const alert = nameOf(labels);
        return { atMs, alert, labels, status, isNews: isNew(`${alert} ${status} ${startsAt}`) };
      });
    })
    .map((notices) => notices.filter((notice) => !isEndOfEvent(notice)))
    .filter((notices) => notices.length > 0);
}

/** What is new, in order of arrival. */
export function newsOf(notifications: readonly Notification[], filter: (labels: Labels) => boolean) {
  return notifications.flat().filter(({ isNews, labels }) => isNews && filter(labels));
}
