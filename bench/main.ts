import { formatTable, toJson } from "../src/exporter/command/format.ts";
import { measureAnswer } from "./answer-cost.ts";
import { measureFleetStart } from "./fleet-start.ts";
import { measureFirstPaint } from "./page-paint.ts";
import { measurePageRender } from "./page-render.ts";
import { measurePageUpdate } from "./page-update.ts";
import { measurePauses } from "./pauses.ts";
import { measureMemory, measurePolling } from "./polling.ts";
import { measureProgramStart } from "./program-start.ts";
import { measureScrapes } from "./scrapes.ts";
import type { Measurement } from "./support.ts";
import { measureWorstCluster } from "./worst-cluster.ts";

/**
 * `npm run bench [-- NAME...] [--output=json]` measures the cost of the exporter, and compares it with its peers. NAME is a key of this
 * table; default: all.
 */
const MEASURES: Readonly<Record<string, () => Promise<Measurement | readonly Measurement[]>>> = {
  poll: measurePolling,
  memory: measureMemory,
  start: measureFleetStart,
  pauses: measurePauses,
  scrapes: measureScrapes,
  program: measureProgramStart,
  answer: measureAnswer,
  worst: measureWorstCluster,
  paint: measureFirstPaint,
  update: measurePageUpdate,
  render: measurePageRender,
};

const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const unknown = wanted.filter((name) => !(name in MEASURES));
if (unknown.length > 0) {
  process.stderr.write(
    `no row is called ${unknown.join(", ")}; there are ${Object.keys(MEASURES).join(", ")}\n`,
  );
  process.exit(2);
}

const measurements: Measurement[] = [];
try {
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stderr.write(`${name}...\n`);
    measurements.push(...[await measure()].flat());
  }
} finally {
  // The rows are printed even if a later row fails, since they took minutes.
  print();
}

function print(): void {
  if (process.argv.includes("--output=json")) {
    process.stdout.write(toJson(measurements));
    return;
  }
  const rows = measurements.map(({ name, measured, peer, ratio, goal }) => [
    name,
    measured,
    peer,
    ratio,
    goal,
  ]);
  process.stdout.write(formatTable(["what", "measured", "peer", "ratio", "goal"], rows));
}
