import { latenessBetween, startExporter, sumOf, type FleetShape, type RunOptions } from "./exporter.ts";
import { LISTED_WEBSITES, startNginxFleet, type NginxFleet } from "./nginx-fleet.ts";
import { startBareFleet, startBlackbox, type Targets } from "./peers.ts";
import { readGauge, type MeasuredProcess } from "./process.ts";
import { median, sleep, type Measurement } from "./support.ts";

const WEBSITES = 10;
const SHAPE: FleetShape = { appliances: 600, websites: WEBSITES, vrrp: "5s", website: "30s" };
const TARGETS: Targets = {
  appliances: SHAPE.appliances,
  timeoutMs: 4000,
  targets: [
    { path: "/api/v1/interface/virtual", intervalMs: 5000 },
    ...Array.from({ length: WEBSITES }, (_, nth) => ({
      path: `/api/v1/website/${nth + 1}/test`,
      intervalMs: 30_000,
    })),
  ],
};
/** After this time, connections exist and code is compiled, as in a program that has run for long. */
const WARM_UP_MS = 60_000;
const WINDOW_MS = 20_000;
const WINDOWS = 3;

/** Measures the CPU time of a poll of a paced fleet, from the whole process, in three windows of each program. */
export async function measurePolling(): Promise<readonly Measurement[]> {
  return withFleet(async (fleet) => {
    const { pollMs: own, failures } = await measureExporter(fleet);
    const bare = await startBareFleet(fleet, TARGETS);
    await sleep(WARM_UP_MS);
    const bareMs = await msOfOne(bare, async () => (await bare.result()).requests);
    await bare.stop();
    const blackbox = await startBlackbox(fleet, TARGETS);
    await sleep(WARM_UP_MS);
    const blackboxMs = await msOfOne(blackbox, async () => blackbox.probes());
    await blackbox.stop();
    const name = `CPU of a poll, ${SHAPE.appliances} appliances of ${WEBSITES} websites, 320 polls/s, ${failures} failed`;
    const measured = `${own.toFixed(2)} ms`;
    return [
      {
        name,
        measured,
        peer: `bare undici: ${bareMs.toFixed(2)} ms`,
        ratio: (own / bareMs).toFixed(2),
        goal: "at most 2.4",
      },
      {
        name,
        measured,
        peer: `blackbox_exporter: ${blackboxMs.toFixed(2)} ms`,
        ratio: (own / blackboxMs).toFixed(2),
        goal: "at most 0.33",
      },
    ];
  });
}

/** Measures an exporter that polls this fleet for a minute, and then for `windows` of 20 seconds. */
export async function measureExporter(
  fleet: NginxFleet,
  {
    windows = WINDOWS,
    appliances = SHAPE.appliances,
    ...options
  }: RunOptions & { readonly windows?: number; readonly appliances?: number } = {},
) {
  const exporter = await startExporter(fleet, { ...SHAPE, appliances }, options);
  const scrape = async () => {
    for (;;) {
      const text = await exporter.scrape();
      if (text !== "") return text;
      // On a machine that is busy for an hour, one in a thousand is cut.
      await sleep(1000);
    }
  };
  const polls = async () => sumOf(await scrape(), "appliance_exporter_poll_duration_seconds_count");
  const isGauged = options.preload !== undefined;
  await sleep(WARM_UP_MS);
  const first = await scrape();
  if (isGauged) await readGauge(exporter);
  const pollMs = await msOfOne(exporter, polls, windows);
  const last = await scrape();
  const measured = {
    pollMs,
    failures: sumOf(last, "appliance_exporter_poll_failures_total"),
    residentMib: exporter.residentMib(),
    lateness: latenessBetween(first, last),
    gauge: isGauged ? await readGauge(exporter) : undefined,
  };
  await exporter.stop();
  return measured;
}

/** Returns the CPU milliseconds of one of the things that `count` counts: the median of the windows. */
async function msOfOne(
  running: MeasuredProcess,
  count: () => Promise<number>,
  windows = WINDOWS,
): Promise<number> {
  const costs: number[] = [];
  for (let nth = 0; nth < windows; nth += 1) {
    const [before, cpuMs] = [await count(), running.cpuMs()];
    await sleep(WINDOW_MS);
    const usedMs = running.cpuMs() - cpuMs;
    costs.push(usedMs / ((await count()) - before));
    const isTenth = windows > WINDOWS && (nth + 1) % Math.ceil(windows / 10) === 0;
    if (isTenth) process.stderr.write(`${nth + 1} of ${windows} windows: ${median(costs).toFixed(3)} ms\n`);
  }
  return median(costs);
}

const MEMORY: readonly { readonly shape: FleetShape; readonly goal: string }[] = [
  {
    shape: { appliances: 1000, websites: 10, vrrp: "5s", website: "30s" },
    goal: "at most 350 MiB",
  },
  { shape: { appliances: 5000, websites: 2, vrrp: "15s", website: "60s" }, goal: "at most 900 MiB" },
  { shape: { appliances: 500, websites: 10, vrrp: "5s", website: "30s" }, goal: "" },
  {
    shape: { appliances: 1000, websites: LISTED_WEBSITES, isDiscovered: true, vrrp: "5s", website: "30s" },
    goal: "",
  },
];
const MEMORY_AFTER_MS = 180_000;

/** Measures resident memory after three minutes of a scrape every 15 seconds, and how late lists are in the last two minutes. */
export async function measureMemory(): Promise<readonly Measurement[]> {
  return withFleet(async (fleet) => {
    const measurements: Measurement[] = [];
    for (const { shape, goal } of MEMORY) {
      const exporter = await startExporter(fleet, shape);
      let peak = 0;
      let settled = "";
      for (let ms = 0; ms < MEMORY_AFTER_MS; ms += 15_000) {
        await sleep(15_000);
        const scraped = await exporter.scrape({ "accept-encoding": "gzip" });
        if (ms < 60_000) settled = scraped;
        peak = Math.max(peak, exporter.residentMib());
      }
      const last = await exporter.scrape();
      const heap = sumOf(last, "nodejs_heap_size_used_bytes") / 2 ** 20;
      const discovered = shape.isDiscovered === true ? "discovered " : "";
      const name = `${shape.appliances} appliances of ${shape.websites} ${discovered}websites`;
      measurements.push({
        name: `lateness of lists, scrapes included, ${name}`,
        measured: latenessBetween(settled, last),
        peer: "none",
        ratio: "",
        goal: "99 % within 25 ms",
      });
      measurements.push({
        name: `memory after three minutes, ${name}`,
        measured: `${exporter.residentMib().toFixed(0)} MiB, peak ${peak.toFixed(0)}, heap ${heap.toFixed(0)}; ${exporter.openFiles()} open files`,
        peer: "none",
        ratio: "",
        goal,
      });
      await exporter.stop();
    }
    return measurements;
  });
}

async function withFleet<T>(work: (fleet: NginxFleet) => Promise<T>): Promise<T> {
  const fleet = await startNginxFleet();
  try {
    return await work(fleet);
  } finally {
    await fleet.stop();
  }
}
