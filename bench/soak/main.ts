import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatTable } from "../../src/exporter/command/format.ts";
import { problemsOf, rowsOf } from "./findings.ts";
import type { Appliances } from "./fleet.ts";
import { soak } from "./soak.ts";

/**
 * `npm run soak [-- --minutes=N]` runs the exporter with 200 misbehaving reference appliances, scrapes and reloads. It exits with 1 if the
 * exporter leaks memory or a descriptor, or loses a poll.
 */
const APPLIANCES = 200;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes: expected a number above 0, got "${values.minutes}"`);

const child = spawn(
  process.execPath,
  ["--import", "tsx", fileURLToPath(new URL("appliances.ts", import.meta.url)), String(APPLIANCES)],
  { stdio: ["ignore", "pipe", "inherit", "ipc"] },
);
const [line]: string[] = await once(createInterface(child.stdout ?? process.stdin), "line");
const appliances: Appliances = JSON.parse(line ?? "");
const findings = await soak(appliances, minutes * 60_000, (text) => process.stderr.write(`${text}\n`));
child.disconnect();

process.stdout.write(formatTable(["what", "seen"], rowsOf(findings)));
const problems = problemsOf(findings);
for (const problem of problems) process.stdout.write(`FAILED: ${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
