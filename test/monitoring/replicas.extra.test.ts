import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { startAlertmanager } from "../support/alertmanager-server.ts";
import { eventually } from "../support/eventually.ts";
import { portOf } from "../support/fault-server.ts";
import { startPrometheus } from "../support/prometheus-server.ts";
import { RULES, RULES_TEXT } from "./alert-rules.ts";
import { EXAMPLE } from "./alertmanager-example.ts";
import { judged, type Course } from "./judged.ts";
import { healthy, nameOf, series } from "./world.ts";

interface Message {
  readonly alerts: readonly { readonly status: string; readonly labels: Readonly<Record<string, string>> }[];
}
interface PrometheusExample {
  readonly global: object;
  readonly alerting: object;
}
const CONFIG: PrometheusExample = parse(readFileSync(new URL("prometheus.yml", RULES), "utf8"));

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return portOf(server);
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}

/** An exporter that says what the judge says at a second. */
async function serveSplitBrain() {
  let now = 0;
  const split: Course = {
    cluster: "ams",
    members: {
      a: [[0, "MASTER"]],
      b: [
        [0, "BACKUP"],
        [10, "MASTER"],
        [40, "BACKUP"],
      ],
    },
  };
  const all = [
    series("appliance_exporter_build_info", {}, [[0, 1]]),
    ...(await judged([...healthy(2), split], 60)),
  ];
  const server = createServer((_, response) => {
    const lines = all.flatMap(({ metric, labels, valueAt }) => {
      const value = valueAt(now);
      return value === undefined ? [] : [`${nameOf(metric, labels)} ${value}\n`];
    });
    response.end(lines.join(""));
  });
  const port = await listen(server);
  return {
    target: `127.0.0.1:${port}`,
    set: (second: number) => {
      now = second;
    },
  };
}

async function metricOf(url: string, name: string): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1] ?? 0);
}

test("two Prometheus that start anew and two Alertmanagers, set up as the examples are, send one message, and one that it is over", async () => {
  const messages: Message[] = [];
  const hook = await listen(
    createServer((request, response) => {
      const take = async (): Promise<void> => {
        messages.push(JSON.parse(await text(request)));
        response.end();
      };
      void take();
    }),
  );
  const receivers = EXAMPLE.receivers.map(({ name }) => {
    return name === "pager" ? { name, webhook_configs: [{ url: `http://127.0.0.1:${hook}/` }] } : { name };
  });
  const config = stringify({ ...EXAMPLE, global: {}, receivers, templates: [] }).replaceAll(
    "group_interval: 30s",
    "group_interval: 6s",
  );
  const ports = [await freePort(), await freePort()];
  const peers = ports.map((port) => `--cluster.peer=127.0.0.1:${port}`);
  const alertmanagers = await Promise.all(
    ports.map((port) =>
      startAlertmanager(config, {}, [
        `--cluster.listen-address=127.0.0.1:${port}`,
        "--cluster.peer-timeout=2s",
        ...peers,
      ]),
    ),
  );
  for (const { stop } of alertmanagers) onTestFinished(stop);
  await eventually(async () => {
    for (const { url } of alertmanagers) expect(await metricOf(url, "alertmanager_cluster_members")).toBe(2);
  });
  const exporter = await serveSplitBrain();
  const servers = await Promise.all(
    ["a", "b"].map((replica) =>
      startPrometheus(
        {
          global: {
            scrape_interval: "1s",
            scrape_timeout: "1s",
            evaluation_interval: "1s",
            external_labels: { replica },
          },
          rule_files: ["*.rules.yml"],
          alerting: {
            ...CONFIG.alerting,
            alertmanagers: [
              { static_configs: [{ targets: alertmanagers.map(({ url }) => new URL(url).host) }] },
            ],
          },
          scrape_configs: [
            { job_name: "appliance-exporter", static_configs: [{ targets: [exporter.target] }] },
          ],
        },
        { "a.rules.yml": RULES_TEXT.replaceAll(/keep_firing_for: \w+/g, "keep_firing_for: 1s") },
      ),
    ),
  );
  for (const { stop } of servers) onTestFinished(stop);
  const seen = async (expr: string, count: number): Promise<void> => {
    await eventually(async () => {
      for (const each of servers) expect(await each.query(expr)).toHaveLength(count);
    });
  };
  const split = 'ALERTS{alertname="VrrpSplitBrain",alertstate="firing"}';
  const queriesOf = () =>
    Promise.all(alertmanagers.map(({ url }) => metricOf(url, "alertmanager_nflog_queries_total")));
  await seen("ha_cluster:url:info", 3);
  exporter.set(25);
  await seen(split, 1);
  // Each Alertmanager has looked whether the other one has sent it.
  await eventually(async () => expect(Math.min(...(await queriesOf()))).toBeGreaterThan(0));
  // Both end and start anew meanwhile, and judge from what they stored.
  for (const { restart } of servers) await restart();
  const startedMs = Date.now();
  // What vanishes before the first scrape seems to be there for five minutes: Prometheus does not know that it was there.
  const sinceRestart = `min(timestamp(${split}) or timestamp(ha_cluster_problem)) > ${startedMs / 1000}`;
  await eventually(async () => {
    for (const { query } of servers) expect(await query(sinceRestart).catch(() => [])).toHaveLength(1);
  });
  exporter.set(55);
  await seen(split, 0);
  const told = () =>
    messages.flatMap(({ alerts }) => alerts.map(({ status, labels }) => `${status} ${labels["alertname"]}`));
  await eventually(() => expect(told()).toContain("resolved VrrpSplitBrain"));
  const before = await queriesOf();
  await eventually(async () => {
    const after = await queriesOf();
    for (const [nth, count] of before.entries()) expect(after[nth]).toBeGreaterThanOrEqual(count);
  });
  expect(told()).toEqual(["firing VrrpSplitBrain", "resolved VrrpSplitBrain"]);
  expect(messages[0]?.alerts[0]?.labels["replica"]).toBeUndefined();
});
