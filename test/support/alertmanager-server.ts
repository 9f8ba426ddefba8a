import { eventually } from "./eventually.ts";
import { startToolServer } from "./tool-server.ts";

/** A real Alertmanager with a folder of its own. */
export interface Alertmanager {
  readonly url: string;
  /** Posts alerts with annotations, as Prometheus does. */
  post(alerts: readonly object[]): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts Alertmanager and waits until it is ready. `config` is YAML; `others` are further files in its folder; `cluster` are flags. */
export async function startAlertmanager(
  config: string,
  others: Readonly<Record<string, string>> = {},
  cluster: readonly string[] = ["--cluster.listen-address="],
): Promise<Alertmanager> {
  const flags = ["--config.file=alertmanager.yml", "--storage.path=data", ...cluster];
  const files = { ...others, "alertmanager.yml": config };
  const { url, stop } = await startToolServer("prometheus-alertmanager", flags, files);
  try {
    await eventually(async () => assertOk(await fetch(`${url}/-/ready`)));
  } catch (error) {
    await stop();
    throw error;
  }
  const alerts = `${url}/api/v2/alerts`;
  return { url, post: (all) => post(alerts, all), stop };
}

async function post(url: string, body: unknown): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  assertOk(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

function assertOk({ ok, status, url }: Response): void {
  if (!ok) throw new Error(`${url} answers ${status}`);
}
