import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A measurement and its comparison. */
export interface Measurement {
  readonly name: string;
  readonly measured: string;
  /** The measurement of a comparable program in the same run, or "none". */
  readonly peer: string;
  readonly ratio: string;
  readonly goal: string;
}

export interface CannedAppliances {
  readonly port: number;
  readonly ca: string;
  stop(): void;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export async function startCannedAppliances(): Promise<CannedAppliances> {
  const child = spawn(process.execPath, ["--import", "tsx", here("canned-appliances.ts")], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const { port, ca }: { port: number; ca: string } = JSON.parse(await firstLine(child));
  return { port, ca, stop: () => void child.kill() };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no standard output to read");
  const [line]: string[] = await once(createInterface(child.stdout), "line");
  return line ?? "";
}

export interface RunningExporter {
  readonly startedAtMs: number;
  /** The text of /metrics; empty until the exporter listens. */
  scrape(): Promise<string>;
  stop(): Promise<void>;
}

/** Runs the built exporter with `count` appliances of `websites` websites each. */
export async function runExporter(
  appliances: CannedAppliances,
  { count, websites, listenPort }: { count: number; websites: number; listenPort: number },
): Promise<RunningExporter> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-bench-"));
  await writeFile(join(folder, "ca.pem"), appliances.ca);
  await writeFile(join(folder, "config.yaml"), configText(appliances.port, count, websites));
  const startedAtMs = performance.now();
  const child = spawn(
    here("../bin/appliance-exporter.cjs"),
    [
      "run",
      `--config.file=${join(folder, "config.yaml")}`,
      `--web.listen-address=127.0.0.1:${listenPort}`,
      "--log.level=warn",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  return {
    startedAtMs,
    scrape: () =>
      fetch(`http://127.0.0.1:${listenPort}/metrics`).then(
        (response) => response.text(),
        () => "",
      ),
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true });
    },
  };
}

function configText(port: number, count: number, websites: number): string {
  const ids = Array.from({ length: websites }, (_, index) => index + 1).join(", ");
  const pairs = Array.from({ length: Math.ceil(count / 2) }, (_, pair) => {
    const members = [2 * pair, 2 * pair + 1].filter((index) => index < count);
    const entries = members.map(
      (index) => `{ name: fw${index}, base_url: "https://127.0.0.1:${port}/fw${index}" }`,
    );
    return `  - { name: pair${pair}, websites: [${ids}], appliances: [${entries.join(", ")}] }\n`;
  });
  return `http_client: { tls_config: { ca_file: ca.pem } }\nclusters:\n${pairs.join("")}`;
}

/** Calls `look` ten times a second until it returns a value; rejects after `timeoutMs`. */
export async function until<T>(look: () => Promise<T | undefined>, timeoutMs: number): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > endMs) throw new Error(`not seen within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
