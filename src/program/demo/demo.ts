import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import type { LocalVrrpInterface } from "../../appliance/encode.ts";
import { createApplianceServer, type ApplianceServerDeps } from "../../appliance/server.ts";
import type { Website } from "../../appliance/websites.ts";
import type { Checked } from "../../exporter/config/errors.ts";
import { startExporter, type Exporter, type ExporterOptions } from "../../exporter/exporter.ts";
import { describeBug } from "../../support/errors.ts";
import { Secret } from "../../support/secret.ts";
import { openHistory } from "../../history/timeline/history.ts";
import { closeAtOnce, listen } from "../../exporter/web/listen.ts";

export type DemoOptions = Omit<
  ExporterOptions,
  "configFile" | "telemetryPath" | "enableLifecycle" | "openHistory"
>;

/** Three appliances, three websites and the exporter that polls them, all on real sockets. */
export interface Demo extends Pick<Exporter, "addresses" | "pageUrls" | "document"> {
  /** The exporter's configuration, in a temporary folder. */
  readonly configFile: string;
  /** Takes the next step of the script; returns a sentence that describes it. */
  step(): string;
  /** Stops everything and removes the folder, within seconds. */
  stop(): Promise<void>;
}

/** The demo is reachable on this machine only. */
const HOST = "127.0.0.1";
const USERNAME = "monitor";
/** This is longer than the warning period of the certificate alerts. */
const VALIDITY_MS = 90 * 24 * 3_600_000;
/** This is longer than a demo lasts. */
const RETENTION = { retentionMs: 24 * 3_600_000, retentionBytes: 2 ** 30 };
/** This is shorter than the exporter's timeout for a website test. */
const WEBSITE_TIMEOUT_MS = 1_500;

const WEBSITES = [
  { id: 1, name: "blog", protocol: "http" },
  { id: 2, name: "shop", protocol: "https" },
  { id: 3, name: "portal", protocol: "both" },
] as const;

/** The appliances, of which the first one is the preferred master. */
const APPLIANCES = [
  { name: "demo-a", type: "1", priority: 204 },
  { name: "demo-b", type: "2", priority: 154 },
  { name: "demo-c", type: "2", priority: 104 },
] as const;

type ApplianceName = (typeof APPLIANCES)[number]["name"];

/**
 * One step of the script. `text` says what has just happened. `down` is the website that closes connections without an answer. `silent`
 * does not answer about VRRP, `faulty` reports FAULT, `lowered` has a lower priority, and `lacking` lacks the alias.
 */
interface Scene {
  readonly text: string;
  readonly master: ApplianceName;
  readonly down?: (typeof WEBSITES)[number]["name"];
  readonly silent?: ApplianceName;
  readonly faulty?: ApplianceName;
  readonly lowered?: ApplianceName;
  readonly lacking?: ApplianceName;
}

const ALIAS = "198.51.100.101";
const LOWER_PRIORITY = 54;

/**
 * The steps repeat forever: the demo begins in the state in which it ends. No two appliances take over from each other, as that would
 * be one repeated failover.
 */
const SCRIPT: readonly Scene[] = [
  { text: "failover: demo-a steps down, and demo-b is the master now", master: "demo-b" },
  { text: "outage: website shop closes connections without an answer", master: "demo-b", down: "shop" },
  { text: "repair: website shop is back", master: "demo-b" },
  {
    text: "failover: the priority of demo-b is lowered, and demo-c is the master now",
    master: "demo-c",
    lowered: "demo-b",
  },
  { text: "repair: demo-b has its priority again", master: "demo-c" },
  { text: "failover: demo-c has a fault, and demo-a is the master now", master: "demo-a", faulty: "demo-c" },
  { text: "repair: demo-c is a backup again", master: "demo-a" },
  {
    text: `risk: demo-b lacks the alias ${ALIAS}, which a failover would lose`,
    master: "demo-a",
    lacking: "demo-b",
  },
  { text: `repair: demo-b has the alias ${ALIAS} again`, master: "demo-a" },
  { text: "failover: demo-a hangs, and demo-b is the master now", master: "demo-b", silent: "demo-a" },
  {
    text: "failover: demo-b steps down, and demo-c is the master now",
    master: "demo-c",
    silent: "demo-a",
  },
  { text: "repair: demo-a answers again", master: "demo-c" },
  { text: "failover: demo-a has the highest priority, and is the master again", master: "demo-a" },
];

