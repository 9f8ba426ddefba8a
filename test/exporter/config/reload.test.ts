import { createServer } from "node:https";
import type { Socket } from "node:net";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { pollTimes, RARELY } from "../../support/poll-times.ts";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestExporter, type ExporterUnderTest } from "../../support/exporter.ts";
import { portOf } from "../../support/fault-server.ts";

// Polls come due each second, several times.
vi.setConfig({ testTimeout: 40_000 });

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();

interface Fleet {
  readonly port: number;
  /** List requests by the first segment of their path. */
  readonly requests: ReadonlyMap<string, number>;
  /** Their connections, likewise. */
  readonly connections: ReadonlyMap<string, ReadonlySet<Socket>>;
}

/** An HTTPS server for many appliances, each at its own path. */
async function startFleet(): Promise<Fleet> {
  const requests = new Map<string, number>();
  const connections = new Map<string, Set<Socket>>();
  const server = createServer(LEAF, ({ url = "", socket }, response) => {
    const [, name = ""] = url.split("/");
    requests.set(name, (requests.get(name) ?? 0) + 1);
    connections.set(name, (connections.get(name) ?? new Set<Socket>()).add(socket));
    response.end(JSON.stringify({ carp0: { vhid: "2", vip: "192.0.2.100", state_current: "MASTER" } }));
  });
  // Longer than a busy machine takes between two polls.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: portOf(server), requests, connections };
}

const MEMBERS = Array.from({ length: 15 }, (_, nth) => `fw-${nth}`);

function configOf({ port }: Fleet, side: string, more: readonly string[] = []): string {
  const base = `https://127.0.0.1:${port}`;
  return JSON.stringify({
    polling: { vrrp: RARELY },
    http_client: { tls_config: { ca_file: "ca.pem" } },
    appliances: [...more, ...MEMBERS].map((name) => ({ name, base_url: `${base}/${side}-${name}` })),
  });
}

async function start(config: string, watchIntervalMs = 600_000): Promise<ExporterUnderTest> {
  const exporter = await startTestExporter({ config, files: { "ca.pem": AUTHORITY.cert }, watchIntervalMs });
  onTestFinished(exporter.stop);
  return exporter;
}

test("a reload every 100 ms neither loses nor repeats a poll, and keeps every connection", async () => {
  const fleet = await startFleet();
  const still = await start(configOf(fleet, "still"));
  const reloading = await start(configOf(fleet, "reloading"));
  const count = (side: string, name: string) => fleet.requests.get(`${side}-${name}`) ?? 0;
  let reloads = 0;
  const timer = setInterval(() => {
    reloads += 1;
    const more = reloads % 2 === 0 ? ["extra"] : [];
    void reloading.write("config.yaml", configOf(fleet, "reloading", more)).then(reloading.reload);
  }, 100);
  onTestFinished(() => clearInterval(timer));
  const reloaded = () => reloading.log.lines.filter(({ msg }) => msg === "configuration reloaded").length;
  await Promise.all(
    [still, reloading].map((exporter) => pollTimes(exporter, { appliances: MEMBERS, times: 3 })),
  );
  await eventually(() => expect(reloaded()).toBeGreaterThan(10));
  const samples = await pollTimes(reloading, { appliances: MEMBERS, times: 1 });
  clearInterval(timer);
  // Three, and a fourth if its regular instant comes while this test lasts. Repeated ones would be as many as reloads.
  const expected = [3, 4];
  for (const name of MEMBERS) {
    expect(expected).toContain(count("still", name));
    expect(expected).toContain(count("reloading", name));
    // The clock has moved by an hour: at most two more, to verify the certificate again.
    expect(fleet.connections.get(`reloading-${name}`)?.size).toBeLessThanOrEqual(3);
    expect(expected).toContain(
      samples.value("appliance_polls_total", { appliance: name, operation: "vrrp" }),
    );
  }
  // One more may have been in flight when the clock moved; repeated polls would be skipped for each appliance.
  const skipped = samples.value("appliance_exporter_polls_skipped_total", {
    operation: "vrrp",
    reason: "overlap",
  });
  expect(skipped).toBeLessThan(MEMBERS.length);
  expect(still.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toEqual([]);
});

test("a changed file is loaded automatically; an invalid one is logged once and the old one stays", async () => {
  const fleet = await startFleet();
  const exporter = await start(configOf(fleet, "a"), 20);
  const lines = (wanted: string) => exporter.log.lines.filter(({ msg }) => msg === wanted).length;
  const isValid = async () =>
    (await exporter.scrape()).value("appliance_exporter_config_last_reload_successful");

  await exporter.write("config.yaml", "appliances: [");
  await eventually(() => expect(lines("reload failed, the old configuration stays")).toBe(1));
  expect(await isValid()).toBe(0);
  // As many checks as a valid change needs; another try would be logged again.
  await exporter.write("next", configOf(fleet, "a", ["fresh"]));
  await rename(join(exporter.folder, "next"), join(exporter.folder, "config.yaml"));
  await eventually(() => expect(lines("configuration reloaded")).toBe(1));
  expect(await isValid()).toBe(1);
  expect(lines("reload failed, the old configuration stays")).toBe(1);
  expect(lines("configuration is invalid")).toBe(1);
  await eventually(async () =>
    expect((await exporter.scrape()).value("appliance_up", { appliance: "fresh" })).toBe(1),
  );
});

test("POST /-/reload applies the new configuration or returns its errors", async () => {
  const fleet = await startFleet();
  const exporter = await start(configOf(fleet, "a"));
  const post = async () => {
    const response = await fetch(`${exporter.url}/-/reload`, { method: "POST" });
    return [response.status, (await response.text()).replaceAll(exporter.folder, "")];
  };
  await exporter.write("config.yaml", configOf(fleet, "a", ["fresh"]));
  expect(await post()).toEqual([200, "Reloaded\n"]);
  expect((await exporter.scrape()).value("appliance_exporter_appliances")).toBe(MEMBERS.length + 1);
  await exporter.write("config.yaml", "a: 1\nappliances: []\nb: 2\n");
  const unknown =
    "unknown key; expected polling, http_client, kind, website_discovery, website_targets, maintenance, clusters, appliances or config_files";
  expect(await post()).toEqual([500, `/config.yaml:1:1: ${unknown}\n/config.yaml:3:1: ${unknown}\n`]);
  expect((await exporter.scrape()).value("appliance_exporter_appliances")).toBe(MEMBERS.length + 1);
  expect(await (await fetch(`${exporter.url}/config`)).text()).toContain('"name": "fresh"');
});

test("known certificates that are gone at a reload stay trusted; an empty file is no error", async () => {
  const config = JSON.stringify({
    http_client: { tls_config: { known_certificates_file: "known" } },
    appliances: [{ name: "fw-0", base_url: "https://127.0.0.1:1" }],
  });
  // At the start, the file may be missing.
  const exporter = await start(config);
  expect(await exporter.reload()).toBe(true);
  await exporter.write("known", `fw-0 ${"00".repeat(32)}\n`);
  expect(await exporter.reload()).toBe(true);
  await rm(join(exporter.folder, "known"));
  expect(await exporter.reload()).toBe(false);
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration is invalid")).toMatchObject([
    { detail: `${exporter.folder}/known: the file is gone; to trust no certificate, leave it empty` },
  ]);
  await exporter.write("known", "");
  expect(await exporter.reload()).toBe(true);
});
