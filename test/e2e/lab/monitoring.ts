import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { toolPath, UNPACKED_SUITES, type Suite } from "../../support/tool.ts";
import { EXPORTER_PORT, OPERATOR, type LabPlan } from "./fleet.ts";
import { readNotifications, type Labels, type Notification } from "./notifications.ts";
import { start } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";

const MONITORING = fileURLToPath(new URL("../../../monitoring", import.meta.url));
const GATE = fileURLToPath(new URL("gate.ts", import.meta.url));
const SOCKET = "prometheus.sock";

/** Prometheus with the rules of this project, Alertmanager with its example, and what that sends its notifications to. */
export interface Monitoring {
  /** The suite of its programs. */
  readonly version: string;
  /** The label sets of what an expression gives now. */
  query(expression: string): Promise<readonly Labels[]>;
  /** All so far. */
  notifications(): Promise<readonly Notification[]>;
}

interface Ports {
  readonly prometheus: number;
  readonly alertmanager: number;
  readonly webhook: number;
}

/** Starts all three for each version of Prometheus and Alertmanager. `folder`: of the lab. */
export function startMonitoring(
  sandbox: Sandbox,
  folder: string,
  plan: LabPlan,
): Promise<readonly Monitoring[]> {
  const suites = [undefined, ...UNPACKED_SUITES];
  return Promise.all(
    suites.map(async (suite, nth) => {
      const own = join(folder, `monitoring-${nth}`);
      await mkdir(own);
      const ports = { prometheus: 9090 + 10 * nth, alertmanager: 9093 + 10 * nth, webhook: 9099 + 10 * nth };
      return startVersion(sandbox, own, plan, ports, suite);
    }),
  );
}

async function startVersion(
  sandbox: Sandbox,
  folder: string,
  plan: LabPlan,
  ports: Ports,
  suite: Suite | undefined,
): Promise<Monitoring> {
  const run = (name: string, ...command: readonly string[]) =>
    start(sandbox, command, { name, place: "lab", folder });
  await writeFile(join(folder, "alertmanager.yml"), await alertmanagerConfig(ports));
  await writeFile(join(folder, "prometheus.yml"), prometheusConfig(plan, ports));
  const tsx = import.meta.resolve("tsx");
  const gatePorts = [String(ports.webhook), String(ports.prometheus)];
  const gate = run("gate", process.execPath, "--import", tsx, GATE, ...gatePorts, SOCKET);
  await gate.printed(/^open$/m);
  const alertmanager = run(
    "alertmanager",
    toolPath("prometheus-alertmanager", suite),
    "--config.file=alertmanager.yml",
    "--storage.path=alertmanager",
    `--web.listen-address=127.0.0.1:${ports.alertmanager}`,
    "--cluster.listen-address=",
  );
  await alertmanager.printed(/Listening on/);
  const prometheus = run(
    "prometheus",
    toolPath("prometheus", suite),
    "--config.file=prometheus.yml",
    "--storage.tsdb.path=prometheus",
    `--web.listen-address=127.0.0.1:${ports.prometheus}`,
  );
  await prometheus.printed(/Server is ready/);
  return {
    version: suite ?? "this machine",
    query: (expression) => query(join(folder, SOCKET), expression),
    notifications: async () => readNotifications((await gate.output()).replace(/^open\n/, "")),
  };
}

interface QueryAnswer {
  readonly data: { readonly result: readonly { readonly metric: Labels }[] };
}

async function query(socketPath: string, expression: string): Promise<readonly Labels[]> {
  const sent = request({
    socketPath,
    path: `/api/v1/query?query=${encodeURIComponent(expression)}`,
    agent: false,
  });
  sent.end();
  const [response] = await once(sent, "response");
  const { data }: QueryAnswer = JSON.parse(await text(response));
  return data.result.map(({ metric }) => metric);
}

/** A receiver, and by kind how it is told. */
interface Receiver {
  readonly name: string;
  readonly [kind: `${string}_configs`]: readonly { readonly send_resolved?: boolean }[];
}

/** The example, but for its receivers: a webhook for each that tells somebody. */
async function alertmanagerConfig({ webhook: port }: Ports): Promise<string> {
  const example: { readonly receivers: readonly Receiver[] } = parse(
    await readFile(join(MONITORING, "alertmanager/alertmanager.yml"), "utf8"),
    { merge: true },
  );
  const receivers = example.receivers.map(({ name, ...kinds }) => {
    const [config] = Object.values(kinds).flat();
    const url = `http://127.0.0.1:${port}/${name}`;
    return {
      name,
      webhook_configs: config === undefined ? [] : [{ url, send_resolved: config.send_resolved ?? true }],
    };
  });
  return stringify({ ...example, receivers, templates: [] });
}

// Each span as short as it goes; the rules are as they are.
function prometheusConfig({ exporters }: LabPlan, { alertmanager }: Ports): string {
  return stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: [`${MONITORING}/prometheus/*.rules.yml`],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanager}`] }] }] },
    scrape_configs: [
      {
        job_name: "appliance-exporter",
        basic_auth: OPERATOR,
        static_configs: [
          { targets: exporters.map(({ scrapeAddress }) => `${scrapeAddress}:${EXPORTER_PORT}`) },
        ],
      },
    ],
  });
}
