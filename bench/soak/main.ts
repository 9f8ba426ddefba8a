import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { formatTable } from "../../src/cli/table.ts";
import { until } from "../support.ts";
import { startSoakedExporter, type Holdings } from "./exporter.ts";
import { createLossCounter } from "./losses.ts";
import { countersOf, pollsOf, type Counters } from "./scraped.ts";
import { slopeOf } from "./slope.ts";

/**
 * `npm run soak [-- --minutes=N]`: what the exporter keeps and what it loses while 200 reference appliances misbehave, it is
 * scraped twice a second and reloaded every ten. Exits 1 where it keeps memory or a descriptor, or loses a poll.
 */
const APPLIANCES = 200;
const OPERATIONS = 2 * APPLIANCES;
const INTERVAL_MS = 5000;
const TIMEOUT_MS = 1500;
const TICK_MS = 500;
const RELOAD_EVERY_TICKS = 20;
const GAUGE_EVERY_TICKS = 10;
/** A poll may end at once, the next one at its timeout, and each is seen up to a tick later; a lost one leaves a longer gap. */
const LONGEST_GAP_MS = INTERVAL_MS + TIMEOUT_MS + 2 * TICK_MS;
/** The share of the time in which the heap is not judged yet. */
const WARM_UP = 0.5;
const MAX_BYTES_PER_HOUR = 1e6;
const MS_PER_HOUR = 3_600_000;

const minutes = Number(/--minutes=([\d.]+)/.exec(process.argv.join(" "))?.[1] ?? 10);

interface Appliances {
  readonly ports: readonly number[];
  readonly ca: string;
}

function configOf({ ports }: Appliances, site: string, enabled: boolean): unknown {
  const timing = { interval: `${INTERVAL_MS}ms`, timeout: `${TIMEOUT_MS}ms` };
  return {
    polling: { vrrp: timing, websites: timing },
    http_client: { basic_auth: { username: "monitor", password: "soak" }, tls_config: { ca_file: "ca.pem" } },
    clusters: Array.from({ length: APPLIANCES / 2 }, (_, pair) => ({
      name: `pair-${pair}`,
      labels: { site },
      websites: [1],
      appliances: [2 * pair, 2 * pair + 1].map((nth) => ({
        name: `a-${nth}`,
        base_url: `https://127.0.0.1:${ports[nth]}`,
        enabled,
      })),
    })),
  };
}

const child = spawn(
  process.execPath,
  ["--import", "tsx", fileURLToPath(new URL("appliances.ts", import.meta.url)), String(APPLIANCES)],
  { stdio: ["ignore", "pipe", "inherit", "ipc"] },
);
const [line]: string[] = await once(createInterface(child.stdout ?? process.stdin), "line");
const appliances: Appliances = JSON.parse(line ?? "");

const exporter = await startSoakedExporter(configOf(appliances, "x", false), appliances.ca);
await until(() => exporter.scrape().catch(() => undefined), 10_000);
const before = await exporter.holdings();

await exporter.reload(configOf(appliances, "x", true));
const ofEachOperation = await until(async () => {
  const text = await exporter.scrape();
  return pollsOf(text).filter(({ polls }) => polls > 0).length === OPERATIONS ? text : undefined;
}, 30_000);
const startedMs = performance.now();
const atStart = countersOf(ofEachOperation);
const endMs = startedMs + minutes * 60_000;
const losses = createLossCounter(INTERVAL_MS, LONGEST_GAP_MS);
const heap: (readonly [hours: number, bytes: number])[] = [];
const most = { descriptors: 0, timers: 0 };
let atEnd: Counters = atStart;
let reloads = 0;

for (let tick = 1; performance.now() < endMs; tick += 1) {
  const text = await exporter.scrape();
  const nowMs = performance.now();
  atEnd = countersOf(text);
  for (const { key, polls } of pollsOf(text)) losses.see(key, polls, nowMs);
  if (tick % RELOAD_EVERY_TICKS === 0) {
    reloads += 1;
    await exporter.reload(configOf(appliances, `site-${reloads % 2}`, true));
  }
  if (tick % GAUGE_EVERY_TICKS === 0) {
    const { heapBytes, descriptors, timers } = await exporter.holdings();
    most.descriptors = Math.max(most.descriptors, descriptors);
    most.timers = Math.max(most.timers, timers);
    if (nowMs > startedMs + WARM_UP * minutes * 60_000) heap.push([nowMs / MS_PER_HOUR, heapBytes]);
  }
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, startedMs + tick * TICK_MS - performance.now())),
  );
}
const seconds = (performance.now() - startedMs) / 1000;
const lost = losses.lost(performance.now());

await exporter.reload(configOf(appliances, "x", false));
let after: Holdings = await exporter.holdings();
await until(async () => {
  after = await exporter.holdings();
  return after.descriptors <= before.descriptors ? after : undefined;
}, 20_000).catch(() => undefined);
await exporter.stop();
child.disconnect();

const slope = slopeOf(heap);
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);
const byReason = (what: string, field: "failures" | "skipped"): readonly (readonly string[])[] =>
  Object.entries(atEnd[field])
    .map(([reason, count]) => [`${what}: ${reason}`, String(count - (atStart[field][reason] ?? 0))])
    .filter(([, count]) => count !== "0");
process.stdout.write(
  formatTable(
    ["what", "seen"],
    [
      ["time", `${seconds.toFixed(0)} s, ${reloads} reloads`],
      ["heap slope, MB an hour", `${megabytes(slope.estimate)} ± ${megabytes(slope.margin)}`],
      ["heap at the end, MB", megabytes(heap.at(-1)?.[1] ?? Number.NaN)],
      ["descriptors before, most, after", `${before.descriptors}, ${most.descriptors}, ${after.descriptors}`],
      ["timers before, most, after", `${before.timers}, ${most.timers}, ${after.timers}`],
      [`polls due, give or take ${OPERATIONS}`, ((seconds * 1000 * OPERATIONS) / INTERVAL_MS).toFixed(0)],
      ["polls done", String(atEnd.done - atStart.done)],
      ["polls late, by more than a second", String(atEnd.late - atStart.late)],
      ...byReason("polls skipped", "skipped"),
      ["polls lost", String(lost)],
      ...byReason("polls failed", "failures"),
    ],
  ),
);

const problems = [
  ...(slope.estimate - slope.margin > MAX_BYTES_PER_HOUR ? ["the heap grows"] : []),
  ...(after.descriptors > before.descriptors ? ["descriptors are kept"] : []),
  ...(lost > 0 ? ["polls were lost"] : []),
];
for (const problem of problems) process.stdout.write(`FAILED: ${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
