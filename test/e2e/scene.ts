import { eventually } from "../support/eventually.ts";
import type { Lab } from "./lab/lab.ts";
import {
  nameOf,
  newsOf,
  readNotifications,
  type Labels,
  type Notice,
  type Status,
} from "./lab/notifications.ts";
import type { Row } from "./report.ts";

/** The slowest: `for`, `keep_firing_for` and group_interval follow one another. A hang is what reaches this. */
const DEADLINE = { timeoutMs: 300_000, everyMs: 100 };

/** Something that is done to the lab, and what Alertmanager is to tell of it. */
export interface Happening {
  /** Waits until the webhook has been told of each of these alerts, since it happened. */
  tells(...alerts: readonly Labels[]): Promise<void>;
  /** The same of their ends. */
  resolves(...alerts: readonly Labels[]): Promise<void>;
}

/** The protocol of one case, which compares what was expected with what came. */
export interface Scene {
  happens(event: string, act: () => Promise<unknown>): Promise<Happening>;
  /** Waits until Prometheus has an alert firing, whether anybody is told of it or not. */
  isFiring(alertname: string, ha_cluster: string): Promise<void>;
  /** All news that are to have come, in order for each alert. */
  expected(): readonly string[];
  rows(): readonly Row[];
}

export function createScene(lab: Lab): Scene {
  const expected: { readonly alert: string; readonly status: Status }[] = [];
  const rows: Row[] = [];
  const news = async (labels: Labels, status: Status, sinceMs: number): Promise<Notice> => {
    const alert = nameOf(labels);
    expected.push({ alert, status });
    return eventually(async () => {
      const told = newsOf(readNotifications(await lab.notifications()), () => true);
      const found = told.find(
        (each) => each.alert === alert && each.status === status && each.atMs >= sinceMs,
      );
      if (found === undefined) throw new Error(`nobody was told: ${status} ${alert}`);
      return found;
    }, DEADLINE);
  };
  const row = async (event: string, atMs: number, labels: Labels, status: Status): Promise<Row> => {
    const notice = await news(labels, status, atMs);
    return { event, alert: labels, status, seconds: (notice.atMs - atMs) / 1_000 };
  };
  return {
    happens: async (event, act) => {
      const atMs = Date.now();
      await act();
      const all = async (status: Status, alerts: readonly Labels[]) =>
        void rows.push(...(await Promise.all(alerts.map((labels) => row(event, atMs, labels, status)))));
      return {
        tells: (...alerts) => all("firing", alerts),
        resolves: (...alerts) => all("resolved", alerts),
      };
    },
    isFiring: async (alertname, ha_cluster) => {
      const expression = `ALERTS{alertstate="firing",alertname="${alertname}",ha_cluster="${ha_cluster}"}`;
      await eventually(
        async () => {
          if ((await lab.query(expression)).length === 0) throw new Error(`does not fire: ${expression}`);
        },
        { ...DEADLINE, everyMs: 1_000 },
      );
    },
    expected: () => expected.map(({ alert, status }) => `${status} ${alert}`),
    rows: () => rows,
  };
}
