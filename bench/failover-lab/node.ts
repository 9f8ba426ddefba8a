import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CREDENTIALS } from "../../test/e2e/lab/fleet.ts";
import {
  createKeepalived,
  KEEPALIVED_FILES,
  type Keepalived,
  type VrrpInstance,
} from "../../test/e2e/lab/keepalived.ts";
import { addLink, addNamespace, type Link } from "../../test/e2e/lab/network.ts";
import { start, type Running } from "../../test/e2e/lab/process.ts";
import type { Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { createWebsite, type Website } from "../../test/e2e/lab/websites.ts";
import { COMMAND } from "../../test/support/command.ts";
import { SITES, type Group, type Member, type Site } from "./situations.ts";

export const FLEET = { bridge: "fleet", exporter: "198.51.100.1/24", servers: "198.51.100.2" } as const;
export const APPLIANCE_PORT = 4849;
/** Every node answers visitors at this port with its name. */
export const NAME_PORT = 7000;
const CLOSED_PORT = 8099;
const DEVICE = "vrrp0";
/** A device that is down until it is set up. */
const TRACKED_DEVICE = "tracked0";

export function sitePort(name: string): number {
  return 81 + SITES.findIndex((each) => each === name);
}

/** Returns the port of a server behind a website. */
function serverPort(name: string, server: Site["server"]): number {
  if (server === "closed") return CLOSED_PORT;
  return serverId(name, server) + 8_000;
}

function serverId(name: string, server: "first" | "second"): number {
  return SITES.findIndex((each) => each === name) + (server === "first" ? 1 : 11);
}

interface NodePlan {
  readonly name: string;
  readonly member: Member;
  readonly fleetAddress: string;
  /** The address of the node in the network of the cluster. */
  readonly vrrpAddress: string;
  readonly network: string;
  readonly bridge: string;
  /** The settings that its VRRP instances have besides. */
  readonly vrrp?: Partial<VrrpInstance>;
}

/** A machine: keepalived, the reference appliance that reports its state, and an nginx that serves the websites. */
export interface Node {
  readonly name: string;
  readonly member: Member;
  readonly fleetAddress: string;
  readonly keepalived: Keepalived;
  /** The network link to the exporter. */
  readonly fleetLink: Link;
  /** While this device is down, a node that is `in_fault` is in FAULT. */
  setTracked(isUp: boolean): Promise<void>;
  /** Starts all programs of the node, also after a crash. */
  start(): Promise<void>;
  endAppliance(): Promise<void>;
  /** Disconnects all links of the node. */
  cut(): Promise<void>;
  /** Connects all links of the node. */
  connect(): Promise<void>;
  /** Kills all programs of the node with SIGKILL. */
  kill(): Promise<void>;
  /** Kills the programs of the node and disconnects its links. */
  crash(): Promise<void>;
}

/** Creates a node that does not run yet. `lab` is the folder with the certificates. */
export async function addNode(sandbox: Sandbox, lab: string, plan: NodePlan): Promise<Node> {
  const { name, member, fleetAddress, vrrpAddress, network, bridge, vrrp } = plan;
  const folder = join(lab, name);
  await mkdir(folder);
  await addNamespace(sandbox, name);
  const link = (device: string, to: string, address: string) =>
    addLink(sandbox, { namespace: name, device, bridge: to, address: `${address}/24` });
  const fleetLink = await link("fleet0", FLEET.bridge, fleetAddress);
  const links = [fleetLink, await link(DEVICE, bridge, vrrpAddress)];
  await sandbox.run({ namespace: name }, ["sysctl", "-q", "net.ipv4.ip_nonlocal_bind=1"]);
  const ip = (line: string) => sandbox.run("lab", ["ip", "-n", name, ...line.split(" ")]);
  await ip(`link add ${TRACKED_DEVICE} type veth peer name tracked1`);
  await ip("link set tracked1 up");
  await writeFile(join(folder, "appliance.yaml"), JSON.stringify(applianceConfig(plan, lab)));
  await writeFile(join(folder, "nginx.conf"), nginxConfig(plan));
  const keepalived = createKeepalived(sandbox, {
    namespace: name,
    folder,
    instances: member.groups.map(({ vhid, priority, addresses, excluded }) => ({
      name: instanceOf(vhid),
      device: DEVICE,
      vhid,
      priority,
      vips: addresses.map((address) => `${network}.${address}/24`),
      excluded: excluded.map((address) => `${network}.${address}/24`),
      tracked: member.is === "in_fault" ? [TRACKED_DEVICE] : [],
      ...vrrp,
    })),
  });
  const run = (program: string, command: readonly string[]) =>
    start(sandbox, command, { name: program, place: { namespace: name }, folder });
  let appliance: Running | undefined;
  let nginx: Running | undefined;
  const endAppliance = async () => {
    const ending = appliance;
    appliance = undefined;
    await ending?.end("SIGKILL");
  };
  const endNginx = async () => {
    const ending = nginx;
    nginx = undefined;
    await ending?.end("SIGKILL");
  };
  const cut = async () => {
    for (const { unplug } of links) await unplug();
  };
  const connect = async () => {
    for (const { plug } of links) await plug();
  };
  const kill = async () => {
    await Promise.all([keepalived.crash(), endAppliance(), endNginx()]);
  };
  return {
    name,
    member,
    fleetAddress,
    keepalived,
    fleetLink,
    setTracked: async (isUp) => void (await ip(`link set ${TRACKED_DEVICE} ${isUp ? "up" : "down"}`)),
    start: async () => {
      // A crash leaves disconnected links and addresses behind.
      await connect();
      await ip(`addr flush dev ${DEVICE} to ${network}.96/27`);
      if (member.is !== "without_keepalived") await keepalived.start();
      nginx = run("nginx", ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"]);
      appliance = run("appliance", [process.execPath, COMMAND, "appliance", "--config.file=appliance.yaml"]);
      await appliance.printed(/appliance started/);
      await nginx.printed(/using the "epoll"/);
    },
    endAppliance,
    cut,
    connect,
    kill,
    crash: async () => {
      await Promise.all([kill(), cut()]);
    },
  };
}

/** Starts two servers behind each website. */
export async function startServers(sandbox: Sandbox, folder: string): Promise<readonly Website[]> {
  const namespace = "servers";
  await addNamespace(sandbox, namespace);
  const { bridge, servers } = FLEET;
  await addLink(sandbox, { namespace, device: "fleet0", bridge, address: `${servers}/24` });
  const all = SITES.flatMap((site) => [
    { id: serverId(site, "first"), name: site },
    { id: serverId(site, "second"), name: `${site}-second` },
  ]);
  return Promise.all(
    all.map(async (each) => {
      const server = createWebsite(sandbox, { ...each, namespace, folder });
      await server.start();
      return server;
    }),
  );
}

function instanceOf(vhid: Group["vhid"]): string {
  return `VI_${vhid}`;
}

function applianceConfig({ member, fleetAddress, network }: NodePlan, lab: string): unknown {
  const { username, password } = CREDENTIALS;
  return {
    listen: `${fleetAddress}:${APPLIANCE_PORT}`,
    tls: { cert_file: join(lab, "appliance.pem"), key_file: join(lab, "appliance.key") },
    users: [{ username, password: member.is === "refusing" ? "another" : password }],
    vrrp: {
      source: "keepalived",
      pid_file: KEEPALIVED_FILES.vrrpPid,
      dump_dir: KEEPALIVED_FILES.dumps,
      instances: Object.fromEntries(
        member.groups.map(({ vhid, isPreferred }) => [instanceOf(vhid), { type: isPreferred ? 1 : 2 }]),
      ),
    },
    website_test: { timeout: "1s" },
    website_list: member.is !== "without_list",
    websites: Object.entries(member.sites).map(([name, { mode, isEnabled, bind, server }]) => ({
      id: SITES.findIndex((each) => each === name) + 1,
      name,
      protocol: "http",
      host: FLEET.servers,
      http_port: serverPort(name, "first"),
      mode,
      enabled: isEnabled,
      bind: bind.length === 0 ? ["*"] : bind.map((address) => `${network}.${address}`),
      servers: [{ host: FLEET.servers, port: serverPort(name, server) }],
    })),
  };
}

// nginx is one process without workers, so that no worker outlives it.
function nginxConfig({ name, member, network }: NodePlan): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
pid nginx.pid;
error_log stderr notice;
events {}
http {
  access_log off;
${temporary.map((kind) => `  ${kind}_temp_path ${kind};`).join("\n")}
  proxy_connect_timeout 1s;
  server {
    listen ${NAME_PORT};
    add_header X-Node ${name} always;
    return 204;
  }
${Object.entries(member.sites)
  .filter(([, { isEnabled }]) => isEnabled)
  .map(([site, { mode, bind, server }]) => {
    const port = sitePort(site);
    const places = bind.length === 0 ? [`${port}`] : bind.map((address) => `${network}.${address}:${port}`);
    return `  server {
    ${places.map((place) => `listen ${place};`).join(" ")}
    add_header X-Mode ${mode} always;
    location / {
      proxy_pass http://${FLEET.servers}:${serverPort(site, server)};
    }
  }`;
  })
  .join("\n")}
}
`;
}
