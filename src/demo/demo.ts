import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { generate } from "selfsigned";

import type { Checked } from "../config/errors.ts";
import { startExporter, type ExporterOptions } from "../exporter.ts";
import type { FleetDocument } from "../status/schema.ts";
import { describeBug } from "../support/errors.ts";
import { Secret } from "../support/secret.ts";
import { HOST, startWorld, type World } from "./world.ts";

export type DemoOptions = Omit<ExporterOptions, "configFile" | "telemetryPath" | "enableLifecycle">;

/** Two appliances, three websites and the exporter that polls them, all on real sockets. */
export interface Demo extends Pick<World, "step"> {
  /** The exporter's addresses, `host:port`. */
  readonly addresses: readonly string[];
  /** The exporter's configuration, in a temporary folder. */
  readonly configFile: string;
  /** The fleet as the exporter sees it. */
  document(): Promise<FleetDocument>;
  /** Stops everything and removes the folder, within seconds. */
  stop(): Promise<void>;
}

/** The exporter's user name on each appliance. */
const USERNAME = "monitor";
/** Longer than the warning period of the certificate alerts. */
const VALIDITY_MS = 90 * 24 * 3_600_000;

/** Starts everything, or stops what was started if something fails. */
export async function startDemo(options: DemoOptions): Promise<Checked<{ readonly demo: Demo }>> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    // The latest first.
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

async function startParts(options: DemoOptions, stops: (() => Promise<void>)[]) {
  const password = randomBytes(16).toString("base64url");
  const tls = await createKeyPair();
  const { appliances, step } = await startWorld(
    {
      tls: { cert: tls.cert, key: new Secret(tls.key) },
      users: [{ username: USERNAME, password: new Secret(password) }],
      onBug: (error) =>
        options.logger.error({ detail: describeBug(error) }, "appliance could not answer a request"),
    },
    stops,
  );
  // mkdtemp creates it with mode 700.
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-demo-"));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, "config.yaml");
  await writeFile(join(folder, "ca.pem"), tls.cert);
  await writeFile(configFile, configText(appliances, password), { mode: 0o600 });
  const settings = { telemetryPath: "/metrics", enableLifecycle: false };
  const started = await startExporter({ ...options, ...settings, configFile });
  if (!started.ok) return started;
  const { addresses, document, stop } = started.exporter;
  stops.push(stop);
  return { ok: true, demo: { addresses, configFile, document, step } } as const;
}

/** A certificate of appliances and websites, which clients trust as it is, and its key. */
async function createKeyPair(): Promise<{ readonly cert: string; readonly key: string }> {
  const made = await generate([{ name: "commonName", value: "appliance-exporter demo" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notAfterDate: new Date(Date.now() + VALIDITY_MS),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: HOST }] }],
  });
  return { cert: made.cert, key: made.private };
}

/** The exporter's configuration, in JSON, which is YAML too. */
function configText(appliances: World["appliances"], password: string): string {
  const config = {
    polling: { vrrp: { interval: "1s" }, websites: { interval: "2s" }, discovery: { interval: "5s" } },
    http_client: { basic_auth: { username: USERNAME, password }, tls_config: { ca_file: "ca.pem" } },
    clusters: [{ name: "demo", labels: { site: "demo" }, website_discovery: true, appliances }],
  };
  return JSON.stringify(config, undefined, 2);
}
