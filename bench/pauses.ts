import { startExporter, type BenchExporter, type FleetShape } from "./exporter.ts";
import { LISTED_WEBSITES, startNginxFleet, type NginxFleet } from "./nginx-fleet.ts";
import { PAUSE_GAUGE, readGauge, type Gauge } from "./process.ts";
import { median, sleep, until, type Measurement } from "./support.ts";

const CONFIGURED = { websites: 10, vrrp: "15s", website: "2m" };
/** The websites are discovered, so they have targets. */
const DISCOVERED = { ...CONFIGURED, websites: LISTED_WEBSITES, isDiscovered: true };
/** The fleets have 230,000 series, 560,000, and 300 pairs with discovery. */
const SHAPES: readonly FleetShape[] = [
  { ...CONFIGURED, appliances: 1700 },
  { ...CONFIGURED, appliances: 4200 },
  { ...DISCOVERED, appliances: 600 },
];
const CLIENTS = 20;
const LABELS = "labels: { site: changed }, ";
/** Website tests are spread over their interval. */
const COMPLETE_MS = 450_000;
const ROUNDS = 5;
const SETTLE_MS = 2000;
const HEALTH_GOAL = "health check at most 60 ms";

interface Round extends Gauge {
  /** The longest wait of a health check. */
  readonly waitMs: number;
}

interface Work {
  readonly name: string;
  readonly goal: string;
  /** The number of rounds; default: `ROUNDS`. */
  readonly rounds?: number;
  readonly run: () => Promise<unknown>;
}

/**
 * Measures the pauses of the event loop during each kind of work for a client of a large fleet, in the process itself, and the waits of
 * concurrent health checks: the median and the worst of all rounds. The first scrape, which renders everything, is a row of its own.
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
  const exporter = await startExporter(fleet, shape, { preload: PAUSE_GAUGE });
  const get = (path: string) => () => fetch(`${exporter.url}${path}`).then((response) => response.text());
  const reload = () =>
    fetch(`${exporter.url}/-/reload`, { method: "POST" }).then((response) => response.text());
  let changes = 0;
  const works: readonly Work[] = [
    { name: "the first scrape", goal: HEALTH_GOAL, rounds: 1, run: () => exporter.scrape() },
    { name: "nothing", goal: "", run: () => sleep(1000) },
    {
      name: "a scrape",
      goal: `at most 50 ms, ${HEALTH_GOAL}`,
      run: () => exporter.scrape({ "accept-encoding": "identity" }),
    },
    {
      name: "a scrape, compressed",
      goal: `at most 50 ms, ${HEALTH_GOAL}`,
      run: () => exporter.scrape({ "accept-encoding": "gzip" }),
    },
    ...["/api/v1/fleet", "/", "/sd/websites", "/config"].map((path) => ({
      name: path,
      goal: `at most 100 ms, ${HEALTH_GOAL}`,
      run: get(path),
    })),
    {
      name: `${CLIENTS} clients of /api/v1/fleet, and a scrape`,
      goal: "at most 100 ms",
      // The responses together may be more than the exporter keeps for one client, whose oldest responses it aborts then.
      run: () =>
        Promise.all([
          Promise.allSettled(Array.from({ length: CLIENTS }, get("/api/v1/fleet"))),
          exporter.scrape(),
        ]),
    },
    { name: "a reload without a change", goal: "at most 100 ms", run: reload },
    {
      name: "a reload with a label of every cluster changed",
      goal: "at most 100 ms",
      run: async () => {
        changes += 1;
        await exporter.configure(shape, changes % 2 === 1 ? LABELS : "");
        await reload();
      },
    },
  ];
  try {
    await until(async () => (await exporter.isReady()) || undefined, COMPLETE_MS);
    await until(async () => {
      // This request is not a scrape, so that the first scrape is measured.
      const tested = (await get("/api/v1/fleet")()).split('"statuses":').length - 1;
      await sleep(5000);
      return tested === shape.appliances * shape.websites || undefined;
    }, COMPLETE_MS);
    const measured: (readonly [Work, readonly Round[]])[] = [];
    for (const work of works) {
      const rounds: Round[] = [];
      for (let round = 0; round < (work.rounds ?? ROUNDS); round += 1)
        rounds.push(await pausesDuring(exporter, work));
      measured.push([work, rounds]);
    }
    const series = (await exporter.scrape()).split("\n").filter((line) => !line.startsWith("#")).length;
    return measured.map(([{ name, goal }, rounds]) => ({
      name: `longest pause at ${series} series: ${name}`,
      measured: typicalAndWorst(rounds.map(({ longestMs }) => longestMs)),
      peer:
        `health check ${typicalAndWorst(rounds.map(({ waitMs }) => waitMs))}; ` +
        `major collection ${typicalAndWorst(rounds.map(({ collectionMs }) => collectionMs))}; ` +
        `without a processor ${typicalAndWorst(rounds.map(({ starvedMs }) => starvedMs))}`,
      ratio: "",
      goal,
    }));
  } finally {
    await exporter.stop();
  }
}

/** Returns the median and the maximum, because the median of several rounds hides what only the first one costs. */
function typicalAndWorst(valuesMs: readonly number[]): string {
  const worst = `${Math.max(...valuesMs).toFixed(0)} ms`;
  return valuesMs.length === 1 ? worst : `${median(valuesMs).toFixed(0)} ms, worst ${worst}`;
}

async function pausesDuring(exporter: BenchExporter, { run }: Work): Promise<Round> {
  await sleep(SETTLE_MS);
  await readGauge(exporter);
  const check = checkHealth(exporter);
  try {
    await run();
    // The work of a reload goes on after its answer.
    await sleep(SETTLE_MS);
  } finally {
    // Without the `finally`, a failed check would hide why the work failed.
    await check.stop();
  }
  return { ...(await readGauge(exporter)), waitMs: await check.stop() };
}

/** Checks the health of the exporter repeatedly; `stop` resolves to the longest wait in milliseconds. */
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
