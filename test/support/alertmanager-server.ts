import { eventually } from "./eventually.ts";
import { startToolServer } from "./tool-server.ts";

/** An alert's labels, `alertname` among them. */
type Labels = Readonly<Record<string, string>>;

/** A real Alertmanager with a folder of its own. */
export interface Alertmanager {
  readonly url: string;
  /** Posts alerts with annotations, as Prometheus does. */
  post(alerts: readonly object[]): Promise<void>;
  /** Has these alerts fire, until a call without them. */
  fire(...alerts: readonly Labels[]): Promise<void>;
  /** Those of the firing alerts that somebody is told of: neither silenced nor inhibited. */
  told(): Promise<readonly Labels[]>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts Alertmanager and waits until it is ready. `config` is YAML; `others` are further files in its folder. */
export async function startAlertmanager(
  config: string,
  others: Readonly<Record<string, string>> = {},
): Promise<Alertmanager> {
  const flags = ["--config.file=alertmanager.yml", "--storage.path=data", "--cluster.listen-address="];
  const files = { ...others, "alertmanager.yml": config };
  const { url, stop } = await startToolServer("prometheus-alertmanager", flags, files);
  try {
    await eventually(async () => assertOk(await fetch(`${url}/-/ready`)));
  } catch (error) {
    await stop();
    throw error;
  }
  const alerts = `${url}/api/v2/alerts`;
  return { url, post: (all) => post(alerts, all), ...alertsOf(alerts), stop };
}

function alertsOf(url: string): Pick<Alertmanager, "fire" | "told"> {
  let firing: readonly Labels[] = [];
  const list = async (query: string): Promise<readonly Labels[]> => {
    const response = await fetch(`${url}?${query}`);
    assertOk(response);
    const alerts: readonly { readonly labels: Labels }[] = JSON.parse(await response.text());
    return alerts.map(({ labels }) => labels);
  };
  return {
    fire: async (...alerts) => {
      const endsAt = new Date().toISOString();
      const over = firing.filter((labels) => !alerts.includes(labels)).map((labels) => ({ labels, endsAt }));
      firing = alerts;
      await post(url, [...over, ...alerts.map((labels) => ({ labels }))]);
      // What was posted is there, and what is over is not.
      await eventually(async () => {
        const { length } = await list("");
        if (length !== alerts.length) throw new Error(`${length} of ${alerts.length} alerts`);
      });
    },
    told: () => list("silenced=false&inhibited=false"),
  };
}

async function post(url: string, body: unknown): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  assertOk(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

function assertOk({ ok, status, url }: Response): void {
  if (!ok) throw new Error(`${url} answers ${status}`);
}

/** Alerts as texts, in an order of their own, for comparing. */
export function byName(alerts: readonly Labels[]): readonly string[] {
  const sorted = (labels: Labels) =>
    Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return alerts.map((labels) => JSON.stringify(Object.fromEntries(sorted(labels)))).toSorted();
}
