import { X509Certificate } from "node:crypto";
import { createServer, type Server } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import type { FleetDocument } from "../src/status/schema.ts";
import { pollTimes, RARELY } from "./support/poll-times.ts";
import { eventually } from "./support/eventually.ts";
import { createAuthority } from "./support/certificates.ts";
import { startTestExporter, type ExporterUnderTest } from "./support/exporter.ts";
import { portOf } from "./support/fault-server.ts";

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();

/** An appliance whose one interface is in a state that the test sets. */
async function startAppliance(): Promise<{
  port: number;
  connections(): number;
  become(state: string): void;
}> {
  let connections = 0;
  let state = "MASTER";
  const server: Server = createServer(LEAF, (_, response) => {
    response.end(JSON.stringify({ carp0: { vhid: "2", vip: "192.0.2.100", state_current: state } }));
  });
  server.on("secureConnection", () => (connections += 1));
  // However long a busy machine takes between two polls.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: portOf(server), connections: () => connections, become: (next) => void (state = next) };
}

function entry(name: string, port: number, labels: Readonly<Record<string, string>> = {}): unknown {
  return { name, base_url: `https://127.0.0.1:${port}`, labels };
}

function configWith(...appliances: readonly unknown[]): string {
  return JSON.stringify({
    polling: { vrrp: RARELY },
    http_client: { tls_config: { ca_file: "ca.pem" } },
    appliances,
  });
}

async function start(...appliances: readonly unknown[]): Promise<ExporterUnderTest> {
  const exporter = await startTestExporter({
    config: configWith(...appliances),
    files: { "ca.pem": AUTHORITY.cert },
  });
  onTestFinished(exporter.stop);
  return exporter;
}

test("a failover is seen, counted and logged with old and new", async () => {
  const appliance = await startAppliance();
  const exporter = await start(entry("fw-a", appliance.port));
  expect((await pollTimes(exporter, { appliances: ["fw-a"], times: 1 })).value("vrrp_is_master")).toBe(1);
  appliance.become("BACKUP");
  const samples = await pollTimes(exporter, { appliances: ["fw-a"], times: 2 });
  expect(samples.value("vrrp_is_master")).toBe(0);
  expect(samples.value("vrrp_transitions_total")).toBe(1);
  expect(exporter.log.lines.filter(({ msg }) => msg === "vrrp state changed")).toMatchObject([
    {
      level: "info",
      appliance: "fw-a",
      interface: "carp0",
      vhid: 2,
      vip: "192.0.2.100",
      from: "MASTER",
      to: "BACKUP",
    },
  ]);
});

test("a reload keeps counters and connections of what stays, and changed labels take effect at once", async () => {
  const appliance = await startAppliance();
  const exporter = await start(entry("fw-a", appliance.port));
  await pollTimes(exporter, { appliances: ["fw-a"], times: 2 });
  await exporter.write("config.yaml", configWith(entry("fw-a", appliance.port, { site: "ams" })));
  expect(await exporter.reload()).toBe(true);
  const samples = await exporter.scrape();
  expect(samples.value("vrrp_is_master", { appliance: "fw-a", site: "ams" })).toBe(1);
  expect(samples.all("vrrp_is_master")).toHaveLength(1);
  await pollTimes(exporter, { appliances: ["fw-a"], times: 3 });
  // Time has leapt by three quarters of an hour: one more, where the certificate had to be verified anew.
  expect(appliance.connections()).toBeLessThanOrEqual(2);
});

test("an appliance that a reload removes is gone at once, and one that it adds is polled at once", async () => {
  const [old, fresh] = [await startAppliance(), await startAppliance()];
  const exporter = await start(entry("fw-a", old.port));
  await pollTimes(exporter, { appliances: ["fw-a"], times: 1 });
  await exporter.write("config.yaml", configWith(entry("fw-b", fresh.port)));
  expect(await exporter.reload()).toBe(true);
  expect((await exporter.scrape()).text).not.toContain('appliance="fw-a"');
  await eventually(async () => {
    expect((await exporter.scrape()).value("appliance_up", { appliance: "fw-b" })).toBe(1);
  });
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toMatchObject([
    { added: ["fw-b"], removed: ["fw-a"], changed: [], kept: 0 },
  ]);
});

test("an appliance at another address starts anew", async () => {
  const [old, fresh] = [await startAppliance(), await startAppliance()];
  const exporter = await start(entry("fw-a", old.port));
  await pollTimes(exporter, { appliances: ["fw-a"], times: 3 });
  fresh.become("BACKUP");
  await exporter.write("config.yaml", configWith(entry("fw-a", fresh.port)));
  expect(await exporter.reload()).toBe(true);
  expect((await exporter.scrape()).value("vrrp_is_master")).toBeUndefined();
  await eventually(async () => expect((await exporter.scrape()).value("vrrp_is_master")).toBe(0));
  const samples = await exporter.scrape();
  expect(samples.value("vrrp_transitions_total")).toBe(0);
  expect(samples.value("appliance_polls_total")).toBeLessThan(3);
});

