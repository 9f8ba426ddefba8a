import { loadApplianceConfig } from "../appliance/config.ts";
import { createApplianceServer } from "../appliance/server.ts";
import { formatConfigError } from "../config/errors.ts";
import { errorCode, describeBug } from "../support/errors.ts";
import { createLog, type LogFormat, type LogLevel } from "../support/log.ts";
import { formatAddress } from "../web/listen.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeListenError, FLUSH_TIMEOUT_MS, logFatalError } from "./running.ts";
import { createVrrpSource } from "./vrrp-source.ts";

export interface ApplianceOptions {
  readonly configFile: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Runs the reference appliance until SIGTERM, SIGINT or SIGHUP. */
export async function appliance(
  { configFile, logLevel, logFormat }: ApplianceOptions,
  io: Io,
): Promise<ExitCode> {
  const loaded = await loadApplianceConfig(configFile);
  if (!loaded.ok) {
    io.err(loaded.errors.map((error) => `${formatConfigError(error)}\n`).join(""));
    return 1;
  }
  const { config } = loaded;
  const log = createLog(logLevel, logFormat, io.logFd);
  const { logger } = log;
  io.onFatal(logFatalError(log));
  const server = createApplianceServer({
    ...config,
    vrrp: createVrrpSource(config.vrrp, io, logger),
    onBug: (error) => logger.error({ detail: describeBug(error) }, "request could not be answered"),
  });
  try {
    logger.info({ address: formatAddress(await server.start()) }, "appliance started");
  } catch (error) {
    io.err(describeListenError(formatAddress(config.listen), errorCode(error)));
    return 1;
  }
  // There is nothing to reload, so SIGHUP means that the terminal was closed.
  await Promise.race([io.stopRequested, new Promise<void>((resolve) => io.onReload(resolve))]);
  await server.stop();
  logger.info("appliance stopped");
  await log.flush(FLUSH_TIMEOUT_MS);
  return 0;
}
