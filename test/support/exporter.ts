import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pino } from "pino";
import { startExporter } from "../../src/exporter/exporter.ts";
import { openHistory } from "../../src/history/timeline/history.ts";
import type { Shard } from "../../src/exporter/config/shard.ts";
import type { Logger } from "../../src/support/log.ts";
import { createLeapingClock } from "./leaping-clock.ts";
import { parseSamples, type Samples } from "./samples.ts";
import { BUILD } from "./build-facts.ts";

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly kind?: string;
  readonly appliance?: string;
  readonly operation?: string;
  readonly reason?: string;
  readonly detail?: string;
  readonly summary?: string;
  readonly errors?: number;
}

/** A logger that keeps the lines of all levels in memory. */
export interface MemoryLog {
  readonly logger: Logger;
  readonly lines: readonly LogLine[];
  /** The whole log as text. */
  text(): string;
}

export function createMemoryLog(): MemoryLog {
  const lines: LogLine[] = [];
  const texts: string[] = [];
  const write = (text: string): void => {
    texts.push(text);
    lines.push(JSON.parse(text));
  };
  const options = {
    level: "debug",
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return { logger: pino(options, { write }), lines, text: () => texts.join("") };
}

/** A configuration as data, and the files next to it. */
export interface Setup {
  readonly config: unknown;
  /** File contents by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The web configuration, as text; it becomes `web.yaml`. */
  readonly web?: string;
  /** Default: all clusters. */
  readonly shard?: Shard;
  /** Default: none. */
  readonly externalUrl?: string;
  /** The folder of its journal, relative to its own; default: it keeps none. */
  readonly journal?: string;
}

/** An exporter in this process, with its own folder. */
export interface ExporterUnderTest {
  /** `http://127.0.0.1:port`, or with https where the web configuration says so. */
  readonly url: string;
  readonly port: number;
  /** Every path that it serves. */
  readonly paths: readonly string[];
  readonly log: MemoryLog;
  readonly folder: string;
  /** Writes a file into its folder. */
  write(name: string, text: string): Promise<void>;
  scrape(headers?: Readonly<Record<string, string>>): Promise<Samples>;
  /** Whether it was valid. */
  reload(): Promise<boolean>;
  /**
   * Advances the exporter's clocks: polls that become due begin within a second. Timers, such as deadlines of polls, are
   * not affected.
   */
  leap(byMs: number): void;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** A new folder with `config.yaml` and the files. */
export async function writeSetup({ config, files = {}, web }: Setup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  // JSON is YAML.
  const text = typeof config === "string" ? config : JSON.stringify(config, undefined, 1);
  const all = { "config.yaml": text, ...(web === undefined ? {} : { "web.yaml": web }), ...files };
  await Promise.all(Object.entries(all).map(([name, content]) => writeFile(join(folder, name), content)));
  return folder;
}

const RETENTION = { retentionMs: 400 * 86_400_000, retentionBytes: 2 ** 30 };

/** Starts an exporter on a free port; fails the test if it does not start. */
export async function startTestExporter({
  watchIntervalMs,
  ...setup
}: Setup & { readonly watchIntervalMs?: number }): Promise<ExporterUnderTest> {
  const folder = await writeSetup(setup);
  const log = createMemoryLog();
  const clock = createLeapingClock();
  const storage =
    setup.journal === undefined ? undefined : { path: resolve(folder, setup.journal), ...RETENTION };
  const [version, { logger }] = ["0.0.0", log];
  const started = await startExporter({
    configFile: join(folder, "config.yaml"),
    listenAddresses: [{ host: "127.0.0.1", port: 0 }],
    telemetryPath: "/metrics",
    enableLifecycle: true,
    enableMaintenance: true,
    webConfigFile: setup.web === undefined ? undefined : join(folder, "web.yaml"),
    ...(watchIntervalMs === undefined ? {} : { watchIntervalMs }),
    ...(setup.externalUrl === undefined ? {} : { externalUrl: setup.externalUrl }),
    ...(setup.shard === undefined ? {} : { shard: setup.shard }),
    openHistory: () => openHistory({ version, storage, clock, logger, shard: setup.shard }),
    version,
    build: BUILD,
    maxLookups: 2,
    maxPasswordReads: 2,
    clock,
    logger,
    droppedLogLines: () => 0,
  });
  if (!started.ok) throw new Error(`no start: ${JSON.stringify(started)}`);
  const { exporter } = started;
  const scheme = setup.web?.includes("tls_server_config") === true ? "https" : "http";
  const url = `${scheme}://${exporter.addresses[0]}`;
  return {
    url,
    port: Number(new URL(url).port),
    paths: exporter.paths,
    log,
    folder,
    write: (name, text) => writeFile(join(folder, name), text),
    scrape: (headers) => scrape(url, headers),
    reload: async () => (await exporter.reload()).ok,
    leap: clock.leap,
    stop: async () => {
      await exporter.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One scrape: 200, valid UTF-8 and a valid exposition. */
export async function scrape(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Samples> {
  // Tests scrape thousands of times: compressing and unpacking would take a quarter of that.
  const response = await fetch(`${url}/metrics`, { headers: { "accept-encoding": "identity", ...headers } });
  if (response.status !== 200) throw new Error(`scrape answered with status ${response.status}`);
  return parseSamples(new TextDecoder("utf-8", { fatal: true }).decode(await response.arrayBuffer()));
}
