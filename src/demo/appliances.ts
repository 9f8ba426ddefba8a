import type { LocalVrrpInterface } from "../api/vrrp.ts";
import { createApplianceServer, type ApplianceServerDeps } from "../appliance/server.ts";
import { APPLIANCES, HOST, type ApplianceName, type World } from "./scenario.ts";

/** Shorter than the exporter's timeout for a website test. */
const WEBSITE_TIMEOUT_MS = 1_500;

/** A running reference appliance. */
export interface DemoAppliance {
  readonly name: ApplianceName;
  readonly baseUrl: string;
}

interface AppliancesDeps extends Pick<ApplianceServerDeps, "tls" | "users" | "websites" | "onBug"> {
  readonly world: () => World;
}

/** Starts both members of the cluster; `stops` get what ends them. */
export async function startAppliances(
  { world, ...deps }: AppliancesDeps,
  stops: (() => Promise<void>)[],
): Promise<readonly DemoAppliance[]> {
  const appliances: DemoAppliance[] = [];
  for (const name of APPLIANCES) {
    const server = createApplianceServer({
      ...deps,
      listen: { host: HOST, port: 0 },
      vrrp: () => Promise.resolve({ ok: true, interfaces: interfacesOf(name, world()) }),
      hasWebsiteList: true,
      websiteTest: { timeoutMs: WEBSITE_TIMEOUT_MS, ca: deps.tls.cert, insecureSkipVerify: false },
    });
    const { port } = await server.start();
    stops.push(server.stop);
    appliances.push({ name, baseUrl: `https://${HOST}:${port}` });
  }
  return appliances;
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
