import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { formatTable } from "../../src/cli/format.ts";
import { addBridge, addLink, addNamespace } from "../../test/e2e/lab/network.ts";
import { openSandbox, type Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { createWebsite } from "../../test/e2e/lab/websites.ts";
import { toolPath } from "../../test/support/tool.ts";
import { configuredCluster, startExporter, writeCertificates } from "./exporter.ts";
import { FLEET, serverId } from "./node.ts";
import { clusterName, fleetAddress, nodeName, play, type Lab, type Outcome } from "./play.ts";
import { SITES, SITUATIONS, type Situation } from "./situations.ts";

/**
 * `npm run lab:failover [-- WORD]`: builds clusters of real keepalived, lets the exporter predict what a failover would cost, lets the
 * master fail, and asks as a visitor what is lost. Exits with 1 where that differs. WORD: only situations whose name has it.
 */
const AT_ONCE = 6;
const [word = ""] = process.argv.slice(2);

toolPath("curl");
const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-failover-"));
const sandbox = await openSandbox();
try {
  const lab = await build();
  const limit = pLimit(AT_ONCE);
  const outcomes = await Promise.all(
    SITUATIONS.map((situation, nth) => ({ situation, nth }))
      .filter(({ situation }) => situation.name.includes(word))
      .map(({ situation, nth }) => limit(() => attempt(lab, situation, nth))),
  );
  const rows = outcomes.map(({ situation, state, predicted, lost, isEqual }) => [
    situation.name,
    state,
    predicted.join(", "),
    lost.join(", "),
    isEqual ? (situation.predicted ?? "yes") : "NO",
  ]);
  process.stdout.write(formatTable(["situation", "state", "predicted", "lost", "equal"], rows));
  process.exitCode = outcomes.every(({ isEqual }) => isEqual) ? 0 : 1;
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

async function attempt(lab: Lab, situation: Situation, nth: number): Promise<Outcome> {
  try {
    return await play(lab, situation, nth);
  } catch (cause) {
    throw new Error(`cannot be played: ${situation.name}`, { cause });
  }
}

async function build(): Promise<Lab> {
  await addBridge(sandbox, FLEET.bridge, FLEET.exporter);
  const hosts = SITUATIONS.flatMap(({ members }, nth) => members.map((_, order) => fleetAddress(nth, order)));
  await writeCertificates(folder, hosts);
  const servers = await startServers(sandbox);
  const fleet = await startExporter(sandbox, folder, exporterConfig());
  return {
    sandbox,
    folder,
    predict: async (cluster) => {
      const { clusters } = await fleet();
      const found = clusters.find(({ name }) => name === cluster);
      return Object.fromEntries(found?.appliances.map(({ name, failover }) => [name, failover]) ?? []);
    },
    turnAway: async (site, address) =>
      servers.find(({ name }) => name === site)?.setMaintenance(true, address),
  };
}

/** Everything is polled as often as it may be. */
function exporterConfig() {
  const timing = { interval: "1s", timeout: "900ms" };
  return {
    polling: { vrrp: timing, websites: timing, discovery: timing },
    website_discovery: true,
    clusters: SITUATIONS.map(({ members }, nth) =>
      configuredCluster(
        clusterName(nth),
        members.map(({ is }, order) => ({
          name: nodeName(nth, order),
          address: fleetAddress(nth, order),
          enabled: is !== "disabled",
        })),
      ),
    ),
  };
}

/** Two servers behind each website. */
async function startServers(within: Sandbox) {
  const namespace = "servers";
  await addNamespace(within, namespace);
  const { bridge, servers } = FLEET;
  await addLink(within, { namespace, device: "fleet0", bridge, address: `${servers}/24` });
  const all = SITES.flatMap((site) => [
    { id: serverId(site, "first"), name: site },
    { id: serverId(site, "second"), name: `${site}-second` },
  ]);
  return Promise.all(
    all.map(async (each) => {
      const server = createWebsite(within, { ...each, namespace, folder });
      await server.start();
      return server;
    }),
  );
}
