import { once } from "node:events";
import type { Server } from "node:net";
import { request, type RequestOptions } from "node:https";

import { onTestFinished } from "vitest";

import type { LocalVrrpInterface } from "../../src/api/vrrp.ts";
import { createApplianceServer, type ApplianceServerDeps } from "../../src/appliance/server.ts";
import type { Website } from "../../src/appliance/website-head.ts";
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

/** Sends a request to an appliance, with valid credentials unless `options` has others. */
export async function query(port: number, path: string, options: RequestOptions = {}) {
  const sent = request({
    host: "127.0.0.1",
    port,
    path,
    ca: AUTHORITY.cert,
    agent: false,
    auth: "monitor:pass:word",
    ...options,
  });
  const answered = new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>(
    (resolve, reject) => {
      sent.once("error", reject);
      sent.once("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("error", reject);
        response.once("end", () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          });
        });
      });
    },
  );
  sent.end();
  return answered;
}