/** The functions that end the parts that were started. */
type Stops = (() => Promise<void>)[];

/** Starts everything, or stops what was started if something fails. */
export async function startDemo(options: DemoOptions): Promise<Checked<{ readonly demo: Demo }>> {
  const stops: Stops = [];
  const stop = async (): Promise<void> => {
    // The latest part ends first.
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next();
  };
  try {
    const started = await startParts(options, stops);
    if (started.ok) return { ok: true, demo: { ...started.demo, stop } };
    await stop();
    return started;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(options: DemoOptions, stops: Stops) {
  const password = randomBytes(16).toString("base64url");
  const tls = await createKeyPair();
  const deps = {
    tls: { cert: tls.cert, key: new Secret(tls.key) },
    users: [{ username: USERNAME, password: new Secret(password) }],
    onBug: (error: unknown) =>
      options.logger.error({ detail: describeBug(error) }, "appliance could not answer a request"),
  };
  const { appliances, step } = await startCluster(deps, stops);
  // mkdtemp creates the folder with mode 700.
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-demo-"));
  // The journal stops within two seconds, and a late write of it may still create a file.
  stops.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const configFile = join(folder, "config.yaml");
  await writeFile(join(folder, "ca.pem"), tls.cert);
  const config = {
    polling: { vrrp: { interval: "1s" }, websites: { interval: "2s" }, discovery: { interval: "5s" } },
    http_client: { basic_auth: { username: USERNAME, password }, tls_config: { ca_file: "ca.pem" } },
    clusters: [{ name: "demo", labels: { site: "demo" }, website_discovery: true, appliances }],
  };
  // JSON is also YAML.
  await writeFile(configFile, JSON.stringify(config, undefined, 2), { mode: 0o600 });
  const storage = { path: join(folder, "journal"), ...RETENTION };
  const started = await startExporter({
    ...options,
    telemetryPath: "/metrics",
    enableLifecycle: false,
    configFile,
    openHistory: () => openHistory({ ...options, storage }),
  });
  if (!started.ok) return started;
  const { addresses, pageUrls, document, stop } = started.exporter;
  stops.push(stop);
  return { ok: true, demo: { addresses, pageUrls, configFile, document, step } } as const;
}

/** Returns a certificate of appliances and websites, which clients trust as it is, and its key. */
async function createKeyPair() {
  const made = await generate([{ name: "commonName", value: "appliance-exporter demo" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + VALIDITY_MS),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: HOST }] }],
  });
  return { cert: made.cert, key: made.private };
}

/** Starts the websites and the appliances; returns their entries in the exporter's configuration. */
async function startCluster(deps: Pick<ApplianceServerDeps, "tls" | "users" | "onBug">, stops: Stops) {
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
  async function startAppliance(appliance: (typeof APPLIANCES)[number], websites: readonly Website[]) {
    const { name } = appliance;
    const server = createApplianceServer({
      ...deps,
      listen: { host: HOST, port: 0 },
      vrrp: () =>
        scene()?.silent === name
          ? new Promise<never>(() => {})
          : Promise.resolve({ ok: true, interfaces: interfacesOf(appliance, scene()) }),
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
    appliances: await Promise.all(APPLIANCES.map((each) => startAppliance(each, websites))),
    step: () => {
      steps += 1;
      return scene()?.text ?? "";
    },
  };
}

/** Returns the interfaces that an appliance reports. */
function interfacesOf(
  { name, type, priority }: (typeof APPLIANCES)[number],
  scene: Scene | undefined,
): readonly LocalVrrpInterface[] {
  const role = {
    state: scene?.faulty === name ? "FAULT" : scene?.master === name ? "MASTER" : "BACKUP",
    type,
    priority: scene?.lowered === name ? LOWER_PRIORITY : priority,
    netmask: "255.255.255.0",
    peer: "224.0.0.18",
  };
  const alias = scene?.lacking === name ? [] : [ALIAS];
  return [
    { ...role, name: "carp0", device: "eth0", vhid: 1, vip: "192.0.2.100", alias: [] },
    { ...role, name: "carp1", device: "eth1", vhid: 2, vip: "198.51.100.100", alias },
  ];
}
