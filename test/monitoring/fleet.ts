import { createServer } from "node:http";
import { once } from "node:events";
import type { LocalVrrpInterface } from "../../src/api/vrrp.ts";
import { createApplianceServer } from "../../src/appliance/server.ts";
import type { Website } from "../../src/appliance/website-head.ts";
import { Secret } from "../../src/support/secret.ts";
import type { Cleanup } from "../../src/demo/cleanup.ts";
import { createAuthority } from "../support/certificates.ts";
import { portOf, startFaultServer } from "../support/fault-server.ts";
import { interfaceOf } from "../support/observations.ts";

const DAY_MS = 86_400_000;
const NOBODY_LISTENS = 1;

/** A reference appliance whose state the test decides. */
export interface TestAppliance {
  readonly name: string;
  /** What it reports from the next poll on. */
  become(state: string): void;
  /** No longer knows this website. */
  forget(websiteId: number): void;
  stop(): Promise<void>;
}

export interface Fleet {
  appliance(name: string): TestAppliance;
  /** An exporter's configuration that polls them all. */
  readonly config: { readonly clusters: readonly unknown[]; readonly appliances: readonly unknown[] };
  readonly files: Readonly<Record<string, string>>;
}

/** By cluster: the states of its members, of which the first is the preferred master. */
const CLUSTERS: Readonly<Record<string, readonly string[]>> = {
  well: ["MASTER", "BACKUP"],
  split: ["MASTER", "MASTER"],
  headless: ["BACKUP", "BACKUP"],
  bare: ["MASTER", "INIT"],
  half: ["MASTER", "BACKUP", "BACKUP"],
  dark: ["MASTER", "BACKUP"],
  swapped: ["MASTER", "BACKUP"],
};

/** What the names mean, seen from `well-1` and from `well-2`. */
const WEBSITES = [
  { id: 1, name: "up" },
  { id: 2, name: "down" },
  { id: 3, name: "partly" },
  { id: 4, name: "lost" },
  { id: 5, name: "never" },
  { id: 6, name: "once" },
  { id: 7, name: "secure" },
];

/**
 * Clusters that show what can be wrong, on real sockets: those of `CLUSTERS`, and appliances that refuse the password,
 * never answer, are about to leave, and have a certificate that ends soon.
 */
export async function startFleet(cleanup: Cleanup): Promise<Fleet> {
  const { start, ca } = await createStart(cleanup);
  const clusters = await startClusters(start, cleanup);
  const alone = [
    await start("locked", { password: "another" }),
    await start("leaving"),
    await start("brief", { validForDays: 3 }),
  ];
  const all = [...Object.values(clusters).flat(), ...alone];
  return {
    appliance: (name) => {
      const found = all.find((appliance) => appliance.name === name);
      if (found === undefined) throw new Error(`no appliance ${name}`);
      return found;
    },
    files: { "ca.pem": ca },
    config: {
      clusters: Object.entries(clusters).map(([name, members]) => ({
        name,
        ...(name === "well" ? { websites: WEBSITES } : {}),
        appliances: members.map(entryOf),
      })),
      appliances: [...alone.map(entryOf), await silentEntry(cleanup)],
    },
  };
}

function entryOf({ name, baseUrl }: StartedAppliance): object {
  return { name, base_url: baseUrl };
}

/** Takes connections and never says anything. */
async function silentEntry(cleanup: Cleanup): Promise<object> {
  const { port, stop } = await startFaultServer(() => {});
  cleanup.add(stop);
  const polling = { vrrp: { interval: "10m", timeout: "10m" } };
  return { name: "silent", base_url: `https://127.0.0.1:${port}`, polling };
}

type Start = (name: string, given?: Partial<ApplianceSetup>) => Promise<StartedAppliance>;

