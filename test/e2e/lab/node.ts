import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { COMMAND } from "../../support/command.ts";
import { toolPath, UNPACKED_SUITES, type Suite } from "../../support/tool.ts";
import {
  CREDENTIALS,
  planCluster,
  WEBSITE_ADDRESS,
  type ClusterName,
  type GroupPlan,
  type NodePlan,
} from "./fleet.ts";
import { createKeepalived, KEEPALIVED_FILES, type Keepalived } from "./keepalived.ts";
import { addBridge, addLink, addNamespace, type Link } from "./network.ts";
import { start, type Running } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Website } from "./websites.ts";

const DEVICE = "vrrp0";

/** A machine: keepalived, and the reference appliance that tells of it. */
export interface Node {
  readonly name: string;
  readonly keepalived: Keepalived;
  readonly fleetAddress: string;
  /** The way to exporters and websites. */
  readonly fleetLink: Link;
  /** The way to the other node. */
  readonly vrrpLink: Link;
  start(): Promise<void>;
  /** Ends both programs at once, without a word. */
  crash(): Promise<void>;
}

export interface Cluster {
  readonly name: ClusterName;
  /** The node with the higher priority. */
  readonly preferred: Node;
  readonly other: Node;
}

interface ClusterOptions {
  /** Of the lab: certificates are in it, and each node gets one of its own in it. */
  readonly folder: string;
  readonly websites: readonly Website[];
  /** How long an appliance waits for a website. */
  readonly websiteTimeout: string;
}

/** A cluster's network and its nodes, which do not run yet. The newest keepalived runs beside the machine's. */
export async function addCluster(
  sandbox: Sandbox,
  clusterName: ClusterName,
  options: ClusterOptions,
): Promise<Cluster> {
  const { name, groups, bridge, nodes } = planCluster(clusterName);
  await addBridge(sandbox, bridge);
  const add = async (plan: NodePlan, suite?: Suite): Promise<Node> => {
    const folder = join(options.folder, plan.name);
    const links = await connect(sandbox, plan, bridge);
    await mkdir(folder);
    await writeFile(join(folder, "appliance.yaml"), JSON.stringify(applianceConfig(plan, groups, options)));
    const instances = groups.map(({ instance, vhid, vip }) => ({
      name: instance,
      device: DEVICE,
      vhid,
      priority: plan.priority,
      vips: [`${vip}/24`],
    }));
    const program = toolPath("keepalived", suite);
    const keepalived = createKeepalived(sandbox, { namespace: plan.name, folder, instances, program });
    const { fleetAddress } = plan;
    return { fleetAddress, ...links, ...createNode(sandbox, plan.name, folder, keepalived) };
  };
  const [preferred, other] = [await add(nodes[0]), await add(nodes[1], UNPACKED_SUITES.at(-1))];
  return { name, preferred, other };
}

async function connect(sandbox: Sandbox, { name: namespace, ...plan }: NodePlan, bridge: string) {
  await addNamespace(sandbox, namespace);
  const address = `${plan.fleetAddress}/24`;
  return {
    fleetLink: await addLink(sandbox, { namespace, device: "fleet0", bridge: "fleet", address }),
    vrrpLink: await addLink(sandbox, { namespace, device: DEVICE, bridge, address: plan.vrrpAddress }),
  };
}

function createNode(sandbox: Sandbox, name: string, folder: string, keepalived: Keepalived) {
  let appliance: Running | undefined;
  return {
    name,
    keepalived,
    start: async () => {
      await keepalived.start();
      const command = [process.execPath, COMMAND, "appliance", "--config.file=appliance.yaml"];
      appliance = start(sandbox, command, { name: "appliance", place: { namespace: name }, folder });
      await appliance.printed(/appliance started/);
    },
    crash: async () => {
      await Promise.all([keepalived.crash(), appliance?.end("SIGKILL")]);
    },
  };
}

function applianceConfig(
  { listen, type }: NodePlan,
  groups: readonly GroupPlan[],
  { folder, websites, websiteTimeout }: ClusterOptions,
): unknown {
  return {
    listen,
    tls: { cert_file: join(folder, "appliance.pem"), key_file: join(folder, "appliance.key") },
    users: [CREDENTIALS],
    vrrp: {
      source: "keepalived",
      pid_file: KEEPALIVED_FILES.vrrpPid,
      dump_dir: KEEPALIVED_FILES.dumps,
      instances: Object.fromEntries(groups.map(({ instance }) => [instance, { type }])),
    },
    website_test: { timeout: websiteTimeout },
    websites: websites.map(({ id, port }) => ({
      id,
      protocol: "http",
      host: WEBSITE_ADDRESS,
      http_port: port,
    })),
  };
}
