import type { Shard } from "../config/shard.ts";
import { formatConfigError } from "../config/errors.ts";
import { startExporter, type Exporter, type ExporterStart } from "../exporter.ts";
import { createLog, type LogFormat, type LogLevel } from "../support/log.ts";
import type { ListenAddress } from "../web/listen.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeListenError, FLUSH_TIMEOUT_MS, logLastWords } from "./running.ts";

export interface RunOptions {
  readonly configFile: string;
  readonly listenAddresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  /** In front of every path that is served; empty: none. */
  readonly routePrefix: string;
  readonly enableLifecycle: boolean;
  readonly webConfigFile: string | undefined;
  readonly shard: Shard;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Runs the exporter until it is asked to end. */
export async function run(options: RunOptions, io: Io): Promise<ExitCode> {
  const log = createLog(options.logLevel, options.logFormat, io.logFd);
  const { logger } = log;
  io.onFatal(logLastWords(log));
  const edges = { clock: io.clock, logger, droppedLogLines: log.dropped };
  const running: { exporter?: Exporter } = {};
  // From the beginning: what is asked for before there is anything to reload is done by the start itself.
  io.onReload(() => void running.exporter?.reload());
  const started = await startExporter({ ...options, ...io }, edges);
  if (!started.ok) {
    io.err(describeFailedStart(started));
    return 1;
  }
  running.exporter = started.exporter;
  await io.stopRequested;
  logger.info("stopping");
  await started.exporter.stop();
  await log.flush(FLUSH_TIMEOUT_MS);
  return 0;
}

function describeFailedStart(started: ExporterStart & { ok: false }): string {
  if (started.reason === "config")
    return started.errors.map((error) => `${formatConfigError(error)}\n`).join("");
  return describeListenError(started.address, started.code);
}