async function createStart(cleanup: Cleanup): Promise<{ readonly start: Start; readonly ca: string }> {
  const authority = await createAuthority();
  return {
    ca: authority.cert,
    start: async (name, { validForDays = 90, ...given } = {}) => {
      const tls = await authority.issue({ notAfter: new Date(Date.now() + validForDays * DAY_MS) });
      return startAppliance({ name, tls, ca: authority.cert, ...given }, cleanup);
    },
  };
}

async function startClusters(
  start: Start,
  cleanup: Cleanup,
): Promise<Readonly<Record<string, readonly StartedAppliance[]>>> {
  const ports = { good: await startWebsite(200, cleanup), bad: await startWebsite(503, cleanup) };
  const started = Object.entries(CLUSTERS).map(async ([cluster, states]) => {
    const members = states.map((state, index) => {
      const websites = cluster === "well" ? websitesOf(index, ports) : [];
      return start(`${cluster}-${index + 1}`, { state, isPreferred: index === 0, websites });
    });
    return [cluster, await Promise.all(members)] as const;
  });
  return Object.fromEntries(await Promise.all(started));
}

/** Those that the first member knows, and those that the second does. */
function websitesOf(member: number, { good, bad }: { readonly good: number; readonly bad: number }) {
  const both = [website(1, good), website(2), website(4, good)];
  if (member > 0) return [...both, website(3, bad)];
  return [...both, website(3, good), website(6, good), { ...website(7), protocol: "https" } as const];
}

/** Over plain HTTP alone; without a port it is down. */
function website(id: number, httpPort = NOBODY_LISTENS): Website {
  return {
    id,
    name: String(id),
    protocol: "http",
    host: "127.0.0.1",
    path: "/",
    httpPort,
    httpsPort: NOBODY_LISTENS,
    mode: "protect",
    isEnabled: true,
    bind: ["*"],
    servers: [],
  };
}

interface ApplianceSetup {
  /** Default: MASTER. */
  readonly state: string;
  /** Default: it is. */
  readonly isPreferred: boolean;
  /** Default: none. */
  readonly websites: readonly Website[];
  /** Default: the one that the exporters have. */
  readonly password: string;
  /** Of its certificate; default: 90. */
  readonly validForDays: number;
}

interface Identity {
  readonly name: string;
  readonly tls: { readonly cert: string; readonly key: string };
  /** Whom it trusts. */
  readonly ca: string;
}

type StartedAppliance = TestAppliance & { readonly baseUrl: string };

async function startAppliance(
  { name, tls, ca, ...given }: Identity & Partial<Omit<ApplianceSetup, "validForDays">>,
  cleanup: Cleanup,
): Promise<StartedAppliance> {
  const { state = "MASTER", isPreferred = true, websites = [], password = "pass:word" } = given;
  let current = state;
  const known = [...websites];
  const server = createApplianceServer({
    listen: { host: "127.0.0.1", port: 0 },
    tls: { cert: tls.cert, key: new Secret(tls.key) },
    users: [{ username: "monitor", password: new Secret(password) }],
    vrrp: () => Promise.resolve({ ok: true, interfaces: [interfaceIn(current, isPreferred)] }),
    websites: known,
    hasWebsiteList: false,
    websiteTest: { timeoutMs: 2_500, ca, insecureSkipVerify: false },
    onBug: (error) => {
      throw error;
    },
  });
  const { port } = await server.start();
  let isStopped = false;
  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await server.stop();
  }
  cleanup.add(stop);
  return {
    name,
    baseUrl: `https://127.0.0.1:${port}`,
    become: (next) => {
      current = next;
    },
    forget: (websiteId) => {
      known.splice(
        known.findIndex(({ id }) => id === websiteId),
        1,
      );
    },
    stop,
  };
}

function interfaceIn(state: string, isPreferred: boolean): LocalVrrpInterface {
  const role = isPreferred ? { type: "1", priority: 204 } : { type: "2", priority: 154 };
  return { ...interfaceOf({ state }), ...role, alias: [] };
}

async function startWebsite(status: number, cleanup: Cleanup): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.add(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return portOf(server);
}
