import { spawn, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import type { BareResult } from "./bare-fleet.ts";
import { latenessBetween, startExporter, sumOf, type FleetShape } from "./exporter.ts";
import { startNginxFleet, type NginxFleet } from "./nginx-fleet.ts";
import { startBareFleet } from "./peers.ts";
import { sleep, until, type Measurement } from "./support.ts";

const COUNTS = [5000, 10_000];
const INTERVAL_MS = 15_000;
/** The exporter's default for VRRP lists. */
const TIMEOUT_MS = 4000;
/** The time for which the exporter and the bare library are observed: the start and some intervals. */
const WATCH_MS = 60_000;
/** Prometheus's default is a minute; many scrape more often. */
const SCRAPE_EVERY_MS = 15_000;
/** The time for which the final scrape is retried. */
const SCRAPE_MS = 60_000;

/**
 * Measures the start of fleets of thousands, on a quiet machine and with a busy loop on each core: the time until every appliance is up,
 * and the number of failed polls; then the same with the HTTP library alone.
 */
export async function measureFleetStart(): Promise<readonly Measurement[]> {
  const fleet = await startNginxFleet();
  const measurements: Measurement[] = [];
  try {
    for (const isBusy of [false, true]) {
      for (const count of COUNTS) measurements.push(...(await measureOne(fleet, count, isBusy)));
    }
  } finally {
    await fleet.stop();
  }
  return measurements;
}

async function measureOne(
  fleet: NginxFleet,
  count: number,
  isBusy: boolean,
): Promise<readonly Measurement[]> {
  const name = `${count} appliances${isBusy ? ", a busy loop on each core" : ""}`;
  process.stderr.write(`  ${name}\n`);
  const loops = isBusy ? startBusyLoops() : [];
  try {
    const own = await watchExporter(fleet, count);
    const bare = await watchBare(fleet, count);
    const start: Measurement = {
      name: `start of ${name}`,
      measured: `${upText(own, count)}, ${own.failures}; longest wait for /-/healthy ${own.longestWaitMs.toFixed(0)} ms`,
      peer: `bare undici: ${upText(bare, count)}, ${bare.failures} of ${bare.requests} requests failed`,
      ratio: "",
      goal: isBusy ? "no more failures than the bare library" : "all up within 30 s, no failure",
    };
    if (isBusy) return [start];
    const lateness: Measurement = {
      name: `lateness of lists after the start, scrapes included, ${name}`,
      measured: own.lateness,
      peer: "none",
      ratio: "",
      goal: "99 % within 25 ms at 5000",
    };
    return [start, lateness];
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
  }
}

function upText(
  { completeMs, up }: { readonly completeMs?: number | undefined; readonly up: number },
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
  /** The number of appliances that are up at the end. */
  readonly up: number;
  /** The number of failed polls as text, by reason. */
  readonly failures: string;
  readonly longestWaitMs: number;
  /** The lateness of polls as text. */
  readonly lateness: string;
}

async function watchExporter(fleet: NginxFleet, count: number): Promise<Watched> {
  const shape: FleetShape = {
    appliances: count,
    websites: 0,
    vrrp: `${INTERVAL_MS / 1000}s`,
    website: "30s",
  };
  const startedMs = performance.now();
  const exporter = await startExporter(fleet, shape);
  let completeMs: number | undefined;
  let longestWaitMs = 0;
  while (performance.now() - startedMs < WATCH_MS) {
    const askedMs = performance.now();
    if (await exporter.isHealthy()) longestWaitMs = Math.max(longestWaitMs, performance.now() - askedMs);
    const sinceMs = performance.now() - startedMs;
    if (completeMs === undefined && (await exporter.isReady())) {
      if (upIn(await exporter.scrape()) === count) completeMs = sinceMs;
    }
    await sleep(100);
  }
  // On an overloaded machine a scrape can fail; a later one succeeds.
  const settled = await until(async () => (await exporter.scrape()) || undefined, SCRAPE_MS).catch(() => "");
  for (let ms = 0; ms < WATCH_MS; ms += SCRAPE_EVERY_MS) {
    await sleep(SCRAPE_EVERY_MS);
    await exporter.scrape({ "accept-encoding": "gzip" });
  }
  const lateness = latenessBetween(settled, await exporter.scrape());
  await exporter.stop();
  return { completeMs, up: upIn(settled), failures: failuresIn(settled), longestWaitMs, lateness };
}

async function watchBare(fleet: NginxFleet, count: number): Promise<BareResult> {
  const bare = await startBareFleet(fleet, {
    appliances: count,
    timeoutMs: TIMEOUT_MS,
    targets: [{ path: "/api/v1/interface/virtual", intervalMs: INTERVAL_MS }],
  });
  await sleep(WATCH_MS);
  const result = await bare.result();
  await bare.stop();
  return result;
}

function upIn(metrics: string): number {
  return sumOf(metrics, "appliance_up");
}

/** Returns `no poll failed`, or `3 polls failed (timeout 2, local 1)`. */
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