test("many reloads at once are one after the other, and the last configuration counts", async () => {
  const appliance = await startAppliance();
  const exporter = await start(entry("fw-a", appliance.port));
  await exporter.write("config.yaml", configWith(entry("fw-z", appliance.port)));
  const results = await Promise.all(Array.from({ length: 100 }, () => exporter.reload()));
  expect(new Set(results)).toEqual(new Set([true]));
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toHaveLength(1);
  expect((await exporter.scrape()).text).toContain('appliance="fw-z"');
});

test("an exporter polls and shows the clusters of its shard only, also after a reload", async () => {
  const { port } = await startAppliance();
  // Of two shards, fra and waf-lab are in the first, ams and lon in the second.
  const exporter = await startTestExporter({
    config: configWith(entry("ams", port), entry("fra", port)),
    files: { "ca.pem": AUTHORITY.cert },
    shard: { index: 0, total: 2 },
  });
  onTestFinished(exporter.stop);
  const shown = async (): Promise<unknown> => {
    const samples = await exporter.scrape();
    const answer = await fetch(`${exporter.url}/api/v1/fleet`);
    const { exporter: self, clusters }: FleetDocument = JSON.parse(await answer.text());
    return {
      ready: (await fetch(`${exporter.url}/-/ready`)).status,
      up: samples.all("appliance_up").map(({ labels }) => labels["appliance"]),
      appliances: samples.value("appliance_exporter_appliances"),
      info: samples.value("appliance_exporter_shard_info", { shard: "0", total: "2" }),
      shards: samples.value("appliance_exporter_shards", { total: "2" }),
      shard: self.shard,
      clusters: clusters.map(({ name }) => name),
    };
  };
  const facts = { ready: 200, appliances: 1, info: 1, shards: 2, shard: { index: 0, total: 2 } };
  await eventually(async () => expect(await shown()).toEqual({ ...facts, up: ["fra"], clusters: ["fra"] }));
  await exporter.write("config.yaml", configWith(entry("lon", port), entry("waf-lab", port)));
  expect(await exporter.reload()).toBe(true);
  await eventually(async () =>
    expect(await shown()).toEqual({ ...facts, up: ["waf-lab"], clusters: ["waf-lab"] }),
  );
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toMatchObject([
    { added: ["waf-lab"], removed: ["fra"] },
  ]);
});

/** A pair of these appliances, polled rarely. */
function pairOf(...ports: readonly number[]): string {
  return JSON.stringify({
    polling: { vrrp: RARELY },
    http_client: { tls_config: { ca_file: "ca.pem" } },
    clusters: [{ name: "ams", appliances: ports.map((port, nth) => entry(`fw-${nth}`, port)) }],
  });
}

test("a split brain is confirmed by polls out of turn, and is the same on the metrics and in the document", async () => {
  const [one, other] = [await startAppliance(), await startAppliance()];
  const exporter = await startTestExporter({
    config: pairOf(one.port, other.port),
    files: { "ca.pem": AUTHORITY.cert },
  });
  onTestFinished(exporter.stop);
  await eventually(async () => {
    expect((await exporter.scrape()).value("vrrp_group_state", { state: "split_brain" })).toBe(1);
  });
  const response = await fetch(`${exporter.url}/api/v1/fleet`);
  expect(await response.json()).toMatchObject({
    verdict: "wrong",
    clusters: [{ state: "up", groups: [{ state: "split_brain" }] }],
    events: [{ kind: "outage", summary: "Split brain: fw-0 and fw-1 are MASTER of 192.0.2.100 (vhid 2)" }],
  });
});

test("a file of known certificates is watched: an appliance is up with its own one, and another one is logged", async () => {
  const { port } = await startAppliance();
  const own = new X509Certificate(LEAF.cert).fingerprint256.replaceAll(":", "").toLowerCase();
  const other = "00".repeat(32);
  const tls_config = { known_certificates_file: "known" };
  const config = {
    polling: { vrrp: RARELY },
    http_client: { tls_config },
    appliances: [entry("fw-a", port)],
  };
  const exporter = await startTestExporter({ config, watchIntervalMs: 50 });
  onTestFinished(exporter.stop);
  const details = () =>
    exporter.log.lines.filter(({ reason }) => reason === "tls").map(({ detail }) => detail);
  await eventually(() => {
    expect(details()).toEqual([
      `the certificate is not known yet, SHA-256 ${own}: run appliance-exporter trust fw-a`,
    ]);
  });
  await exporter.write("known", `fw-a ${own}\n`);
  await eventually(async () => {
    expect((await exporter.scrape()).value("appliance_up", { appliance: "fw-a" })).toBe(1);
  });
  await exporter.write("known", `fw-a ${other}\n`);
  await eventually(() => {
    expect(details()[1]).toBe(
      `the certificate has changed to SHA-256 ${own} from ${other}: if that is expected, run appliance-exporter trust fw-a`,
    );
  });
});
