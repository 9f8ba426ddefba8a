import type { Shard } from "../config/shard.ts";
import { formatConfigError } from "../config/errors.ts";
import { startExporter, type Exporter, type ExporterStart } from "../exporter.ts";
import { createLog, type LogFormat, type LogLevel } from "../support/log.ts";
import type { ListenAddress } from "../web/listen.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeListenError, FLUSH_TIMEOUT_MS, logFatalError } from "./running.ts";

export interface RunOptions {
  readonly configFile: string;
  readonly listenAddresses: readonly ListenAddress[];
  readonly telemetryPath: string;
  /** The prefix of all paths; empty: none. */
  readonly routePrefix: string;
  readonly enableLifecycle: boolean;
  readonly webConfigFile: string | undefined;
  readonly shard: Shard;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Runs the exporter until SIGTERM or SIGINT. */
export async function run(options: RunOptions, io: Io): Promise<ExitCode> {
  const log = createLog(options.logLevel, options.logFormat, io.logFd);
  const { logger } = log;
  io.onFatal(logFatalError(log));
  const deps = { clock: io.clock, logger, droppedLogLines: log.dropped };
  const running: { exporter?: Exporter } = {};
  // Ignores SIGHUP during the start, which reads the configuration anyway.
  io.onReload(() => void running.exporter?.reload());
  const started = await startExporter({ ...options, ...io }, deps);
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
