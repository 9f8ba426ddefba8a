import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startExporter } from "./exporter.ts";
import { startNginxFleet, type NginxFleet } from "./nginx-fleet.ts";
import { median, until, type Measurement } from "./support.ts";

const ROUNDS = 9;
const PROGRAM = fileURLToPath(new URL("../bin/appliance-exporter.cjs", import.meta.url));

/** Measures the CPU time of `--version`, and until a scrape of two appliances is answered. Its peer is Node.js that does nothing. */
export async function measureProgramStart(): Promise<readonly Measurement[]> {
  const bare = await medianOf(() => cpuMsOf(["-e", "0"]));
  const version = await medianOf(() => cpuMsOf([PROGRAM, "--version"]));
  const fleet = await startNginxFleet();
  const listening = await medianOf(() => cpuMsUntilListening(fleet));
  await fleet.stop();
  const row = (name: string, ms: number, goal: string): Measurement => ({
    name,
    measured: `${ms.toFixed(0)} ms`,
    peer: `node -e 0: ${bare.toFixed(0)} ms`,
    ratio: (ms / bare).toFixed(2),
    goal,
  });
  return [
    row("CPU of --version", version, "at most 120 ms where Node.js takes 63"),
    row("CPU until it serves two appliances", listening, "at most 230 ms where Node.js takes 63"),
  ];
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) costs.push(await measure());
  return median(costs);
}

/** Returns the CPU time of a process that ends by itself, as the shell's `times` reports it. */
async function cpuMsOf(args: readonly string[]): Promise<number> {
  const child = spawn("sh", ["-c", '"$@" >/dev/null; times', "sh", process.execPath, ...args]);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  const children = text.trim().split("\n").at(-1) ?? "";
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return seconds.reduce((sum, each) => sum + each, 0) * 1000;
}

async function cpuMsUntilListening(fleet: NginxFleet): Promise<number> {
  const exporter = await startExporter(fleet, { appliances: 2, websites: 0, vrrp: "5s", website: "30s" });
  await until(async () => (await exporter.isHealthy()) || undefined, 30_000);
  const ms = exporter.cpuMs();
  await exporter.stop();
  return ms;
}
