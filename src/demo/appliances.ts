import { randomBytes } from "node:crypto";

import type { LocalVrrpInterface } from "../api/vrrp.ts";
import { createApplianceServer, type ApplianceServerDeps } from "../appliance/server.ts";
import { Secret } from "../support/secret.ts";
import type { Cleanup } from "./cleanup.ts";
import { APPLIANCES, HOST, type ApplianceName, type World } from "./scenario.ts";

/** The exporter's user name on each appliance. */
export const USERNAME = "monitor";

/** Shorter than the exporter's timeout for a website test. */
const WEBSITE_TIMEOUT_MS = 1_500;

/** A running reference appliance. */
export interface DemoAppliance {
  readonly name: ApplianceName;
  readonly baseUrl: string;
  readonly password: Secret;
}

export interface AppliancesDeps extends Pick<ApplianceServerDeps, "tls" | "websites" | "onBug"> {
  /** PEM of the authority that signed the websites' certificates. */
  readonly ca: string;
  readonly world: () => World;
}

/** Starts both members of the cluster, each with its own password; the cleanup stops them. */
export async function startAppliances(
  deps: AppliancesDeps,
  cleanup: Cleanup,
): Promise<readonly DemoAppliance[]> {
  const appliances: DemoAppliance[] = [];
  for (const name of APPLIANCES) appliances.push(await startAppliance(name, deps, cleanup));
  return appliances;
}

async function startAppliance(
  name: ApplianceName,
  { ca, world, ...deps }: AppliancesDeps,
  cleanup: Cleanup,
): Promise<DemoAppliance> {
  const password = new Secret(randomBytes(16).toString("base64url"));
  const server = createApplianceServer({
    ...deps,
    listen: { host: HOST, port: 0 },
    users: [{ username: USERNAME, password }],
    vrrp: () => Promise.resolve({ ok: true, interfaces: interfacesOf(name, world()) }),
    hasWebsiteList: true,
    websiteTest: { timeoutMs: WEBSITE_TIMEOUT_MS, ca, insecureSkipVerify: false },
  });
  const { port } = await server.start();
  cleanup.add(() => server.stop());
  return { name, baseUrl: `https://${HOST}:${port}`, password };
}

/** The interfaces that an appliance reports; demo-a is the preferred master. */
function interfacesOf(name: ApplianceName, { master }: World): readonly LocalVrrpInterface[] {
  const role = {
    state: name === master ? "MASTER" : "BACKUP",
    ...(name === "demo-a" ? { type: "1", priority: 204 } : { type: "2", priority: 154 }),
    netmask: "255.255.255.0",
    peer: "224.0.0.18",
  };
  return [
    { ...role, name: "carp0", device: "eth0", vhid: 1, vip: "192.0.2.100", alias: [] },
    { ...role, name: "carp1", device: "eth1", vhid: 2, vip: "198.51.100.100", alias: ["198.51.100.101"] },
  ];
}
