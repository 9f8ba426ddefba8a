import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { BareOptions, BareResult } from "./bare-fleet.ts";
import { SERVER_NAME, startNginxFleet, type NginxFleet } from "./nginx-fleet.ts";
import { until, type Measurement } from "./support.ts";

const NGINX_PORT = 21_850;
const LISTEN_PORT = 21_851;
const COUNTS = [5000, 10_000];
const INTERVAL_MS = 15_000;
/** The exporter's default for VRRP lists. */
const TIMEOUT_MS = 4000;
/** How long the exporter and the bare library are observed: the start and some intervals. */
const WATCH_MS = 60_000;
/** How long the final scrape is retried. */
const SCRAPE_MS = 60_000;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The start of fleets of thousands, on a quiet machine and with a busy loop on each core: the time until every appliance
 * is up, and the number of failed polls; then the HTTP library alone.
 */
export async function measureFleetStart(): Promise<readonly Measurement[]> {
  const fleet = await startNginxFleet(NGINX_PORT);
  const measurements: Measurement[] = [];
  try {
    for (const isBusy of [false, true]) {
      for (const count of COUNTS) measurements.push(await measureOne(fleet, count, isBusy));
    }
  } finally {
    await fleet.stop();
  }
  return measurements;
}

async function measureOne(fleet: NginxFleet, count: number, isBusy: boolean): Promise<Measurement> {
  const name = `start of ${count} appliances${isBusy ? ", a busy loop on each core" : ""}`;
  process.stderr.write(`  ${name}\n`);
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-bench-"));
  const loops = isBusy ? startBusyLoops() : [];
  try {
    const own = await watchExporter(fleet, count, folder);
    const bare = await watchBare(fleet, count, folder);
    return {
      name,
      measured: `${upText(own, count)}, ${own.failures}; longest wait for /-/healthy ${own.longestWaitMs.toFixed(0)} ms`,
      peer: `bare undici: ${upText(bare, count)}, ${bare.failures} of ${bare.requests} requests failed`,
      ratio: "",
      goal: isBusy ? "no more failures than the bare library" : "all up within 30 s, no failure",
    };
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
}

function upText(
  { completeMs, up }: { readonly completeMs: number | undefined; readonly up: number },
  count: number,
): string {
  if (completeMs !== undefined) return `all up after ${(completeMs / 1000).toFixed(1)} s`;
  return `${up} of ${count} up after ${WATCH_MS / 1000} s`;
}

function startBusyLoops(): readonly ChildProcess[] {
  return Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
}

interface Watched {
  readonly completeMs: number | undefined;
  /** At the end. */
  readonly up: number;
  /** As text, by reason. */
  readonly failures: string;
  readonly longestWaitMs: number;
}

/** Runs the built exporter with a password file. */
async function watchExporter(fleet: NginxFleet, count: number, folder: string): Promise<Watched> {
  await writeFile(join(folder, "ca.pem"), fleet.ca);
  await writeFile(join(folder, "password"), "correct horse battery staple\n");
  await writeFile(join(folder, "config.yaml"), configText(fleet, count));
  const address = `127.0.0.1:${LISTEN_PORT}`;
  const startedMs = performance.now();
  const child = spawn(
    here("../bin/appliance-exporter.cjs"),
    ["run", `--config.file=${folder}/config.yaml`, `--web.listen-address=${address}`, "--log.level=error"],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  let completeMs: number | undefined;
  let longestWaitMs = 0;
  while (performance.now() - startedMs < WATCH_MS) {
    const askedMs = performance.now();
    const isAlive = await isOk(`http://${address}/-/healthy`);
    if (isAlive) longestWaitMs = Math.max(longestWaitMs, performance.now() - askedMs);
    const sinceMs = performance.now() - startedMs;
    if (completeMs === undefined && isAlive && (await isOk(`http://${address}/-/ready`))) {
      if (upIn(await scrape(address)) === count) completeMs = sinceMs;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // On an overloaded machine a scrape can fail; a later one succeeds.
  const metrics = await until(async () => (await scrape(address)) || undefined, SCRAPE_MS).catch(() => "");
  child.kill("SIGTERM");
  await once(child, "exit");
  return { completeMs, up: upIn(metrics), failures: failuresIn(metrics), longestWaitMs };
}

function configText(fleet: NginxFleet, count: number): string {
  const pairs = Array.from({ length: count / 2 }, (_, pair) => {
    const members = [2 * pair, 2 * pair + 1].map(
      (index) => `{ name: fw${index}, base_url: "${fleet.origin(index)}" }`,
    );
    return `  - { name: pair${pair}, appliances: [${members.join(", ")}] }\n`;
  });
  return `
polling: { vrrp: { interval: ${INTERVAL_MS / 1000}s, timeout: ${TIMEOUT_MS / 1000}s } }
http_client:
  basic_auth: { username: monitor, password_file: password }
  tls_config: { ca_file: ca.pem, server_name: ${SERVER_NAME} }
clusters:
${pairs.join("")}`;
}

async function watchBare(fleet: NginxFleet, count: number, folder: string): Promise<BareResult> {
  const options: BareOptions = {
    origins: Array.from({ length: count }, (_, index) => fleet.origin(index)),
    ca: fleet.ca,
    serverName: SERVER_NAME,
    path: "/api/v1/interface/virtual",
    intervalMs: INTERVAL_MS,
    timeoutMs: TIMEOUT_MS,
  };
  await writeFile(join(folder, "options.json"), JSON.stringify(options));
  const child = spawn(
    process.execPath,
    ["--import", "tsx", here("bare-fleet.ts"), `${folder}/options.json`],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const output = text(child.stdout);
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  child.stdin.end();
  const result: BareResult = JSON.parse(await output);
  return result;
}

function upIn(metrics: string): number {
  return metrics.match(/^appliance_up\{.* 1$/gm)?.length ?? 0;
}

/** `no poll failed`, or `3 polls failed (timeout 2, local 1)`. */
function failuresIn(metrics: string): string {
  const pattern = /^appliance_exporter_poll_failures_total\{operation="vrrp",reason="(\w+)"\} (\d+)$/gm;
  const counts = [...metrics.matchAll(pattern)]
    .map(([, reason, count]) => ({ reason, count: Number(count) }))
    .filter(({ count }) => count > 0);
  if (metrics === "") return "no scrape answered";
  const sum = counts.reduce((total, { count }) => total + count, 0);
  const reasons = counts.map(({ reason, count }) => `${reason} ${count}`).join(", ");
  return sum === 0 ? "no poll failed" : `${sum} polls failed (${reasons})`;
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

function scrape(address: string): Promise<string> {
  return fetch(`http://${address}/metrics`).then(
    (response) => response.text(),
    () => "",
  );
}
