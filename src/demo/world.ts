import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";

import type { LocalVrrpInterface } from "../api/vrrp.ts";
import { createApplianceServer, type ApplianceServerDeps } from "../appliance/server.ts";
import type { Website } from "../appliance/websites.ts";
import { closeAtOnce, listen } from "../web/listen.ts";

/** The demo is reachable on this machine only. */
export const HOST = "127.0.0.1";
const WEBSITES = [
  { id: 1, name: "blog", protocol: "http" },
  { id: 2, name: "shop", protocol: "https" },
  { id: 3, name: "portal", protocol: "both" },
] as const;
/** Shorter than the exporter's timeout for a website test. */
const WEBSITE_TIMEOUT_MS = 1_500;

type ApplianceName = "demo-a" | "demo-b";

/** Which appliance is the master, and which website closes connections without an answer. */
interface Scene {
  /** What has just happened. */
  readonly sentence: string;
  readonly master: ApplianceName;
  readonly down?: (typeof WEBSITES)[number]["name"];
}

/** Repeated forever; the world begins as it ends. */
const SCRIPT: readonly Scene[] = [
  { sentence: "failover: demo-b is the master now, demo-a its backup", master: "demo-b" },
  {
    sentence: "outage: website shop closes connections without an answer",
    master: "demo-b",
    down: "shop",
  },
  { sentence: "repair: website shop is back", master: "demo-b" },
  { sentence: "failover: demo-a is the master now, demo-b its backup", master: "demo-a" },
  {
    sentence: "outage: website portal closes connections without an answer",
    master: "demo-a",
    down: "portal",
  },
  { sentence: "repair: website portal is back", master: "demo-a" },
];

/** Reference appliances and the websites behind them, all on real sockets. */
export interface World {
  /** As entries of the exporter's configuration. */
  readonly appliances: readonly { readonly name: string; readonly base_url: string }[];
  /** Takes the next step of the script; returns a sentence that describes it. */
  step(): string;
}

/** Starts the websites and both members of the cluster; `stops` get what ends them. */
export async function startWorld(
  deps: Pick<ApplianceServerDeps, "tls" | "users" | "onBug">,
  stops: (() => Promise<void>)[],
): Promise<World> {
  let steps = 0;
  const scene = (): Scene | undefined => SCRIPT.at((steps - 1) % SCRIPT.length);

  async function serve(server: Server): Promise<number> {
    const { port } = await listen(server, { host: HOST, port: 0 });
    stops.push(() => closeAtOnce(server));
    return port;
  }
  async function startWebsite(website: (typeof WEBSITES)[number]): Promise<Website> {
    const { name, protocol } = website;
    const page: RequestListener = (_request, response) => {
      if (scene()?.down === name) response.destroy();
      else response.end(`This is the website ${name} of the demo.\n`);
    };
    const tls = { cert: deps.tls.cert, key: deps.tls.key.reveal() };
    // The port of a missing protocol is never used.
    const httpPort = protocol === "https" ? 80 : await serve(createServer(page));
    const httpsPort = protocol === "http" ? 443 : await serve(createSecureServer(tls, page));
    const settings = { isEnabled: true, mode: "protect", bind: ["*"], servers: [] } as const;
    return { ...website, ...settings, host: HOST, httpPort, httpsPort, path: "/" };
  }
  async function startAppliance(name: ApplianceName, websites: readonly Website[]) {
    const server = createApplianceServer({
      ...deps,
      listen: { host: HOST, port: 0 },
      vrrp: () => Promise.resolve({ ok: true, interfaces: interfacesOf(name, scene()?.master === name) }),
      websites,
      hasWebsiteList: true,
      websiteTest: { timeoutMs: WEBSITE_TIMEOUT_MS, ca: deps.tls.cert, insecureSkipVerify: false },
    });
    const { port } = await server.start();
    stops.push(server.stop);
    return { name, base_url: `https://${HOST}:${port}` };
  }

  const websites = await Promise.all(WEBSITES.map(startWebsite));
  return {
    appliances: [await startAppliance("demo-a", websites), await startAppliance("demo-b", websites)],
    step: () => {
      steps += 1;
      return scene()?.sentence ?? "";
    },
  };
}

/** The interfaces that an appliance reports; demo-a is the preferred master. */
function interfacesOf(name: ApplianceName, isMaster: boolean): readonly LocalVrrpInterface[] {
  const role = {
    state: isMaster ? "MASTER" : "BACKUP",
    ...(name === "demo-a" ? { type: "1", priority: 204 } : { type: "2", priority: 154 }),
    netmask: "255.255.255.0",
    peer: "224.0.0.18",
  };
  return [
    { ...role, name: "carp0", device: "eth0", vhid: 1, vip: "192.0.2.100", alias: [] },
    { ...role, name: "carp1", device: "eth1", vhid: 2, vip: "198.51.100.100", alias: ["198.51.100.101"] },
  ];
}
