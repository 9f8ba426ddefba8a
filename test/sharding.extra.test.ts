import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createStaticVrrp } from "../src/appliance/vrrp-static.ts";
import { AUTHORITY, startAppliance } from "./appliance/support.ts";
import { shardingConfig } from "./support/documented-config.ts";
import { eventually } from "./support/eventually.ts";
import { startTestExporter, type ExporterUnderTest } from "./support/exporter.ts";
import { interfaceOf } from "./support/observations.ts";
import { startPrometheus } from "./support/prometheus-server.ts";
import { toolPath } from "./support/tool.ts";

const CLUSTERS = Array.from({ length: 20 }, (_, index) => `c${String(index).padStart(2, "0")}`);

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "appliance-exporter-sharding-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Clusters of two reference appliances each, MASTER and BACKUP. */
async function clusterEntries(): Promise<readonly unknown[]> {
  return Promise.all(
    CLUSTERS.map(async (name) => ({
      name,
      appliances: await Promise.all(
        ["MASTER", "BACKUP"].map(async (state, index) => {
          const { port } = await startAppliance({
            vrrp: createStaticVrrp([{ ...interfaceOf({ state }), priority: 204, alias: [] }]),
          });
          return { name: `${name}-${index + 1}`, base_url: `https://127.0.0.1:${port}` };
        }),
      ),
    })),
  );
}

async function startExporter(clusters: readonly unknown[]): Promise<ExporterUnderTest> {
  const http = {
    basic_auth: { username: "monitor", password: "pass:word" },
    tls_config: { ca_file: "ca.pem" },
  };
  return startTestExporter({
    config: { polling: { vrrp: { interval: "2s" } }, http_client: http, clusters },
    files: { "ca.pem": AUTHORITY.cert },
    pollingMode: "probe",
  });
}

/** The clusters of which this exporter knows the groups now. */
async function polledBy(exporter: ExporterUnderTest): Promise<readonly string[]> {
  const up = (await exporter.scrape()).all("appliance_up").filter(({ value }) => value === 1);
  return [...new Set(up.map(({ labels }) => labels["ha_cluster"] ?? ""))].toSorted();
}

test("promtool has nothing to say against the documented configuration", async () => {
  const file = join(await folder(), "prometheus.yml");
  await writeFile(file, shardingConfig());
  const { status, stdout, stderr } = spawnSync(toolPath("promtool"), ["check", "config", file], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("is valid prometheus config file syntax");
});

test("Prometheus has each cluster polled by one of two exporters, and by the other when the first is taken out", async () => {
  const clusters = await clusterEntries();
  const [first, second] = [await startExporter(clusters), await startExporter(clusters)];
  onTestFinished(second.stop);
  // As documented, but for where the exporters are and how often they are asked.
  const config = shardingConfig()
    .replaceAll("exporter-0.example:10849", `127.0.0.1:${first.port}`)
    .replaceAll("exporter-1.example:10849", `127.0.0.1:${second.port}`)
    .replaceAll("scrape_interval: 15s", "scrape_interval: 5s")
    .replaceAll("scrape_timeout: 10s", "scrape_timeout: 5s");
  const prometheus = await startPrometheus(config);
  onTestFinished(prometheus.stop);

  const shares = await eventually(
    async () => {
      const [mine, others] = [await polledBy(first), await polledBy(second)];
      expect([...mine, ...others].toSorted()).toEqual(CLUSTERS);
      return [mine, others];
    },
    { everyMs: 200 },
  );
  expect(shares.map((share) => share.length).every((count) => count > 0)).toBe(true);
  await eventually(
    async () => {
      const healthy = await prometheus.query('probe_success{job="appliances"} == 1');
      expect(new Set(healthy.map(({ labels }) => labels["instance"]))).toEqual(new Set(CLUSTERS));
      expect(healthy).toHaveLength(CLUSTERS.length);
      expect(await prometheus.query("vrrp_group_masters == 1")).toHaveLength(CLUSTERS.length);
    },
    { everyMs: 200 },
  );

  await first.stop();
  const shard0 = `replacement: 127.0.0.1:${first.port}`;
  await prometheus.reload(config.replace(shard0, `replacement: 127.0.0.1:${second.port}`));
  await eventually(async () => expect(await polledBy(second)).toEqual(CLUSTERS), { everyMs: 200 });
});
