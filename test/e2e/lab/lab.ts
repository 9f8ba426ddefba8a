import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { addExporter, passwordFile, type Exporter } from "./exporter.ts";
import {
  CREDENTIALS,
  planCluster,
  planLab,
  WEBSITE_ADDRESS,
  type ClusterName,
  type ExporterName,
  type LabPlan,
  type WebsiteName,
} from "./fleet.ts";
import { startMonitoring, type Monitoring } from "./monitoring.ts";
import { addBridge, addLink, addNamespace } from "./network.ts";
import { addCluster, type Cluster } from "./node.ts";
import { openSandbox, type Sandbox } from "./sandbox.ts";
import { createWebsite, type Website } from "./websites.ts";

/** Everything, running and in good order. */
export interface Lab {
  /** One for each version of Prometheus and Alertmanager. */
  readonly monitoring: readonly Monitoring[];
  cluster(name: ClusterName): Cluster;
  website(name: WebsiteName): Website;
  exporter(name: ExporterName): Exporter;
  /** Has the exporters use another password for an appliance from now on. */
  setPassword(appliance: string, password: string): Promise<void>;
  /** Ends every process and removes every file. */
  close(): Promise<void>;
}

// Rules tell of certificates that end within two weeks.
const CERTIFICATES_END = new Date(Date.now() + 90 * 86_400_000);
/** A Node process takes about half a second of a core until it runs. */
const STARTING_AT_ONCE = 3;

/** Starts a lab with these exporters and what they poll, and waits until Prometheus finds everything in good order. What was started ends where it rejects. */
export async function startLab(exporters: readonly ExporterName[]): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-e2e-"));
  const sandbox = await openSandbox();
  const close = async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { ...(await build(sandbox, folder, planLab(exporters))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(sandbox: Sandbox, folder: string, plan: LabPlan): Promise<Omit<Lab, "close">> {
  await addBridge(sandbox, "fleet");
  await addBridge(sandbox, "scrape", "203.0.113.1/24");
  await writeSecrets(folder, plan);
  const websites = await startWebsites(sandbox, folder, plan);
  const clusters = await startClusters(sandbox, folder, plan, websites);
  const exporters = await startExporters(sandbox, folder, plan);
  const monitoring = await startMonitoring(sandbox, folder, plan);
  const assertAllHealthy = () => Promise.all(monitoring.map((each) => assertHealthy(each, plan)));
  await eventually(assertAllHealthy, { timeoutMs: 60_000, everyMs: 500 });
  const setPassword = (appliance: string, password: string) =>
    writeFile(join(folder, passwordFile(appliance)), password);
  return {
    monitoring,
    cluster: (name) => named(clusters, name),
    website: (name) => named(websites, name),
    exporter: (name) => named(exporters, name),
    setPassword,
  };
}

async function writeSecrets(folder: string, { clusters }: LabPlan): Promise<void> {
  const authority = await createAuthority();
  const nodes = clusters.flatMap((cluster) => planCluster(cluster).nodes);
  const hosts = nodes.map(({ fleetAddress }) => fleetAddress);
  const { cert, key } = await authority.issue({ hosts, notAfter: CERTIFICATES_END });
  const passwords = nodes.map(({ name }) => [passwordFile(name), CREDENTIALS.password] as const);
  const files = [
    ["ca.pem", authority.cert],
    ["appliance.pem", cert],
    ["appliance.key", key],
    ...passwords,
  ] as const;
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text)));
}

async function startWebsites(sandbox: Sandbox, folder: string, plan: LabPlan) {
  const namespace = "websites";
  await addNamespace(sandbox, namespace);
  const address = `${WEBSITE_ADDRESS}/24`;
  await addLink(sandbox, { namespace, device: "fleet0", bridge: "fleet", address });
  const started = plan.websites.map(async (own) => {
    const website = createWebsite(sandbox, { ...own, namespace, folder });
    await website.start();
    return website;
  });
  return Promise.all(started);
}

async function startClusters(sandbox: Sandbox, folder: string, plan: LabPlan, websites: readonly Website[]) {
  const limit = pLimit(STARTING_AT_ONCE);
  const starting = plan.clusters.map((name) =>
    limit(async () => {
      const ids = plan.websites.filter(({ cluster }) => cluster === name).map((website) => website.id);
      const tested = websites.filter(({ id }) => ids.some((each) => each === id));
      // Those of one cluster wait longer than the exporter does.
      const websiteTimeout = name === "outage" ? "10s" : "1s";
      const cluster = await addCluster(sandbox, name, { folder, websites: tested, websiteTimeout });
      // One after the other: so the preferred one is master from the start.
      await cluster.preferred.start();
      await cluster.other.start();
      return cluster;
    }),
  );
  return Promise.all(starting);
}

async function startExporters(sandbox: Sandbox, folder: string, { exporters }: LabPlan) {
  const starting = exporters.map(async (plan) => {
    const exporter = await addExporter(sandbox, plan, folder);
    await exporter.start();
    return exporter;
  });
  return Promise.all(starting);
}

function named<T extends { readonly name: string }>(all: readonly T[], name: T["name"]): T {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

const NOT_HEALTHY = [
  "vrrp_group_masters != 1",
  "vrrp_group_backups != 1",
  "website_up != 1",
  "up != 1",
  'vrrp_is_master{appliance=~".+-b"} != 0',
].join(" or ");

async function assertHealthy(
  { query }: Monitoring,
  { exporters, clusters, websites }: LabPlan,
): Promise<void> {
  const complaints = await query(NOT_HEALTHY);
  if (complaints.length > 0) throw new Error(`not in good order: ${JSON.stringify(complaints)}`);
  const count = async (expression: string, expected: number) => {
    const { length } = await query(expression);
    if (length !== expected) throw new Error(`${length} of ${expected}: ${expression}`);
  };
  await count("vrrp_group_masters", countGroups(exporters.flatMap((each) => each.clusters)));
  await count("group by (ha_cluster) (ha_cluster:url:info)", clusters.length);
  await count("group by (website_id) (website_state{state='up'} == 1)", websites.length);
}

function countGroups(clusters: readonly ClusterName[]): number {
  return clusters.flatMap((name) => planCluster(name).groups).length;
}
