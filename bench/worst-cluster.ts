import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { latenessBetween, startExporter } from "./exporter.ts";
import { startNginxFleet } from "./nginx-fleet.ts";
import { startProcess } from "./process.ts";
import { sleep, type Measurement } from "./support.ts";

const PORTS = [21_860, 21_861];
const SHAPE = { appliances: 200, websites: 10, vrrp: "1s", website: "10s" };
const POLLING = "{ vrrp: { interval: 1s }, websites: { interval: 10s }, discovery: { interval: 30s } }";
const WARM_UP_MS = 60_000;
const SCRAPES = 15;
const SCRAPE_INTERVAL_MS = 4000;

/** Measures the cost of a pair of appliances that exhaust every limit for the rest of the fleet. */
export async function measureWorstCluster(): Promise<readonly Measurement[]> {
  const fleet = await startNginxFleet();
  const script = fileURLToPath(new URL("worst-appliance.ts", import.meta.url));
  const hostile = PORTS.map((port) => startProcess(process.execPath, ["--import", "tsx", script, `${port}`]));
  try {
    await Promise.all(hostile.map(({ child }) => once(child, "message")));
    const alone = await measure(SHAPE);
    const members = PORTS.map(
      (port, nth) => `{ name: hostile${nth}, base_url: "http://127.0.0.1:${port}", allow_http: true }`,
    );
    const cluster = `  - { name: hostile, website_discovery: true, polling: ${POLLING}, appliances: [${members.join(", ")}] }\n`;
    const beside = await measure({ ...SHAPE, moreClusters: cluster });
    const name = `${SHAPE.appliances} appliances beside a pair that exhausts every limit`;
    return [
      {
        name: `${name}: scrapes, longest and median`,
        measured: beside.scrapes,
        peer: `without it: ${alone.scrapes}`,
        ratio: "",
        goal: "under 1 s",
      },
      {
        name: `${name}: lateness of lists`,
        measured: beside.lateness,
        peer: `without it: ${alone.lateness}`,
        ratio: "",
        goal: "100 % within 100 ms",
      },
      {
        name: `${name}: CPU of a second, memory`,
        measured: beside.cost,
        peer: `without it: ${alone.cost}`,
        ratio: "",
        goal: "at most 512 MiB",
      },
    ];
  } finally {
    await Promise.all(hostile.map(({ stop }) => stop()));
    await fleet.stop();
  }

  async function measure(shape: Parameters<typeof startExporter>[1]) {
    const exporter = await startExporter(fleet, shape);
    await sleep(WARM_UP_MS);
    const [before, cpuMs, startedMs] = [await exporter.scrape(), exporter.cpuMs(), performance.now()];
    const durations: number[] = [];
    let peakMib = 0;
    for (let nth = 0; nth < SCRAPES; nth += 1) {
      await sleep(SCRAPE_INTERVAL_MS);
      const sentMs = performance.now();
      await exporter.scrape({ "accept-encoding": "gzip" });
      durations.push(performance.now() - sentMs);
      peakMib = Math.max(peakMib, exporter.residentMib());
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const usedMs = (exporter.cpuMs() - cpuMs) / seconds;
    const sorted = durations.toSorted((a, b) => a - b).map((ms) => `${ms.toFixed(0)} ms`);
    const lateness = latenessBetween(before, await exporter.scrape());
    await exporter.stop();
    return {
      scrapes: `${sorted.at(-1)}, ${sorted[Math.floor(SCRAPES / 2)]}`,
      lateness,
      cost: `${usedMs.toFixed(0)} ms, ${peakMib.toFixed(0)} MiB`,
    };
  }
}
