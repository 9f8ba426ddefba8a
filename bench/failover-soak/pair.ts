import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createApplianceServer, type ApplianceServerDeps } from "../../src/appliance/server.ts";
import type { Website } from "../../src/appliance/websites.ts";
import { portOf } from "../../test/support/fault-server.ts";

const HOST = "127.0.0.1";

/** The member's settings of one website. */
export type Serving = Pick<Website, "isEnabled" | "mode">;

/** The settings of a member. */
export interface Settings {
  readonly websites: ReadonlyMap<number, Serving>;
  readonly aliases: readonly string[];
}

/** The connection to a member: `off` resets it, `silent` lets nothing through, a number is a delay in milliseconds. */
export type Way = "off" | "silent" | number;

/** A reference appliance, which changes while it answers. */
export interface Member {
  readonly name: string;
  readonly port: number;
  isMaster: boolean;
  settings: Settings;
  /** The websites whose servers the member does not reach. */
  cutOff: ReadonlySet<number>;
  /** Ends the connections, and sets how new ones are treated. */
  setWay(way: Way): void;
}

export interface Pair {
  readonly name: string;
  readonly members: readonly [Member, Member];
}

export type MemberOptions = Pick<ApplianceServerDeps, "tls" | "users">;

/** Starts pairs whose first member is MASTER, with the same settings at both. */
export async function startPairs(
  count: number,
  settings: Settings,
  options: MemberOptions,
): Promise<readonly Pair[]> {
  const byName = new Map<string, Member>();
  const servers = createHttpServer(({ url = "" }, response) => {
    const [, name = "", id] = url.split("/");
    const isCutOff = byName.get(name)?.cutOff.has(Number(id)) ?? true;
    response.writeHead(isCutOff ? 503 : 200).end();
  });
  const serversPort = await listen(servers, "0.0.0.0");
  const pairs = Array.from({ length: count }, async (_, nth): Promise<Pair> => {
    const member = async (letter: string): Promise<Member> => {
      const name = `pair-${nth}-${letter}`;
      const started = await startMember({ name, nth, serversPort, settings }, options);
      byName.set(name, started);
      return started;
    };
    const [first, second] = [await member("a"), await member("b")];
    first.isMaster = true;
    return { name: `pair-${nth}`, members: [first, second] };
  });
  return Promise.all(pairs);
}

interface MemberPlan {
  readonly name: string;
  /** The number of the pair. */
  readonly nth: number;
  readonly serversPort: number;
  readonly settings: Settings;
}

async function startMember(
  { name, nth, serversPort, settings }: MemberPlan,
  options: MemberOptions,
): Promise<Member> {
  const server = createApplianceServer({
    ...options,
    listen: { host: HOST, port: 0 },
    vrrp: () => Promise.resolve({ ok: true, interfaces: [interfaceOf(member)] }),
    get websites() {
      return Array.from(member.settings.websites, ([id, serving]) => ({
        id,
        ...serving,
        name: `website-${id}`,
        protocol: "http" as const,
        host: `127.1.${nth}.${id}`,
        httpPort: serversPort,
        httpsPort: serversPort,
        path: `/${name}/${id}`,
        bind: ["*"],
        servers: [],
      }));
    },
    hasWebsiteList: true,
    websiteTest: { timeoutMs: 1_000, ca: undefined, insecureSkipVerify: false },
    onBug: (error) => process.stderr.write(`${String(error)}\n`),
  });
  const { port: behind } = await server.start();
  const { port, setWay } = await startGate(behind);
  const member: Member = { name, port, isMaster: false, settings, cutOff: new Set(), setWay };
  return member;
}

function interfaceOf({ name, isMaster, settings: { aliases } }: Member) {
  const isFirst = name.endsWith("a");
  return {
    name: "carp0",
    device: "eth0",
    vhid: 1,
    vip: "192.0.2.100",
    netmask: "255.255.255.0",
    alias: aliases,
    peer: "224.0.0.18",
    state: isMaster ? "MASTER" : "BACKUP",
    type: isFirst ? "1" : "2",
    priority: isFirst ? 200 : 150,
  } as const;
}

/** Starts a proxy to a port. */
async function startGate(behind: number) {
  let way: Way = 0;
  const open = new Set<Socket>();
  const gate = createServer((client) => {
    open.add(client);
    client.on("error", () => {}).once("close", () => open.delete(client));
    if (way === "off") client.resetAndDestroy();
    if (typeof way !== "number") return;
    const delayMs = way;
    const server = connect(behind, HOST).on("error", () => client.destroy());
    server.pipe(client);
    server.once("close", () => client.destroy());
    client.once("close", () => server.destroy());
    client.on("data", (chunk: Buffer) => setTimeout(() => server.write(chunk), delayMs));
  });
  return {
    port: await listen(gate, HOST),
    setWay: (next: Way) => {
      way = next;
      for (const client of open) client.resetAndDestroy();
    },
  };
}

async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return portOf(server);
}
