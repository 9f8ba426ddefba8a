import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const LISTEN = "127.0.0.1:21850";
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What the process holds after garbage collection. */
export interface Holdings {
  readonly heapBytes: number;
  readonly timers: number;
  readonly descriptors: number;
}

export interface SoakedExporter {
  /** The text of /metrics, over a connection of its own. */
  scrape(): Promise<string>;
  holdings(): Promise<Holdings>;
  /** Writes the configuration and sends SIGHUP. */
  reload(config: unknown): Promise<void>;
  stop(): Promise<void>;
}

/** The built exporter as its user starts it, with a gauge in its process. */
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
      `--web.listen-address=${LISTEN}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit", "ipc"] },
  );
  return {
    scrape,
    holdings: async () => {
      child.send("tell");
      const [holdings]: Holdings[] = await once(child, "message");
      if (holdings === undefined) throw new Error("the gauge said nothing");
      return holdings;
    },
    reload: async (next) => {
      await write(next);
      child.kill("SIGHUP");
    },
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true });
    },
  };
}

function scrape(): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(
      `http://${LISTEN}/metrics`,
      { agent: new Agent({ keepAlive: false }) },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(text));
        response.on("error", reject);
      },
    );
    request.on("error", reject);
  });
}
