import { expect } from "vitest";

import { shardOf } from "../src/exporter/config/shard.ts";
import { healthy } from "./faults/behaviours.ts";
import type { Program } from "./faults/program.ts";
import { test, type Stage } from "./faults/stage.ts";
import { eventually } from "./support/eventually.ts";
import type { FaultServer, SeenRequest } from "./support/fault-server.ts";
import { RULES_TEXT } from "./monitoring/alert-rules.ts";
import { startPrometheus } from "./support/prometheus-server.ts";

const CLUSTERS = Array.from({ length: 12 }, (_, nth) => `cluster-${nth}`);
const APPLIANCES = CLUSTERS.flatMap((cluster) => [`${cluster}-a`, `${cluster}-b`]);

/** All appliances are one server, each under its own path. The user name of a request is the name of the exporter. */
function pollOf({ path, head }: SeenRequest): { readonly appliance: string; readonly exporter: string } {
  const [, appliance = ""] = path.split("/");
  const [, base64 = ""] = /^authorization: Basic (\S+)$/im.exec(head) ?? [];
  const [exporter = ""] = Buffer.from(base64, "base64").toString().split(":");
  return { appliance, exporter };
}

/** Starts the exporters of all shards, each in its own process. Their configurations differ in the user name only. */
async function startShards(stage: Stage, fleet: FaultServer, total: number): Promise<readonly Program[]> {
  const base = `http://127.0.0.1:${fleet.port}`;
  const clusters = CLUSTERS.map((name) => ({
    name,
    appliances: ["a", "b"].map((member) => ({
      name: `${name}-${member}`,
      base_url: `${base}/${name}-${member}`,
      allow_http: true,
    })),
  }));
  const started = Array.from({ length: total }, (_, index) => {
    const basic_auth = { username: `${index}/${total}`, password: "x" };
    const config = { polling: { vrrp: { interval: "2s" } }, http_client: { basic_auth }, clusters };
    return stage.program({ config }, { args: [`--shard=${index}/${total}`] });
  });
  return Promise.all(started);
}

/** The configuration of a Prometheus that scrapes these exporters. */
function scraping(exporters: readonly Program[]): string {
  const targets = exporters.map(({ url }) => url.replace("http://", ""));
  return JSON.stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: ["appliance-exporter.rules.yml"],
    scrape_configs: [{ job_name: "appliance-exporter", static_configs: [{ targets }] }],
  });
}

/** Waits until every appliance was polled twice more, and returns who polled it meanwhile. */
async function pollersFromNow({
  requests,
}: FaultServer): Promise<Readonly<Record<string, readonly string[]>>> {
  const from = requests.length;
  return eventually(() => {
    const seen = requests.slice(from).map(pollOf);
    const pollers = APPLIANCES.map((name) => {
      const own = seen.filter(({ appliance }) => appliance === name);
      if (own.length < 2) throw new Error(`${name} was not polled twice`);
      return [name, [...new Set(own.map(({ exporter }) => exporter))].toSorted()] as const;
    });
    return Object.fromEntries(pollers);
  });
}

/** Each appliance with the one exporter that polls it. */
function byShard(total: number): Readonly<Record<string, readonly string[]>> {
  const entries = CLUSTERS.flatMap((cluster) => {
    const pollers = [`${shardOf(cluster, total)}/${total}`];
    return [[`${cluster}-a`, pollers] as const, [`${cluster}-b`, pollers] as const];
  });
  return Object.fromEntries(entries);
}

test("shards poll every appliance once, and a change from two to three shards leaves none unpolled", async ({
  stage,
}) => {
  const fleet = await stage.server(healthy);
  const two = await startShards(stage, fleet, 2);
  const rules = { "appliance-exporter.rules.yml": RULES_TEXT };
  const prometheus = await startPrometheus(scraping(two), rules);
  stage.cleanUp(prometheus.stop);

  const known = (times: number) => async () => {
    const counts = await prometheus.query("count by (appliance) (appliance_up == 1)");
    const found = counts.map(({ labels, values: [count] }) => `${labels["appliance"]}: ${count}`);
    expect(found.toSorted()).toEqual(APPLIANCES.map((name) => `${name}: ${times}`).toSorted());
  };
  await eventually(known(1), { everyMs: 200 });
  expect(await pollersFromNow(fleet)).toEqual(byShard(2));
  const completeMs = Date.now();

  const three = await startShards(stage, fleet, 3);
  await prometheus.reload(scraping([...two, ...three]));
  for (const { url } of three) {
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), { everyMs: 200 });
  }
  await eventually(known(2), { everyMs: 200 });
  const lastOfTwo = fleet.requests.length;
  await prometheus.reload(scraping(three));
  for (const { kill, exit } of two) {
    kill("SIGTERM");
    await exit;
  }
  await eventually(known(1), { everyMs: 200 });
  expect(await pollersFromNow(fleet)).toEqual(byShard(3));

  // The new set polled every appliance before the old one ended.
  const before = fleet.requests
    .slice(0, lastOfTwo)
    .map(pollOf)
    .filter(({ exporter }) => exporter.endsWith("/3"));
  expect(new Set(before.map(({ appliance }) => appliance))).toEqual(new Set(APPLIANCES));
  // Prometheus knew every appliance at every second, whichever scrapes a busy machine lost, and no shard was missing.
  const [counts] = await prometheus.queryRange(
    "count(count by (appliance) (max_over_time(appliance_up[30s]) == 1))",
    completeMs,
  );
  expect(new Set(counts?.values)).toEqual(new Set([APPLIANCES.length]));
  const missing = 'ALERTS{alertname="ApplianceExporterShardMissing"}';
  expect(await prometheus.queryRange(missing, completeMs)).toEqual([]);
});
