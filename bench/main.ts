import { toJson } from "../src/cli/report.ts";
import { formatTable } from "../src/cli/table.ts";
import { measureAnswer } from "./answer-cost.ts";
import { measureExposition } from "./exposition-cost.ts";
import { measureFirstPaint } from "./page-paint.ts";
import { measurePageUpdate } from "./page-update.ts";
import { measurePollCost } from "./poll-cost.ts";
import { measureMemory, measureStart } from "./whole-program.ts";
import type { Measurement } from "./support.ts";

/** `npm run bench [-- --output=json]`: what the exporter costs, beside its peers. Nothing here is a test. */
const MEASURES = [
  measurePollCost,
  measureAnswer,
  measureExposition,
  measureStart,
  measureMemory,
  measureFirstPaint,
  measurePageUpdate,
];

const measurements: Measurement[] = [];
for (const measure of MEASURES) {
  process.stderr.write(`${measure.name}...\n`);
  measurements.push(await measure());
}

if (process.argv.includes("--output=json")) process.stdout.write(toJson(measurements));
else {
  const rows = measurements.map(({ name, measured, peer, ratio, goal }) => [
    name,
    measured,
    peer,
    ratio,
    goal,
  ]);
  process.stdout.write(formatTable(["what", "measured", "beside", "ratio", "goal"], rows));
}
