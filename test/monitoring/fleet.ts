import { createServer } from "node:http";
import { once } from "node:events";
import type { LocalVrrpInterface } from "../../src/api/vrrp-list.ts";
import { createApplianceServer } from "../../src/appliance/server.ts";
import type { Website } from "../../src/appliance/website-head.ts";
import { Secret } from "../../src/config/secret.ts";
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

/** By cluster: the state of its first and of its second member, of which the first is the preferred master. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  well: ["MASTER", "BACKUP"],
  split: ["MASTER", "MASTER"],
  headless: ["BACKUP", "BACKUP"],
  bare: ["MASTER", "INIT"],
  half: ["MASTER", "BACKUP"],
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
 * Clusters that show what can be wrong, on real sockets: those of `PAIRS`, and appliances that refuse the password, never
 * answer, are about to leave, and have a certificate that ends soon.
 */
export async function startFleet(cleanup: Cleanup): Promise<Fleet> {
  const authority = await createAuthority();
  const durable = await authority.issue({ notAfter: new Date(Date.now() + 90 * DAY_MS) });
  const brief = await authority.issue({ notAfter: new Date(Date.now() + 3 * DAY_MS) });
  const [good, bad] = [await startWebsite(200, cleanup), await startWebsite(503, cleanup)];
  const start = (name: string, given: Partial<ApplianceSetup> = {}) =>
    startAppliance({ name, tls: durable, ca: authority.cert, ...given }, cleanup);

  const pairs = await Promise.all(
    Object.entries(PAIRS).map(async ([cluster, [first, second]]) => {
      const common = cluster === "well" ? knownWebsites(good) : [];
      const members = [
        await start(`${cluster}-1`, {
          state: first,
          websites: [...common, website(3, good), website(6, good), { ...website(7), protocol: "https" }],
        }),
        await start(`${cluster}-2`, {
          state: second,
          isPreferred: false,
          websites: [...common, website(3, bad)],
        }),
      ];
      return { cluster, members };
    }),
  );
  const alone = [
    await start("locked", { password: "another" }),
    await start("leaving"),
    await start("brief", { tls: brief }),
  ];
  const silent = await startFaultServer(() => {});
  cleanup.add(() => silent.stop());

  const all = [...pairs.flatMap(({ members }) => members), ...alone];
  return {
    appliance: (name) => {
      const found = all.find((appliance) => appliance.name === name);
      if (found === undefined) throw new Error(`no appliance ${name}`);
      return found;
    },
    files: { "ca.pem": authority.cert },
    config: {
      clusters: pairs.map(({ cluster, members }) => ({
        name: cluster,
        ...(cluster === "well" ? { websites: WEBSITES } : {}),
        appliances: members.map(({ name, baseUrl }) => ({ name, base_url: baseUrl })),
      })),
      appliances: [
        ...alone.map(({ name, baseUrl }) => ({ name, base_url: baseUrl })),
        {
          name: "silent",
          base_url: `https://127.0.0.1:${silent.port}`,
          polling: { vrrp: { interval: "10m", timeout: "10m" } },
        },
      ],
    },
  };
}

function knownWebsites(good: number): readonly Website[] {
  return [website(1, good), website(2), website(4, good)];
}

/** Over plain HTTP alone; without a port it is down. */
function website(id: number, httpPort = NOBODY_LISTENS): Website {
  return { id, protocol: "http", host: "127.0.0.1", httpPort, httpsPort: NOBODY_LISTENS, path: "/" };
}

interface ApplianceSetup {
  readonly name: string;
  readonly tls: { readonly cert: string; readonly key: string };
  /** Whom it trusts. */
  readonly ca: string;
  readonly state: string;
  readonly isPreferred: boolean;
  readonly websites: readonly Website[];
  readonly password: string;
}

type StartedAppliance = TestAppliance & { readonly baseUrl: string };

async function startAppliance(
  {
    name,
    tls,
    ca,
    state = "MASTER",
    isPreferred = true,
    websites = [],
    password = "pass:word",
  }: Pick<ApplianceSetup, "name" | "tls" | "ca"> & Partial<ApplianceSetup>,
  cleanup: Cleanup,
): Promise<StartedAppliance> {
  let current = state;
  const known = [...websites];
  const server = createApplianceServer({
    listen: { host: "127.0.0.1", port: 0 },
    tls: { cert: tls.cert, key: new Secret(tls.key) },
    users: [{ username: "monitor", password: new Secret(password) }],
    vrrp: () => Promise.resolve([interfaceIn(current, isPreferred)]),
    websites: known,
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
