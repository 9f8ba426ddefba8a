import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createApplianceServer, type VrrpState } from "../../src/appliance/server.ts";
import { Secret } from "../../src/support/secret.ts";
import { createAuthority } from "../../test/support/certificates.ts";
import { portOf } from "../../test/support/fault-server.ts";
import { PASSWORD, USERNAMES } from "./fleet.ts";

/**
 * The program runs reference appliances in a separate process, each behind a proxy that resets, closes, drops and corrupts at random.
 * Sometimes the proxies answer late or with an error. The program writes one line of JSON when all listen. The first argument is the number
 * of appliances.
 */
const COUNT = Number(process.argv[2]);
const HOST = "127.0.0.1";
/** This is longer than the exporter's timeout. */
const LATE_MS = 3000;

const ROLE = { type: "1", priority: 204, netmask: "255.255.255.0", peer: "224.0.0.18", alias: [] };

async function vrrp(): Promise<VrrpState> {
  const dice = Math.random();
  if (dice < 0.03) return { ok: false, reason: "random failure" };
  if (dice < 0.06) await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  const state = dice < 0.5 ? "MASTER" : "BACKUP";
  const interfaces = [{ ...ROLE, state, name: "carp0", device: "eth0", vhid: 1, vip: "192.0.2.100" }];
  return { ok: true, interfaces };
}

/** Forwards data from the appliance, or misbehaves. */
function forward(chunk: Buffer, client: Socket): void {
  const dice = Math.random();
  if (dice < 0.01) client.resetAndDestroy();
  else if (dice < 0.02) client.destroy();
  else if (dice < 0.03) client.write("garbage");
  else if (dice < 0.04) client.end(chunk.subarray(0, chunk.length / 2));
  else if (dice > 0.05) client.write(chunk);
}

function createFaultyProxy(port: number): Server {
  return createServer((client) => {
    const appliance = connect(port, HOST);
    for (const [one, other] of [
      [client, appliance],
      [appliance, client],
    ] as const) {
      one.on("error", () => {}).once("close", () => other.destroy());
    }
    client.on("data", (chunk: Buffer) => appliance.write(chunk));
    appliance.on("data", (chunk: Buffer) => forward(chunk, client));
  });
}

async function listen(server: Server): Promise<number> {
  server.listen(0, HOST);
  await once(server, "listening");
  return portOf(server);
}

const authority = await createAuthority("Soak Authority");
const { cert, key } = await authority.issue();
const website = await listen(createHttpServer((_, response) => response.end("here")));

const ports: number[] = [];
for (let nth = 0; nth < COUNT; nth += 1) {
  const appliance = createApplianceServer({
    listen: { host: HOST, port: 0 },
    tls: { cert, key: new Secret(key) },
    users: USERNAMES.map((username) => ({ username, password: new Secret(PASSWORD) })),
    vrrp,
    websites: [
      {
        id: 1,
        name: "website",
        protocol: "http",
        host: HOST,
        httpPort: website,
        httpsPort: website,
        path: "/",
        mode: "protect",
        isEnabled: true,
        bind: ["*"],
        servers: [],
      },
    ],
    hasWebsiteList: true,
    websiteTest: { timeoutMs: 1000, ca: undefined, insecureSkipVerify: false },
    onBug: (error) => process.stderr.write(`${String(error)}\n`),
  });
  ports.push(await listen(createFaultyProxy((await appliance.start()).port)));
}
process.stdout.write(`${JSON.stringify({ ports, ca: authority.cert })}\n`);
process.on("disconnect", () => process.exit(0));
