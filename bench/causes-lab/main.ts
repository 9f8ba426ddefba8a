import { parseArgs } from "node:util";
import pLimit from "p-limit";
import { formatTable } from "../../src/exporter/command/format.ts";
import { groupBy } from "../../src/support/group-by.ts";
import { EXPORTER_PORT } from "../../test/e2e/lab/fleet.ts";
import { toolPath } from "../../test/support/tool.ts";
import { inLab, startExporter } from "../failover-lab/exporter.ts";
import { play, type Outcome } from "./play.ts";
import { SITUATIONS } from "./situations.ts";

/**
 * `npm run lab:causes [-- --runs=N] [-- WORD...]` lets clusters of real keepalived fail over for known causes. It compares the reports of
 * two exporters with the real causes, and with what a visitor finds who requests the address every 50 ms. It exits with 1 if a report is
 * wrong, or if its time without a known master is shorter than the visitor's. WORD selects the situations that have a step with this word
 * in its name.
 */
const AT_ONCE = 6;
const POLLS = [
  { polls: "1s", timeout: "900ms" },
  { polls: "5s", timeout: "4s" },
] as const;

const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "5" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
if (!(runs > 0)) throw new Error(`--runs: expected a number above 0, got "${values.runs}"`);
const words = positionals.length === 0 ? [""] : positionals;
const situations = SITUATIONS.filter(({ steps }) =>
  steps.some(({ name }) => words.some((word) => name.includes(word))),
);

toolPath("curl");
const outcomes: Outcome[] = [];
for (let run = 1; run <= runs; run++) {
  outcomes.push(...(await playAll()));
  process.stderr.write(`${run} of ${runs} runs\n`);
}
for (const { step, polls, wrong } of outcomes)
  if (wrong !== undefined) process.stderr.write(`wrong: ${step.name}, ${polls}: ${wrong}\n`);
const header = [
  "situation",
  "polls",
  "runs",
  "named",
  "other causes",
  "wrong",
  "longest gap",
  "at most (least ratio)",
  "covered",
];
const rows = [...groupBy(outcomes, ({ step, polls }) => `${step.name} ${polls}`).values()].map(rowOf);
process.stdout.write(formatTable(header, rows));
process.exitCode = outcomes.every((each) => each.wrong === undefined && isCovered(each)) ? 0 : 1;

function playAll(): Promise<readonly Outcome[]> {
  return inLab(situations, "causes", async ({ sandbox, folder, clusters }) => {
    const exporters = await Promise.all(
      POLLS.map(async ({ polls, timeout }, nth) => {
        const config = { polling: { vrrp: { interval: polls, timeout } }, clusters };
        const { fleet } = await startExporter(sandbox, folder, config, EXPORTER_PORT + nth);
        return { polls, fleet };
      }),
    );
    const limit = pLimit(AT_ONCE);
    const played = await Promise.all(
      situations.map((situation, nth) => limit(() => play({ sandbox, folder, exporters }, situation, nth))),
    );
    return played.flat();
  });
}

function isCovered({ step, gapMs, atMostMs = -1 }: Outcome): boolean {
  return step.takeover === undefined || atMostMs >= gapMs;
}

function rowOf(all: readonly Outcome[]): readonly string[] {
  const [first] = all;
  const takeover = first?.step.takeover;
  const others = all.filter(({ cause }) => cause !== takeover?.cause);
  const gapMs = Math.max(...all.map((each) => each.gapMs));
  const atMostMs = Math.max(...all.map((each) => each.atMostMs ?? 0));
  const ratios = all.flatMap(({ gapMs: gap, atMostMs: most = 0 }) => (gap > 0 ? most / gap : []));
  const ratio = ratios.length === 0 ? "" : ` (${Math.min(...ratios).toFixed(1)})`;
  return [
    first?.step.name ?? "",
    first?.polls ?? "",
    String(all.length),
    `${all.length - others.length} ${takeover?.cause ?? "no failover"}`,
    [...groupBy(others, ({ cause }) => cause ?? "none")]
      .map(([cause, { length }]) => `${length} ${cause}`)
      .join(", "),
    String(all.filter(({ wrong }) => wrong !== undefined).length),
    seconds(gapMs),
    takeover === undefined ? "" : `${seconds(atMostMs)}${ratio}`,
    takeover === undefined ? "" : all.every(isCovered) ? "yes" : "NO",
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)}s`;
}
