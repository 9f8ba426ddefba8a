import { eventually } from "../support/eventually.ts";
import type { Lab } from "./lab/lab.ts";
import {
  nameOf,
  newsOf,
  type Labels,
  type Notice,
  type Notification,
  type Status,
} from "./lab/notifications.ts";
import type { Row } from "./report.ts";

/** The slowest alert takes `for`, `keep_firing_for` and group_interval. Only a hang reaches this. */
const DEADLINE = { timeoutMs: 600_000, everyMs: 100 };

/** Something that happens in the lab, and the notifications about it. */
export interface Happening {
  /** Waits until each webhook has a notification of each of these alerts, sent after the event. */
  fires(...alerts: readonly Labels[]): Promise<void>;
  /** The same for their ends. */
  resolves(...alerts: readonly Labels[]): Promise<void>;
}

/** What one case does, and what is expected to come of it. */
export interface Scene {
  happens(event: string, act: () => Promise<unknown>): Promise<Happening>;
  /** Waits until each Prometheus finds something. */
  holds(expression: string): Promise<void>;
  /** All alerts that are expected to be news, in order for each alert. */
  expected(): readonly string[];
  /** Lines of the report. `own`: the notifications about this case. */
  rows(own: readonly Notification[]): readonly Row[];
}

interface Sent {
  readonly event: string;
  readonly alert: Labels;
  readonly status: Status;
  readonly seconds: number;
}

export function createScene(lab: Lab): Scene {
  const events: { readonly event: string; readonly atMs: number }[] = [];
  const expected: { readonly alert: string; readonly status: Status }[] = [];
  const sent: Sent[] = [];
  /** The time at which the last of all webhooks has it. */
  const news = async (labels: Labels, status: Status, sinceMs: number): Promise<number> => {
    const alert = nameOf(labels);
    expected.push({ alert, status });
    const sentAtMs = lab.monitoring.map(({ version, notifications }) =>
      eventually(async () => {
        const all = newsOf(await notifications(), () => true);
        const found = all.find(
          (each) => each.alert === alert && each.status === status && each.atMs >= sinceMs,
        );
        if (found === undefined) throw new Error(`no notification of ${version}: ${status} ${alert}`);
        return found.atMs;
      }, DEADLINE),
    );
    return Math.max(...(await Promise.all(sentAtMs)));
  };
  const holds = async (expression: string) => {
    const held = lab.monitoring.map(({ version, query }) =>
      eventually(
        async () => {
          if ((await query(expression)).length === 0)
            throw new Error(`does not hold in ${version}: ${expression}`);
        },
        { ...DEADLINE, everyMs: 1_000 },
      ),
    );
    await Promise.all(held);
  };
  return {
    happens: async (event, act) => {
      const atMs = Date.now();
      events.push({ event, atMs });
      await act();
      const wait = async (alert: Labels, status: Status) => {
        const sentAtMs = await news(alert, status, atMs);
        sent.push({ event, alert, status, seconds: (sentAtMs - atMs) / 1_000 });
      };
      const all = async (status: Status, alerts: readonly Labels[]) =>
        void (await Promise.all(alerts.map((alert) => wait(alert, status))));
      return {
        fires: (...alerts) => all("firing", alerts),
        resolves: (...alerts) => all("resolved", alerts),
      };
    },
    holds,
    expected: () => expected.map(({ alert, status }) => `${status} ${alert}`),
    rows: (own) =>
      events.map(({ event, atMs }, index) => {
        const endMs = events[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
        const isOfEvent = (notice: Notice | undefined) =>
          notice !== undefined && notice.atMs >= atMs && notice.atMs < endMs;
        return {
          event,
          notifications: own.filter(([notice]) => isOfEvent(notice)).length,
          alerts: sent.filter((each) => each.event === event),
        };
      }),
  };
}
