import { until } from "../support.ts";
import { startSoakedExporter, type Holdings, type SoakedExporter } from "./exporter.ts";
import { megabytes, type Findings } from "./findings.ts";
import { configOf, INTERVAL_MS, turnsOf, USERNAMES, type Appliances } from "./fleet.ts";
import { createInstantCounter } from "./instants.ts";
import { countersOf, pollsOf, since, type Counts } from "./scraped.ts";

const TICK_MS = 500;
const RELOAD_EVERY_TICKS = 20;
/** Every sixth reload changes the credentials, which renews all connections. */
const RELOADS_PER_USERNAME = 6;
const GAUGE_EVERY_TICKS = 10;
/** The first reading is not at a reload, when everything exists twice. */
const FIRST_GAUGE_TICK = 5;
const LOG_EVERY_TICKS = 60;
const MS_PER_HOUR = 3_600_000;

/** Polls, scrapes and reloads for `durationMs`; logs its progress. */
export async function soak(
  appliances: Appliances,
  durationMs: number,
  log: (text: string) => void,
): Promise<Findings> {
  const idle = { site: "x", username: USERNAMES[0], enabled: false };
  const exporter = await startSoakedExporter(configOf(appliances, idle), appliances.ca);
  await until(() => exporter.scrape().catch(() => undefined), 10_000);
  const before = await exporter.holdings();
  await exporter.reload(configOf(appliances, { ...idle, enabled: true }));
  await allPolled(exporter, turnsOf(appliances).length);
  log(`polling ${appliances.ports.length} appliances for ${(durationMs / 60_000).toFixed(1)} minutes`);

  const busy = await keepBusy(exporter, appliances, durationMs, log);

  await exporter.reload(configOf(appliances, idle));
  const after = await holdingsAtRest(exporter, before);
  await exporter.stop();
  const { most, ...seen } = busy;
  return {
    ...seen,
    descriptors: { before: before.descriptors, most: most.descriptors, after: after.descriptors },
    timers: { before: before.timers, most: most.timers, after: after.timers },
  };
}

async function allPolled(exporter: SoakedExporter, operations: number): Promise<void> {
  await until(async () => {
    const polled = pollsOf((await exporter.scrape()).text).filter(({ polls }) => polls > 0);
    return polled.length === operations ? true : undefined;
  }, 30_000);
}

/** Returns the resources after all appliances were disabled and the last polls have ended. */
async function holdingsAtRest(exporter: SoakedExporter, before: Holdings): Promise<Holdings> {
  let after = await exporter.holdings();
  await until(async () => {
    after = await exporter.holdings();
    return after.descriptors <= before.descriptors ? true : undefined;
  }, 20_000).catch(() => {});
  return after;
}

type Busy = Omit<Findings, "descriptors" | "timers"> & {
  readonly most: Pick<Holdings, "descriptors" | "timers">;
};

async function keepBusy(
  exporter: SoakedExporter,
  appliances: Appliances,
  durationMs: number,
  log: (text: string) => void,
): Promise<Busy> {
  const first = await exporter.scrape();
  const atStart = countersOf(first.text);
  const startedMs = performance.now();
  let counters = atStart;
  let scrapes = 0;
  let reloads = 0;
  const gauge = createGauge(exporter);
  await gauge.look();
  // The second poll of an operation is up to one and a half intervals after the first; later polls are on the grid.
  const instants = createInstantCounter(turnsOf(appliances), first.atMs + 2 * INTERVAL_MS);

  for (let tick = 1; performance.now() < startedMs + durationMs; tick += 1) {
    const { atMs, text } = await exporter.scrape();
    const polls = new Map(pollsOf(text).map((each) => [each.key, each.polls]));
    counters = countersOf(text);
    scrapes += 1;
    instants.add({ atMs, polls, skipped: totalOf(counters.skipped), begunLate: counters.late });
    if (tick % RELOAD_EVERY_TICKS === 0) {
      reloads += 1;
      const username = USERNAMES[Math.floor(reloads / RELOADS_PER_USERNAME) % 2] ?? USERNAMES[0];
      await exporter.reload(configOf(appliances, { site: `site-${reloads % 2}`, username, enabled: true }));
    }
    if (tick % GAUGE_EVERY_TICKS === FIRST_GAUGE_TICK) await gauge.look();
    if (tick % LOG_EVERY_TICKS === 0) {
      const { due, lost } = instants.counts();
      log(`${secondsSince(startedMs)} s: ${due} polls were due, ${lost} were lost; ${gauge.text()}`);
    }
    await untilInstant(startedMs + tick * TICK_MS);
  }
  return {
    seconds: Number(secondsSince(startedMs)),
    scrapes,
    reloads,
    looks: gauge.looks(),
    most: gauge.most(),
    instants: instants.counts(),
    counters: since(atStart, counters),
  };
}

/** Creates a recorder of the exporter's resources. */
function createGauge(exporter: SoakedExporter) {
  const looks: Holdings[] = [];
  const most = (what: "descriptors" | "timers"): number => Math.max(...looks.map((look) => look[what]));
  return {
    look: async () => void looks.push(await exporter.holdings()),
    looks: () => looks.map(({ atMs, ...look }) => ({ hours: atMs / MS_PER_HOUR, ...look })),
    most: () => ({ descriptors: most("descriptors"), timers: most("timers") }),
    text: () => {
      const look = looks.at(-1);
      const heap = `heap ${megabytes(look?.heapBytes)} MB, of that compiled code ${megabytes(look?.codeBytes)} MB`;
      return `${heap}; ${look?.descriptors} descriptors, ${look?.timers} timers`;
    },
  };
}

function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function secondsSince(startedMs: number): string {
  return ((performance.now() - startedMs) / 1000).toFixed(0);
}

async function untilInstant(atMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())));
}
