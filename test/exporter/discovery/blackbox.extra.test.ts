import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { createFolder } from "../config/folder.ts";
import { PROBES, RULES_TEXT } from "../../monitoring/alert-rules.ts";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { closedPort, portOf } from "../../support/fault-server.ts";
import { startPrometheus, type Prometheus } from "../../support/prometheus-server.ts";
import { toolPath } from "../../support/tool.ts";
import { detailsOf, startDiscovering, startSimulated } from "./appliance.ts";
import { endChild } from "../../support/child.ts";

const AUTHORITY = await createAuthority();
/** Public to the exporter: loopback addresses are no targets. */
const [HOST, VIP] = ["192.0.2.177", "192.0.2.178"];

/** An address of this machine until the test ends. */
function addAddress(address: string): void {
  const ip = (action: string) =>
    execFileSync(toolPath("ip"), ["address", action, `${address}/32`, "dev", "lo"]);
  ip("replace");
  onTestFinished(() => void ip("delete"));
}

/** A website over HTTPS; returns its port. */
async function startWebsite(): Promise<number> {
  const keys = await AUTHORITY.issue({ hosts: [HOST, VIP] });
  const server = createServer(keys, (_, response) => void response.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return portOf(server);
}

/** Starts blackbox_exporter with the example's module, and returns its port before it listens. */
async function startBlackbox(): Promise<number> {
  const { modules } = parse(exampleOf("blackbox.yml"));
  const { website } = modules;
  const trusting = { ...website, http: { ...website.http, tls_config: { ca_file: "ca.pem" } } };
  const folder = await createFolder({
    "blackbox.yml": JSON.stringify({ modules: { website: trusting } }),
    "ca.pem": AUTHORITY.cert,
  });
  const port = await closedPort();
  const child = spawn(
    toolPath("prometheus-blackbox-exporter"),
    ["--config.file=blackbox.yml", `--web.listen-address=127.0.0.1:${port}`],
    { cwd: folder, stdio: "ignore" },
  );
  onTestFinished(() => endChild(child));
  return port;
}

function exampleOf(name: string): string {
  return readFileSync(new URL(`../../../monitoring/blackbox/${name}`, import.meta.url), "utf8");
}

/** A Prometheus with both files of rules, the example's job with these addresses, and the job of the exporter. */
async function startExample(exporterPort: number, blackboxPort: number): Promise<Prometheus> {
  const addressed = exampleOf("prometheus.yml")
    .replace("exporter.example:10849", `127.0.0.1:${exporterPort}`)
    .replace("blackbox.example:9115", `127.0.0.1:${blackboxPort}`);
  const {
    rule_files: own,
    scrape_configs: [probes],
  } = parse(addressed);
  const job = {
    job_name: "appliance-exporter",
    static_configs: [{ targets: [`127.0.0.1:${exporterPort}`] }],
  };
  const prometheus = await startPrometheus(
    {
      global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
      rule_files: [...own, "appliance-exporter.rules.yml"],
      scrape_configs: [job, { ...probes, scrape_interval: "1s" }],
    },
    { "appliance-exporter.rules.yml": RULES_TEXT, "blackbox.rules.yml": PROBES.text },
  );
  onTestFinished(prometheus.stop);
  return prometheus;
}

test("a real blackbox_exporter probes discovered websites by their own host and by VIP, and shows their certificates", async (running) => {
  for (const address of [HOST, VIP]) addAddress(address);
  const sitePort = await startWebsite();
  const vhost = { name: HOST, port: String(sitePort), port2: "", proto: "https" };
  const members = { a: await startSimulated(running), b: await startSimulated(running) };
  for (const member of Object.values(members)) {
    member.vip = VIP;
    member.details.set(1, detailsOf("shop", { vhost }));
  }
  members.b.state = "BACKUP";
  const exporter = await startDiscovering(running, members, {}, { website_targets: { ports: [sitePort] } });
  // Prometheus asks once a minute.
  await eventually(async () => {
    const found = await (await fetch(`${exporter.url}/sd/websites`)).text();
    expect(found.match(/"targets"/g)).toHaveLength(2);
  });
  const prometheus = await startExample(exporter.port, await startBlackbox());
  await eventually(async () => {
    const probed = await prometheus.query("probe_success and probe_ssl_earliest_cert_expiry > time()");
    expect(probed.map(({ labels, values }) => ({ ...labels, success: values[0] }))).toEqual([
      {
        __name__: "probe_success",
        job: "websites",
        ha_cluster: "ams",
        website: "shop",
        instance: `https://${HOST}:${sitePort}/`,
        success: 1,
      },
      {
        __name__: "probe_success",
        job: "websites",
        ha_cluster: "ams",
        website: "shop",
        instance: `https://${VIP}:${sitePort}/`,
        vip: VIP,
        success: 1,
      },
    ]);
  });
  await eventually(async () => {
    const answering = await prometheus.query("ha_cluster:answering:info");
    expect(answering.map(({ labels }) => labels["ha_cluster"])).toEqual(["ams"]);
  });
});
