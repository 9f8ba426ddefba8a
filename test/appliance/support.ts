import { once } from "node:events";
import type { Server } from "node:net";
import { Client } from "undici";
import { onTestFinished } from "vitest";
import type { LocalVrrpInterface } from "../../src/appliance/encode.ts";
import { createApplianceServer, type ApplianceServerDeps } from "../../src/appliance/server.ts";
import type { Website } from "../../src/appliance/websites.ts";
import { Secret } from "../../src/support/secret.ts";
import { createAuthority } from "../support/certificates.ts";

export const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();

/** Listens on a free loopback port until the end of the test; returns the port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function")
      server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

export const CARP0: LocalVrrpInterface = {
  name: "carp0",
  state: "MASTER",
  vhid: 2,
  vip: "192.0.2.100",
  priority: 204,
  alias: [],
  device: "eth1",
  netmask: "255.255.255.0",
  peer: "224.0.0.18",
  type: "1",
};

/** A port of the loopback interface on which nothing listens. */
export const CLOSED_PORT = 1;

export function websiteOf(fields: Partial<Website>): Website {
  return {
    id: 1,
    protocol: "both",
    host: "127.0.0.1",
    name: "shop",
    mode: "protect",
    isEnabled: true,
    bind: ["*"],
    servers: [],
    httpPort: CLOSED_PORT,
    httpsPort: CLOSED_PORT,
    path: "/",
    ...fields,
  };
}

/** A running reference appliance with the user `monitor`, password `pass:word`; stopped at the end of the test. */
export async function startAppliance(fields: Partial<ApplianceServerDeps> = {}) {
  const server = createApplianceServer({
    listen: { host: "127.0.0.1", port: 0 },
    tls: { cert: LEAF.cert, key: new Secret(LEAF.key) },
    users: [
      { username: "admin", password: new Secret("other") },
      { username: "monitor", password: new Secret("pass:word") },
    ],
    vrrp: async () => ({ ok: true, interfaces: [] }),
    websites: [],
    hasWebsiteList: true,
    websiteTest: { timeoutMs: 10_000, ca: AUTHORITY.cert, insecureSkipVerify: false },
    onBug: (error) => {
      throw error;
    },
    ...fields,
  });
  const { host, port } = await server.start();
  onTestFinished(() => server.stop());
  return { server, host, port };
}

/** `auth`: user name and password; `null`: none. */
interface QueryOptions {
  readonly method?: string;
  readonly auth?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to an appliance, with valid credentials unless `options` has others. */
export async function query(port: number, path: string, options: QueryOptions = {}) {
  const { method = "GET", auth = "monitor:pass:word", headers = {} } = options;
  const basic = auth === null ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` };
  const dispatcher = new Client(`https://127.0.0.1:${port}`, { connect: { ca: AUTHORITY.cert } });
  const answer = await dispatcher.request({ method, path, headers: { ...basic, ...headers }, reset: true });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}
