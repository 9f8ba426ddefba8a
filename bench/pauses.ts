import { once } from "node:events";
import { startExporter, sumOf, type BenchExporter, type FleetShape } from "./exporter.ts";
import { LISTED_WEBSITES, startNginxFleet, type NginxFleet } from "./nginx-fleet.ts";
import { median, sleep, until, type Measurement } from "./support.ts";

const CONFIGURED = { websites: 10, vrrp: "15s", website: "2m" };
/** Websites that have targets. */
const DISCOVERED = { ...CONFIGURED, websites: LISTED_WEBSITES, isDiscovered: true };
/** 230,000 series, for which the goals are, 400,000, and 300 pairs with discovery. */
const SHAPES: readonly FleetShape[] = [
  { ...CONFIGURED, appliances: 1700 },
  { ...CONFIGURED, appliances: 3000 },
  { ...DISCOVERED, appliances: 600 },
];
const CLIENTS = 20;
const LABELS = "labels: { site: changed }, ";
/** Website tests are spread over their interval. */
const COMPLETE_MS = 450_000;
const ROUNDS = 5;
const SETTLE_MS = 2000;

interface Pauses {
  readonly longestMs: number;
  /** The longest major garbage collection. */
  readonly collectionMs: number;
}

/**
 * The longest pause of the event loop during each kind of work for a client of a large fleet, measured in the process, and
 * the longest wait of a health check beside it.
 */
export async function measurePauses(): Promise<readonly Measurement[]> {
  const fleet = await startNginxFleet();
  try {
    const measurements: Measurement[] = [];
    for (const shape of SHAPES) measurements.push(...(await measureFleet(fleet, shape)));
    return measurements;
  } finally {
    await fleet.stop();
  }
}

async function measureFleet(fleet: NginxFleet, shape: FleetShape): Promise<readonly Measurement[]> {
  const exporter = await startExporter(fleet, shape, "pause-gauge.cjs");
  const get = (path: string) => () => fetch(`${exporter.url}${path}`).then((response) => response.text());
  const reload = () =>
    fetch(`${exporter.url}/-/reload`, { method: "POST" }).then((response) => response.text());
  try {
    await until(async () => {
      const tested = sumOf(await exporter.scrape(), "website_up");
      await sleep(5000);
      return tested === shape.appliances * shape.websites || undefined;
    }, COMPLETE_MS);
    const series = (await exporter.scrape()).split("\n").filter((line) => !line.startsWith("#")).length;
    let changes = 0;
    const works: readonly [name: string, goalMs: number, work: () => Promise<unknown>][] = [
      ["nothing", 0, () => sleep(1000)],
      ["a scrape", 50, () => exporter.scrape({ "accept-encoding": "identity" })],
      ["a scrape, compressed", 50, () => exporter.scrape({ "accept-encoding": "gzip" })],
      ["/api/v1/fleet", 100, get("/api/v1/fleet")],
      ["the status page", 100, get("/")],
      ["/sd/websites", 100, get("/sd/websites")],
      ["/config", 100, get("/config")],
      [
        `${CLIENTS} clients of /api/v1/fleet, and a scrape`,
        100,
        () => Promise.all([...Array.from({ length: CLIENTS }, get("/api/v1/fleet")), exporter.scrape()]),
      ],
      ["a reload without a change", 100, reload],
      [
        "a reload with a label of every cluster changed",
        100,
        async () => {
          changes += 1;
          await exporter.configure(shape, changes % 2 === 1 ? LABELS : "");
          await reload();
        },
      ],
    ];
    const measurements: Measurement[] = [];
    for (const [name, goalMs, work] of works) {
      const rounds: (Pauses & { readonly waitMs: number })[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await pausesDuring(exporter, work));
      const typical = (pick: (round: (typeof rounds)[number]) => number) =>
        median(rounds.map(pick)).toFixed(0);
      measurements.push({
        name: `longest pause at ${series} series: ${name}`,
        measured: `${typical(({ longestMs }) => longestMs)} ms`,
        peer: `health check ${typical(({ waitMs }) => waitMs)} ms, major collection ${typical(({ collectionMs }) => collectionMs)} ms`,
        ratio: "",
        goal: goalMs === 0 ? "" : `at most ${goalMs} ms`,
      });
    }
    return measurements;
  } finally {
    await exporter.stop();
  }
}

async function pausesDuring(
  exporter: BenchExporter,
  work: () => Promise<unknown>,
): Promise<Pauses & { readonly waitMs: number }> {
  await sleep(SETTLE_MS);
  await readGauge(exporter);
  const check = checkHealth(exporter);
  await work();
  // The work of a reload goes on after its answer.
  await sleep(SETTLE_MS);
  return { ...(await readGauge(exporter)), waitMs: await check.stop() };
}

async function readGauge({ child }: BenchExporter): Promise<Pauses> {
  child.send("read");
  const [pauses]: Pauses[] = await once(child, "message");
  if (pauses === undefined) throw new Error("the gauge did not answer");
  return pauses;
}

/** Asks for the health of the exporter again and again; `stop` resolves to the longest wait. */
function checkHealth({ url }: BenchExporter): { stop(): Promise<number> } {
  const stopping = new AbortController();
  let longestMs = 0;
  const run = async (): Promise<number> => {
    while (!stopping.signal.aborted) {
      const startedMs = performance.now();
      await fetch(`${url}/-/healthy`).then((response) => response.text());
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      await sleep(10);
    }
    return longestMs;
  };
  const done = run();
  return {
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}
