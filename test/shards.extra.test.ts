import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";

import { shardOf } from "../src/config/shard.ts";
import { startProgram, type Program } from "./faults/program.ts";
import { eventually } from "./support/eventually.ts";
import { writeSetup } from "./support/exporter.ts";
import { portOf } from "./support/fault-server.ts";
import { startPrometheus } from "./support/prometheus-server.ts";

const CLUSTERS = Array.from({ length: 12 }, (_, nth) => `cluster-${nth}`);
const APPLIANCES = CLUSTERS.flatMap((cluster) => [`${cluster}-a`, `${cluster}-b`]);
const RULES = new URL("../monitoring/prometheus/appliance-exporter.rules.yml", import.meta.url);

interface Poll {
  readonly appliance: string;
  readonly exporter: string;
}

interface Fleet {
  readonly port: number;
  /** All polls so far, in the order of their arrival. */
  readonly polls: readonly Poll[];
}

/** All appliances in one server, each under its own path. The user name of a request is the name of the exporter. */
async function startFleet(): Promise<Fleet> {
  const polls: Poll[] = [];
  const server = createServer(({ url = "", headers: { authorization = "" } }, response) => {
    const [, appliance = ""] = url.split("/");
    const [exporter = ""] = Buffer.from(authorization.slice("Basic ".length), "base64").toString().split(":");
    polls.push({ appliance, exporter });
    response.end(JSON.stringify({ carp0: { vhid: "2", vip: "192.0.2.100", state_current: "MASTER" } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: portOf(server), polls };
}

/** Starts the exporters of all shards, each in its own process. Their configurations differ in the user name only. */
async function startShards(fleet: Fleet, total: number): Promise<readonly Program[]> {
  const base = `http://127.0.0.1:${fleet.port}`;
  const clusters = CLUSTERS.map((name) => ({
    name,
    appliances: ["a", "b"].map((member) => ({
      name: `${name}-${member}`,
      base_url: `${base}/${name}-${member}`,
      allow_http: true,
    })),
  }));
  return Promise.all(
    Array.from({ length: total }, async (_, index) => {
      const basic_auth = { username: `${index}/${total}`, password: "x" };
      const config = { polling: { vrrp: { interval: "2s" } }, http_client: { basic_auth }, clusters };
      const folder = await writeSetup({ config });
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const program = await startProgram(folder, { args: [`--shard=${index}/${total}`] });
      onTestFinished(program.end);
      return program;
    }),
  );
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
async function pollersFromNow({ polls }: Fleet): Promise<Readonly<Record<string, readonly string[]>>> {
  const from = polls.length;
  return eventually(() => {
    const seen = polls.slice(from);
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

test("shards poll every appliance once, and a change from two to three shards leaves none unpolled", async () => {
  const fleet = await startFleet();
  const two = await startShards(fleet, 2);
  const rules = { "appliance-exporter.rules.yml": readFileSync(RULES, "utf8") };
  const prometheus = await startPrometheus(scraping(two), rules);
  onTestFinished(prometheus.stop);

  const known = (times: number) => async () => {
    const counts = await prometheus.query("count by (appliance) (appliance_up == 1)");
    const found = counts.map(({ labels, values: [count] }) => `${labels["appliance"]}: ${count}`);
    expect(found.toSorted()).toEqual(APPLIANCES.map((name) => `${name}: ${times}`).toSorted());
  };
  await eventually(known(1), { everyMs: 200 });
  expect(await pollersFromNow(fleet)).toEqual(byShard(2));
  const completeMs = Date.now();

  const three = await startShards(fleet, 3);
  await prometheus.reload(scraping([...two, ...three]));
  for (const { url } of three) {
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), { everyMs: 200 });
  }
  await eventually(known(2), { everyMs: 200 });
  const lastOfTwo = fleet.polls.length;
  await prometheus.reload(scraping(three));
  for (const { kill, exit } of two) {
    kill("SIGTERM");
    await exit;
  }
  await eventually(known(1), { everyMs: 200 });
  expect(await pollersFromNow(fleet)).toEqual(byShard(3));

  // The new set polled every appliance before the old one ended.
  const before = fleet.polls.slice(0, lastOfTwo).filter(({ exporter }) => exporter.endsWith("/3"));
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
