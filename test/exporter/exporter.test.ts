import { X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import { expect, vi } from "vitest";
import type { FleetDocument } from "../../src/exporter/document/schema.ts";
import { answer, healthy } from "../faults/behaviours.ts";
import { entry, test, type Stage } from "../faults/stage.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { portOf, startFaultServer } from "../support/fault-server.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";

// Polls come due each second, several times.
vi.setConfig({ testTimeout: 30_000 });

/** An appliance whose one interface is in a state that the test sets. */
async function startAppliance(stage: Stage) {
  let state = "MASTER";
  const server = await stage.server(({ socket, onRequest }) =>
    onRequest(() => {
      const carp0 = { vhid: "2", vip: "192.0.2.100", state_current: state };
      socket.write(answer(JSON.stringify({ carp0 })));
    }),
  );
  return { ...server, become: (next: string) => void (state = next) };
}

function configWith(...appliances: readonly unknown[]): string {
  return JSON.stringify({ polling: { vrrp: RARELY }, appliances });
}

test.concurrent("a failover is seen, counted and logged with old and new", async ({ stage }) => {
  const appliance = await startAppliance(stage);
  const exporter = await stage.exporter({ config: configWith(entry("fw-a", appliance)) });
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

test.concurrent("an appliance that a reload removes is gone at once, and one that it adds is polled at once", async ({
  stage,
}) => {
  const [old, fresh] = [await startAppliance(stage), await startAppliance(stage)];
  const exporter = await stage.exporter({ config: configWith(entry("fw-a", old)) });
  await pollTimes(exporter, { appliances: ["fw-a"], times: 1 });
  await exporter.write("config.yaml", configWith(entry("fw-b", fresh)));
  expect(await exporter.reload()).toBe(true);
  expect((await exporter.scrape()).text).not.toContain('appliance="fw-a"');
  await eventually(async () => {
    expect((await exporter.scrape()).value("appliance_up", { appliance: "fw-b" })).toBe(1);
  });
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toMatchObject([
    { added: ["fw-b"], removed: ["fw-a"], changed: [] },
  ]);
});

test.concurrent("an exporter polls and shows the clusters of its shard only, also after a reload", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  // Of two shards, fra and waf-lab are in the first, ams and lon in the second.
  const exporter = await stage.exporter({
    config: configWith(entry("ams", server), entry("fra", server)),
    shard: { index: 0, total: 2 },
  });
  const shown = async (): Promise<unknown> => {
    const samples = await exporter.scrape();
    const response = await fetch(`${exporter.url}/api/v1/fleet`);
    const { exporter: self, clusters }: FleetDocument = JSON.parse(await response.text());
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
  await exporter.write("config.yaml", configWith(entry("lon", server), entry("waf-lab", server)));
  expect(await exporter.reload()).toBe(true);
  await eventually(async () =>
    expect(await shown()).toEqual({ ...facts, up: ["waf-lab"], clusters: ["waf-lab"] }),
  );
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toMatchObject([
    { added: ["waf-lab"], removed: ["fra"] },
  ]);
});

test.concurrent("a split brain is confirmed by polls out of turn, and is the same on the metrics and in the document", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const appliances = ["fw-0", "fw-1"].map((name) => {
    return { ...entry(name, server), base_url: `http://127.0.0.1:${server.port}/${name}` };
  });
  const exporter = await stage.exporter({
    config: { polling: { vrrp: RARELY }, clusters: [{ name: "ams", appliances }] },
  });
  await eventually(async () => {
    expect((await exporter.scrape()).value("vrrp_group_state", { state: "split_brain" })).toBe(1);
  });
  const response = await fetch(`${exporter.url}/api/v1/fleet`);
  expect(await response.json()).toMatchObject({
    verdict: "wrong",
    clusters: [{ state: "up", groups: [{ state: "split_brain" }] }],
    // It was so when it was first seen.
    incidents: [],
  });
});

test.concurrent("a file of known certificates is watched: an appliance is up with its own one, and another one is logged", async ({
  stage,
}) => {
  const leaf = await (await createAuthority()).issue();
  const { port, stop } = await startFaultServer(healthy, leaf);
  stage.cleanUp(stop);
  const own = new X509Certificate(leaf.cert).fingerprint256;
  const other = Array.from({ length: 32 }, () => "AB").join(":");
  const config = {
    polling: { vrrp: RARELY },
    http_client: { tls_config: { known_certificates_file: "known" } },
    appliances: [{ name: "fw-a", base_url: `https://127.0.0.1:${port}` }],
  };
  const exporter = await stage.exporter({ config, watchIntervalMs: 50 });
  const details = () =>
    exporter.log.lines.filter(({ reason }) => reason === "tls").map(({ detail }) => detail);
  await eventually(() => {
    expect(details()).toEqual([
      `the certificate is not known yet, SHA-256 ${own}: run appliance-exporter trust fw-a`,
    ]);
  });
  await exporter.write("known", `fw-a ${own.replaceAll(":", "").toLowerCase()}\n`);
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

test.concurrent("a member whose base_url is a VIP is not polled as itself, wherever the VIP is, until its own address is configured", async ({
  stage,
}) => {
  /** The VIP, and the address of the appliance that is MASTER there. */
  const [vip, ownA, ownB] = ["127.0.0.3", "127.0.0.1", "127.0.0.2"];
  let master = ownA;
  const server = createServer(({ url, socket }, response) => {
    const at = socket.localAddress === vip ? master : socket.localAddress;
    const carp0 = {
      vhid: "2",
      vip: "192.0.2.100",
      alias: [vip],
      state_current: at === master ? "MASTER" : "BACKUP",
    };
    const lists: Readonly<Record<string, unknown>> = {
      "/api/v1/interface/virtual": { carp0: { priority: "100", advskew: "154", ...carp0 } },
    };
    response.end(JSON.stringify(lists[url ?? ""] ?? "HTTP CONNECT ----- HTTP\nHTTP/1.1 200 OK\n\n"));
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  stage.cleanUp(() => void server.close());
  const configFor = (addressOfB: string): string =>
    JSON.stringify({
      polling: { vrrp: RARELY, websites: RARELY },
      clusters: [
        {
          name: "ams",
          websites: [{ id: 1 }],
          appliances: [ownA, addressOfB].map((host, nth) => {
            return {
              name: nth === 0 ? "a" : "b",
              base_url: `http://${host}:${portOf(server)}`,
              allow_http: true,
            };
          }),
        },
      ],
    });
  const exporter = await stage.exporter({ config: configFor(vip) });
  const problems = async (): Promise<readonly string[]> => {
    const document: FleetDocument = JSON.parse(await (await fetch(`${exporter.url}/api/v1/fleet`)).text());
    return document.problems.map(({ kind, summary }) => `${kind}: ${summary}`);
  };
  const WHY =
    "its base URL leads to a VIP or alias, where whichever appliance is MASTER answers; use its own address (vip)";
  const REFUSED = `appliance_refused: b is not polled: ${WHY}. Nobody watches it`;
  const first = await pollTimes(exporter, { appliances: ["a", "b"], times: 1 });
  expect(await problems()).toEqual([
    `${REFUSED}, its cluster has a MASTER`,
    `backup_unknown: a is MASTER of 192.0.2.100, and it is not known whether it has a backup: b: ${WHY}`,
  ]);
  expect(first.value("vrrp_group_masters")).toBe(1);
  expect(first.linesOf("b", "vrrp_")).toEqual([]);
  expect(first.linesOf("b", "website_up")).toEqual([]);
  expect(first.value("appliance_state", { appliance: "b", state: "refused" })).toBe(1);
  expect(first.value("appliance_failover_state", { appliance: "a", state: "unknown" })).toBe(1);

  master = ownB;
  const moved = await pollTimes(exporter, { appliances: ["a", "b"], times: 2 });
  expect(await problems()).toEqual([
    `master_unknown: Who is MASTER of 192.0.2.100 is not known: b: ${WHY}`,
    REFUSED,
  ]);
  expect(moved.linesOf("b", "vrrp_")).toEqual([]);

  await exporter.write("config.yaml", configFor(ownB));
  expect(await exporter.reload()).toBe(true);
  await eventually(async () => expect(await problems()).toEqual([]));
  expect((await exporter.scrape()).value("vrrp_is_master", { appliance: "b" })).toBe(1);
});
