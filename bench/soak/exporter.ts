import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ADDRESS = "127.0.0.1:21850";
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Resources of the process after garbage collection. */
export interface Holdings {
  /** The instant on the monotonic clock of that process. */
  readonly atMs: number;
  readonly heapBytes: number;
  /** The part for compiled code, which V8 grows and shrinks at its discretion. */
  readonly codeBytes: number;
  readonly timers: number;
  readonly descriptors: number;
}

export interface Scrape {
  /** The exporter's monotonic time of the answer, which arrives much later on a busy machine. */
  readonly atMs: number;
  readonly text: string;
}

export interface SoakedExporter {
  scrape(): Promise<Scrape>;
  /** Reloads the configuration; rejects if it is invalid. */
  reload(config: unknown): Promise<void>;
  holdings(): Promise<Holdings>;
  stop(): Promise<void>;
}

/** Runs the built exporter with a gauge in its process. Each request uses a new connection. */
export async function startSoakedExporter(config: unknown, ca: string): Promise<SoakedExporter> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-soak-"));
  const file = join(folder, "config.yaml");
  const write = async (next: unknown): Promise<void> => {
    await writeFile(`${file}.new`, JSON.stringify(next));
    await rename(`${file}.new`, file);
  };
  await writeFile(join(folder, "ca.pem"), ca);
  await write(config);
  const child = spawn(
    process.execPath,
    [
      "--expose-gc",
      `--require=${here("gauge.cjs")}`,
      here("../../bin/appliance-exporter.cjs"),
      "run",
      `--config.file=${file}`,
      `--web.listen-address=${ADDRESS}`,
      "--web.enable-lifecycle",
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit", "ipc"] },
  );
  return {
    scrape: () => send("GET", "/metrics"),
    reload: async (next) => {
      await write(next);
      await send("POST", "/-/reload");
    },
    holdings: async () => {
      child.send("tell");
      const [holdings]: Holdings[] = await once(child, "message");
      if (holdings === undefined) throw new Error("the gauge said nothing");
      return holdings;
    },
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true });
    },
  };
}

async function send(method: string, path: string): Promise<Scrape> {
  const sent = request(`http://${ADDRESS}${path}`, { method, agent: new Agent({ keepAlive: false }) });
  sent.end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += String(chunk);
  if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  return { atMs: Number(response.headers["x-monotonic-ms"]), text };
}
