import { execFileSync, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { createFolder } from "../config/folder.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { closedPort, portOf } from "../support/fault-server.ts";
import { startPrometheus } from "../support/prometheus-server.ts";
import { toolPath } from "../support/tool.ts";
import { detailsOf, startDiscovering, startSimulated } from "./appliance.ts";
import { endChild } from "../support/child.ts";

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

/** Returns its port, before it listens. */
async function startBlackbox(): Promise<number> {
  const http = { tls_config: { ca_file: "ca.pem" }, preferred_ip_protocol: "ip4" };
  const modules = { http_2xx: { prober: "http", http } };
  const folder = await createFolder({
    "blackbox.yml": JSON.stringify({ modules }),
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

/** The example of the documentation with these addresses. */
async function documentedConfig(exporterPort: number, blackboxPort: number): Promise<string> {
  const page = await readFile(new URL("../../docs/http-api.md", import.meta.url), "utf8");
  const [, config = ""] = /```yaml\n(scrape_configs:[^`]*)```/.exec(page) ?? [];
  return `global: { scrape_interval: 1s, scrape_timeout: 1s }\n${config}`
    .replace("exporter.example:10849", `127.0.0.1:${exporterPort}`)
    .replace("blackbox.example:9115", `127.0.0.1:${blackboxPort}`);
}

test("a real blackbox_exporter probes discovered websites by their own host and by VIP, and shows their certificates", async () => {
  for (const address of [HOST, VIP]) addAddress(address);
  const sitePort = await startWebsite();
  const vhost = { name: HOST, port: String(sitePort), port2: "", proto: "https" };
  const members = { a: await startSimulated(), b: await startSimulated() };
  for (const member of Object.values(members)) {
    member.vip = VIP;
    member.details.set(1, detailsOf("shop", { vhost }));
  }
  members.b.state = "BACKUP";
  const exporter = await startDiscovering(members, {}, { website_targets: { ports: [sitePort] } });
  // Prometheus asks once a minute.
  await eventually(async () => {
    const found = await (await fetch(`${exporter.url}/sd/websites`)).text();
    expect(found.match(/"targets"/g)).toHaveLength(2);
  });
  const prometheus = await startPrometheus(await documentedConfig(exporter.port, await startBlackbox()));
  onTestFinished(prometheus.stop);
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
});
