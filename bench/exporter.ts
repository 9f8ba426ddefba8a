import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess, type MeasuredProcess } from "./process.ts";
import { SERVER_NAME, type NginxFleet } from "./nginx-fleet.ts";

/** A fleet of pairs. */
export interface FleetShape {
  readonly appliances: number;
  /** The number of websites of each appliance, which are tested over HTTPS. */
  readonly websites: number;
  /** Whether the websites are not configured but discovered; default: false. */
  readonly isDiscovered?: boolean;
  readonly vrrp: string;
  readonly website: string;
  /** YAML of further entries of `clusters`; default: none. */
  readonly moreClusters?: string;
}

export interface BenchExporter extends MeasuredProcess {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Returns the text of /metrics, which is empty if there is no whole answer. */
  scrape(headers?: Record<string, string>): Promise<string>;
  isHealthy(): Promise<boolean>;
  isReady(): Promise<boolean>;
  /** Writes another shape to the configuration file, which the exporter reads at its next reload. */
  configure(shape: FleetShape, labels?: string): Promise<void>;
}

export const LISTEN_PORT = 21_851;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface RunOptions {
  /** A CommonJS file to load before the exporter. */
  readonly preload?: string;
  /** The folder of the built checkout; default: this one. */
  readonly checkout?: string;
  readonly port?: number;
}

/** Runs the built exporter as operators do, with a password file. */
export async function startExporter(
  fleet: NginxFleet,
  shape: FleetShape,
  { preload, checkout = here(".."), port = LISTEN_PORT }: RunOptions = {},
): Promise<BenchExporter> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-bench-"));
  const file = join(folder, "config.yaml");
  const configure = async (next: FleetShape, labels = ""): Promise<void> => {
    await writeFile(`${file}.new`, configText(fleet, next, labels));
    await rename(`${file}.new`, file);
  };
  await writeFile(join(folder, "ca.pem"), fleet.ca);
  await writeFile(join(folder, "password"), "correct horse battery staple\n");
  await configure(shape);
  const address = `127.0.0.1:${port}`;
  const running = startProcess(process.execPath, [
    ...(preload === undefined ? [] : [`--require=${here(preload)}`]),
    join(checkout, "bin/appliance-exporter.cjs"),
    "run",
    `--config.file=${file}`,
    `--web.listen-address=${address}`,
    "--web.enable-lifecycle",
    "--log.level=error",
  ]);
  const url = `http://${address}`;
  return {
    ...running,
    url,
    configure,
    scrape: async (headers = {}) => {
      try {
        return await (await fetch(`${url}/metrics`, { headers })).text();
      } catch {
        return "";
      }
    },
    isHealthy: () => isOk(`${url}/-/healthy`),
    isReady: () => isOk(`${url}/-/ready`),
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function isOk(url: string): Promise<boolean> {
  return fetch(url).then(
    async (response) => {
      await response.text();
      return response.ok;
    },
    () => false,
  );
}

function configText(fleet: NginxFleet, shape: FleetShape, labels: string): string {
  const entries = Array.from(
    { length: shape.isDiscovered === true ? 0 : shape.websites },
    (_, index) => `{ id: ${index + 1}, protocol: https }`,
  );
  const websites = entries.length === 0 ? "" : `websites: [${entries.join(", ")}], `;
  const pairs = Array.from({ length: shape.appliances / 2 }, (_, pair) => {
    const members = [2 * pair, 2 * pair + 1].map(
      (index) => `{ name: fw${index}, base_url: "${fleet.origin(index)}" }`,
    );
    return `  - { name: pair${pair}, ${websites}${labels}appliances: [${members.join(", ")}] }\n`;
  });
  return `
polling: { vrrp: { interval: ${shape.vrrp} }, websites: { interval: ${shape.website} } }
website_discovery: ${shape.isDiscovered === true}
http_client:
  basic_auth: { username: monitor, password_file: password }
  tls_config: { ca_file: ca.pem, server_name: ${SERVER_NAME} }
clusters:
${pairs.join("")}${shape.moreClusters ?? ""}`;
}

/** Returns the value of a series without labels, or the sum of the series with labels. */
export function sumOf(metrics: string, name: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, "gm"))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Returns the share of lists within each bucket that is neither empty nor all, such as `97.1 % within 10 ms`. */
export function latenessBetween(before: string, after: string): string {
  const pattern = /^appliance_exporter_poll_lateness_seconds_bucket\{le="(\S+)",operation="vrrp"\} (\d+)$/gm;
  const earlier = new Map([...before.matchAll(pattern)].map(([, le = "", count]) => [le, Number(count)]));
  const buckets = [...after.matchAll(pattern)].map(([, le = "", count]) => ({
    le,
    count: Number(count) - (earlier.get(le) ?? 0),
  }));
  const total = buckets.at(-1)?.count ?? 0;
  return buckets
    .filter(({ le }) => Number(le) <= 0.1)
    .map(({ le, count }) => `${((100 * count) / total).toFixed(1)} % within ${Number(le) * 1000} ms`)
    .join(", ");
}
