import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { COMMAND } from "../../support/command.ts";
import { HASH } from "../../exporter/web/support.ts";
import {
  CREDENTIALS,
  EXPORTER_PORT,
  OPERATOR,
  planCluster,
  SITE,
  WEBSITES,
  type ClusterName,
  type ExporterName,
  type ExporterPlan,
} from "./fleet.ts";
import { addLink, addNamespace, type Link } from "./network.ts";
import { start, type Running } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";

export interface Exporter {
  readonly name: ExporterName;
  /** The way to its appliances; Prometheus reaches it by another. */
  readonly fleetLink: Link;
  /** Lets it reach an address no more, or again. */
  block(address: string, isOn: boolean): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Changes planned work; `change` as docs/reference/http-api.md has it. */
  plan(change: object): Promise<void>;
}

/** An exporter that does not run yet. `folder`: of the lab, where certificates and password files are. */
export async function addExporter(
  sandbox: Sandbox,
  { name, clusters, fleetAddress, scrapeAddress }: ExporterPlan,
  folder: string,
): Promise<Exporter> {
  const own = join(folder, name);
  await mkdir(own);
  await writeFile(join(own, "config.yaml"), JSON.stringify(configOf(clusters)));
  const users = { [OPERATOR.username]: `$2y$${HASH}` };
  await writeFile(
    join(own, "web.yaml"),
    JSON.stringify({ basic_auth_users: users, maintenance_users: Object.keys(users) }),
  );
  await addNamespace(sandbox, name);
  const link = (device: string, bridge: string, address: string) =>
    addLink(sandbox, { namespace: name, device, bridge, address: `${address}/24` });
  const fleetLink = await link("fleet0", "fleet", fleetAddress);
  await link("scrape0", "scrape", scrapeAddress);
  const flags = [
    "--config.file=config.yaml",
    "--web.config.file=web.yaml",
    "--web.enable-maintenance",
    `--web.listen-address=${scrapeAddress}:${EXPORTER_PORT}`,
  ];
  let running: Running | undefined;
  return {
    name,
    fleetLink,
    block: async (address, isOn) => {
      const command = ["ip", "-n", name, "route", isOn ? "add" : "del", "unreachable", address];
      await sandbox.run("lab", command);
    },
    start: async () => {
      const command = [process.execPath, COMMAND, "run", ...flags];
      running = start(sandbox, command, { name: "exporter", place: { namespace: name }, folder: own });
      await running.printed(/exporter started/);
    },
    stop: async () => running?.end("SIGTERM"),
    plan: async (change) => {
      const url = `http://${scrapeAddress}:${EXPORTER_PORT}/api/v1/maintenance`;
      const command = ["curl", "--silent", "--show-error", "--fail-with-body", "--json", "@-", url];
      const { username, password } = OPERATOR;
      await sandbox.run("lab", [...command, "--user", `${username}:${password}`], JSON.stringify(change));
    },
  };
}

// A second is the shortest interval that there is.
function configOf(clusters: readonly ClusterName[]): unknown {
  return {
    polling: {
      vrrp: { interval: "1s", timeout: "900ms" },
      websites: { interval: "2s", timeout: "1500ms" },
    },
    http_client: { tls_config: { ca_file: "../ca.pem" } },
    clusters: clusters.map((cluster) => ({
      name: cluster,
      labels: { site: SITE },
      websites: WEBSITES.filter((website) => website.cluster === cluster).map(({ id, name }) => {
        return { id, name, protocol: "http" };
      }),
      appliances: planCluster(cluster).nodes.map(({ name, listen }) => ({
        name,
        base_url: `https://${listen}`,
        http_client: {
          basic_auth: { username: CREDENTIALS.username, password_file: `../${passwordFile(name)}` },
        },
      })),
    })),
  };
}

/** Where the exporters have an appliance's password from, in the folder of the lab. */
export function passwordFile(appliance: string): string {
  return `password-${appliance}`;
}
